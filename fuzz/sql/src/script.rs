//! Scripts: statements with how they are sent, and their form in files.
//!
//! In a file, a statement ends with `;` at the end of a line. A comment line before it says how it is sent, if not as a
//! simple query: `-- extended binary rows=5 cancel=20`. Other comment lines are for readers.

use crate::tree::Node;
use std::fmt;

/// How a statement is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    /// As a Query.
    #[default]
    Simple,
    /// With Parse, Bind, Describe, and Execute until its portal has no more rows.
    Extended {
        /// Whether results are asked for in binary.
        binary: bool,
        /// The rows that one Execute asks for; 0 is all.
        rows: u32,
    },
}

/// A statement of a script.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// What it is, for the counts.
    pub(crate) label: &'static str,
    pub(crate) mode: Mode,
    /// After how many milliseconds a cancel request is sent.
    pub(crate) cancel: Option<u64>,
    pub(crate) node: Node,
}

impl Step {
    /// A statement that is sent as a simple query.
    pub(crate) fn simple(label: &'static str, node: Node) -> Self {
        Self { label, mode: Mode::Simple, cancel: None, node }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut how = String::new();
        if let Mode::Extended { binary, rows } = self.mode {
            how += if binary { " extended binary" } else { " extended" };
            how += &if rows > 0 { format!(" rows={rows}") } else { String::new() };
        }
        if let Some(cancel) = self.cancel {
            how += &format!(" cancel={cancel}");
        }
        if !how.is_empty() {
            writeln!(f, "--{how}")?;
        }
        writeln!(f, "{};", self.node)
    }
}

/// The text of a script.
pub(crate) fn print(steps: &[Step]) -> String {
    steps.iter().map(Step::to_string).collect()
}

/// The script of a text.
pub(crate) fn parse(text: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for chunk in format!("{text}\n").split(";\n") {
        let mut step = Step::simple("replayed", Node::nothing());
        let mut rest = chunk.trim_start();
        while let Some(comment) = rest.strip_prefix("--") {
            let (comment, after) = comment.split_once('\n').unwrap_or((comment, ""));
            sent(&mut step, comment);
            rest = after.trim_start();
        }
        if !rest.trim().is_empty() {
            step.node = Node::tokens(rest);
            steps.push(step);
        }
    }
    steps
}

/// Reads how a statement is sent.
fn sent(step: &mut Step, comment: &str) {
    let words: Vec<&str> = comment.split_whitespace().collect();
    let value = |name: &str| words.iter().find_map(|word| word.strip_prefix(name)?.parse().ok());
    match words.first() {
        Some(&"extended") => {
            let binary = words.contains(&"binary");
            let rows = value("rows=").and_then(|rows| u32::try_from(rows).ok()).unwrap_or(0);
            step.mode = Mode::Extended { binary, rows };
        }
        Some(word) if word.starts_with("cancel=") => {}
        _ => return,
    }
    step.cancel = value("cancel=");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_script_is_read_as_it_was() {
        let text = "SELECT 'a;b';\n-- extended binary rows=5 cancel=20\nSELECT 1;\n\
                    -- cancel=7\nSELECT 2;\n-- extended\nSELECT 3;\n";
        let steps = parse(&format!("-- a comment\n{text}"));
        assert_eq!(steps.len(), 4);
        assert_eq!(print(&steps), text);
    }
}
