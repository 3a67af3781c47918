//! Standard output and error: whether they are terminals, width, and colours.

use console::{Style, Term};
use std::io::{IsTerminal, stderr, stdin, stdout};

/// The destination of output.
#[derive(Debug, Clone)]
pub struct Terminal {
    interactive: bool,
}

impl Terminal {
    /// Standard output.
    pub fn of_output() -> Self {
        Self { interactive: stdout().is_terminal() }
    }

    /// Whether it is a terminal.
    pub fn is_interactive(&self) -> bool {
        self.interactive
    }

    /// Current width in columns; `None` if it is not a terminal.
    pub fn width(&self) -> Option<usize> {
        self.interactive.then(|| Term::stdout().size().1.into())
    }
}

/// Whether standard input and output are terminals.
pub fn is_conversation() -> bool {
    stdin().is_terminal() && stdout().is_terminal()
}

/// Whether the user can be prompted: standard input and error are terminals.
pub fn can_ask() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

/// Whether progress is shown: standard error is a terminal.
pub fn shows_progress() -> bool {
    stderr().is_terminal()
}

/// Dim text. Without style if standard output is not a terminal or colours are disabled.
pub fn faint(text: &str) -> String {
    Style::new().dim().apply_to(text).to_string()
}

/// Bold text.
pub fn strong(text: &str) -> String {
    Style::new().bold().apply_to(text).to_string()
}

/// Bold red text on standard error, for the label of an error.
pub fn alarm(text: &str) -> String {
    Style::new().for_stderr().red().bold().apply_to(text).to_string()
}
