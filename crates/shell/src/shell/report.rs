//! Formats an error: label, message, position in the statement, detail and hint.
//!
//! ```text
//! ERROR 42P01: table "prson" does not exist
//! LINE 1: select * from prson
//!                       ^
//! HINT: Perhaps you meant "person".
//! ```

use crate::error::SqlError;
use crate::output::{cut, harmless, text_width};
use crate::terminal::alarm;
use std::fmt::Write;

/// Maximum width of the excerpt if there is no terminal.
const EXCERPT_MAX: usize = 200;
/// Characters before the error position that are always shown.
const LEAD: usize = 30;

/// The origin of a statement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'a> {
    /// Name of the script, if it has one.
    pub(super) script: Option<&'a str>,
    /// Text of the statement.
    pub(super) text: &'a str,
    /// The line of the script on which it begins.
    pub(super) line: usize,
}

/// A position: the line and the character in it, both from 0.
struct Position<'a> {
    line: usize,
    column: usize,
    text: &'a str,
}

/// The report, with a line break at the end. The error's position refers to the origin's text.
pub(super) fn render(error: &SqlError, origin: Origin<'_>, screen: Option<usize>) -> String {
    let place = error.position.and_then(|position| find(origin.text, position));
    let mut out = String::new();
    if let Some(script) = origin.script {
        let line = origin.line + place.as_ref().map_or(0, |place| place.line);
        push(&mut out, format_args!("{script}:{line}: "));
    }
    let label = alarm(&format!("{}:", escape(&error.label())));
    push(&mut out, format_args!("{label} {}\n", escape(&error.message)));
    if let Some(place) = place {
        let number = origin.line + place.line;
        excerpt(&place, number, screen.unwrap_or(EXCERPT_MAX), &mut out);
    }
    for (label, text) in error.parts() {
        push(&mut out, format_args!("{label}: {}\n", escape(text)));
    }
    out
}

fn find(text: &str, position: usize) -> Option<Position<'_>> {
    let at =
        text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(position.checked_sub(1)?)?;
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    let line = text[..start].matches('\n').count();
    let column = text[start..at].chars().count();
    Some(Position { line, column, text: text[start..end].trim_end() })
}

/// Writes the part of the line around the position, with a caret below.
fn excerpt(place: &Position<'_>, number: usize, screen: usize, out: &mut String) {
    let label = format!("LINE {number}: ");
    let room = screen.saturating_sub(text_width(&label)).max(LEAD + 10);
    let before: String = place.text.chars().take(place.column).collect();
    let fits = text_width(&before) < room;
    let skipped = if fits { 0 } else { place.column.saturating_sub(LEAD) };
    let mark = if skipped > 0 { "…" } else { "" };
    let rest: String = place.text.chars().skip(skipped).collect();
    let shown = format!("{mark}{}", harmless(&rest));
    let shown = if text_width(&shown) > room { cut(&shown, room) } else { shown };
    let lead: String = place.text.chars().skip(skipped).take(place.column - skipped).collect();
    let indent = text_width(&label) + text_width(mark) + text_width(&harmless(&lead));
    push(out, format_args!("{label}{}\n{}{}\n", shown.trim_end(), " ".repeat(indent), alarm("^")));
}

/// Escapes control characters in a message, except line breaks.
fn escape(text: &str) -> String {
    text.lines().map(harmless).collect::<Vec<_>>().join("\n")
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a String never fails");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(text: &str, position: usize, line: usize, script: Option<&str>) -> String {
        let error = SqlError::new("42P01", "no such table");
        let error = SqlError { position: Some(position), ..error };
        let report = render(&error, Origin { script, text, line }, Some(60));
        console::strip_ansi_codes(&report).into_owned()
    }

    #[test]
    fn a_caret_marks_the_error() {
        let expected =
            "ERROR 42P01: no such table\nLINE 1: select * from prson\n                      ^\n";
        assert_eq!(report("select * from prson", 15, 1, None), expected);
    }

    #[test]
    fn lines_count_in_the_script() {
        let expected =
            "a.sql:8: ERROR 42P01: no such table\nLINE 8:  from prson\n              ^\n";
        assert_eq!(report("select *\n from prson\n where true", 16, 7, Some("a.sql")), expected);
    }

    #[test]
    fn wide_characters_and_tabs_move_the_caret() {
        let expected = "ERROR 42P01: no such table\nLINE 1: 日本\u{20}\u{20}\u{20}\u{20}x\n                ^\n";
        assert_eq!(report("日本\tx", 4, 1, None), expected);
    }

    #[test]
    fn a_long_line_is_truncated_around_the_error() {
        let text = format!("select {} oops {}", "a, ".repeat(100), "b, ".repeat(100));
        let position = text.find("oops").expect("is there") + 1;
        let report = report(&text, position, 1, None);
        let [_, line, caret] = report.lines().collect::<Vec<_>>()[..] else { panic!("{report}") };
        assert!(text_width(line) <= 60, "{report}");
        let column = text_width(caret) - 1;
        assert_eq!(line.chars().skip(column).take(4).collect::<String>(), "oops", "{report}");
    }

    #[test]
    fn an_error_at_the_end_points_after_the_last_character() {
        let expected = "ERROR 42P01: no such table\nLINE 1: select\n              ^\n";
        assert_eq!(report("select", 7, 1, None), expected);
        assert!(!report("select", 99, 1, None).contains("LINE"));
    }

    #[test]
    fn detail_and_hint_follow() {
        let error = SqlError::new("23505", "exists")
            .with_detail("Key (id)=(1).")
            .with_hint("Use ON CONFLICT.");
        let origin = Origin { script: None, text: "insert", line: 1 };
        let report = render(&error, origin, None);
        let report = console::strip_ansi_codes(&report);
        assert_eq!(report, "ERROR 23505: exists\nDETAIL: Key (id)=(1).\nHINT: Use ON CONFLICT.\n");
    }
}
