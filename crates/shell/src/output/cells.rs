//! Cells on a terminal: lines without control characters, truncated and padded to a width.
//!
//! Widths are in columns: wide characters have two, combining ones none.

use super::Align;
use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text for NULL.
pub(crate) const NULL: &str = "NULL";
const CUT: char = '…';

/// The width of a text in columns.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The lines of a cell, without control characters.
pub(crate) fn lines(cell: &str) -> impl Iterator<Item = Cow<'_, str>> {
    cell.split('\n').map(|line| harmless(line.strip_suffix('\r').unwrap_or(line)))
}

/// Escapes control characters, so that data cannot control the terminal.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\t' => out.push_str("    "),
            c if c.is_control() => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Pads or truncates a text to a width.
pub(crate) fn fit(text: &str, columns: usize, align: Align) -> String {
    let natural = width(text);
    if natural > columns {
        return cut(text, columns);
    }
    let blanks = " ".repeat(columns - natural);
    match align {
        Align::Left => format!("{text}{blanks}"),
        Align::Right => format!("{blanks}{text}"),
    }
}

/// Truncates a text to exactly `columns` columns, with an ellipsis.
pub fn cut(text: &str, columns: usize) -> String {
    if columns == 0 {
        return String::new();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = UnicodeWidthChar::width(c).unwrap_or(0);
        if used + wide > columns - 1 {
            break;
        }
        out.push(c);
        used += wide;
    }
    out.push(CUT);
    out.push_str(&" ".repeat(columns - 1 - used));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_padded_or_truncated() {
        assert_eq!(fit("ab", 4, Align::Left), "ab  ");
        assert_eq!(fit("ab", 4, Align::Right), "  ab");
        assert_eq!(fit("abcdef", 4, Align::Right), "abc…");
        assert_eq!(fit("日本語", 6, Align::Left), "日本語");
        assert_eq!(fit("日本語", 5, Align::Left), "日本…");
        assert_eq!(fit("日本語", 4, Align::Left), "日… ");
    }

    #[test]
    fn control_characters_are_escaped() {
        let shown: Vec<_> = lines("a\tb\r\n\u{1b}[2J").collect();
        assert_eq!(shown, ["a    b", "\\u{1b}[2J"]);
    }
}
