//! An error as a person reads it: what, where in the statement, why, and what to do.
//!
//! ```text
//! ERROR 42P01: table "prson" does not exist
//! LINE 1: select * from prson
//!                       ^
//! HINT: Perhaps you meant "person".
//! ```

use crate::output::{cut, harmless, text_width};
use crate::terminal::alarm;
use crate::trouble::SqlError;
use std::fmt::Write;

/// Characters of the line that are shown at most, where no terminal says how wide it is.
const EXCERPT_MAX: usize = 200;
/// Characters before the trouble that are shown in any case.
const LEAD: usize = 30;

/// Where a statement came from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'a> {
    /// The script's name, where it has one.
    pub(super) script: Option<&'a str>,
    /// The text that was being run.
    pub(super) text: &'a str,
    /// The line of the script on which that begins.
    pub(super) line: usize,
}

/// A place: the line and the character in it, both from 0.
struct Place<'a> {
    line: usize,
    column: usize,
    text: &'a str,
}

/// The report, ending with a line break. The error's position counts in the origin's text.
pub(super) fn render(trouble: &SqlError, origin: Origin<'_>, screen: Option<usize>) -> String {
    let place = trouble.position.and_then(|position| find(origin.text, position));
    let mut out = String::new();
    if let Some(script) = origin.script {
        let line = origin.line + place.as_ref().map_or(0, |place| place.line);
        push(&mut out, format_args!("{script}:{line}: "));
    }
    let label = alarm(&format!("{}:", tame(&trouble.label())));
    push(&mut out, format_args!("{label} {}\n", tame(&trouble.message)));
    if let Some(place) = place {
        let number = origin.line + place.line;
        excerpt(&place, number, screen.unwrap_or(EXCERPT_MAX), &mut out);
    }
    for (label, text) in trouble.parts() {
        push(&mut out, format_args!("{label}: {}\n", tame(text)));
    }
    out
}

fn find(text: &str, position: usize) -> Option<Place<'_>> {
    let at =
        text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(position.checked_sub(1)?)?;
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    let line = text[..start].matches('\n').count();
    let column = text[start..at].chars().count();
    Some(Place { line, column, text: text[start..end].trim_end() })
}

/// The line, cut to what is around the place, and a caret below.
fn excerpt(place: &Place<'_>, number: usize, screen: usize, out: &mut String) {
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

/// Messages quote what users wrote; line breaks stay.
fn tame(text: &str) -> String {
    text.lines().map(harmless).collect::<Vec<_>>().join("\n")
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a String takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(text: &str, position: usize, line: usize, script: Option<&str>) -> String {
        let trouble = SqlError::new("42P01", "no such table");
        let trouble = SqlError { position: Some(position), ..trouble };
        let report = render(&trouble, Origin { script, text, line }, Some(60));
        console::strip_ansi_codes(&report).into_owned()
    }

    #[test]
    fn a_caret_stands_under_the_error() {
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
    fn a_long_line_is_cut_around_the_error() {
        let text = format!("select {} oops {}", "a, ".repeat(100), "b, ".repeat(100));
        let position = text.find("oops").expect("is there") + 1;
        let report = report(&text, position, 1, None);
        let [_, line, caret] = report.lines().collect::<Vec<_>>()[..] else { panic!("{report}") };
        assert!(text_width(line) <= 60, "{report}");
        let column = text_width(caret) - 1;
        assert_eq!(line.chars().skip(column).take(4).collect::<String>(), "oops", "{report}");
    }

    #[test]
    fn an_error_at_the_end_points_behind_the_last_character() {
        let expected = "ERROR 42P01: no such table\nLINE 1: select\n              ^\n";
        assert_eq!(report("select", 7, 1, None), expected);
        assert!(!report("select", 99, 1, None).contains("LINE"));
    }

    #[test]
    fn detail_and_hint_follow() {
        let trouble = SqlError::new("23505", "exists")
            .with_detail("Key (id)=(1).")
            .with_hint("Use ON CONFLICT.");
        let origin = Origin { script: None, text: "insert", line: 1 };
        let report = render(&trouble, origin, None);
        let report = console::strip_ansi_codes(&report);
        assert_eq!(report, "ERROR 23505: exists\nDETAIL: Key (id)=(1).\nHINT: Use ON CONFLICT.\n");
    }
}
