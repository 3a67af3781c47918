//! What we write to: a terminal with a width and colours, or a file or pipe with neither.

use console::{Style, Term};
use std::io::{IsTerminal, stderr, stdin, stdout};

/// Where output goes.
#[derive(Debug, Clone)]
pub(crate) struct Terminal {
    interactive: bool,
}

impl Terminal {
    /// Standard output.
    pub(crate) fn of_output() -> Self {
        Self { interactive: stdout().is_terminal() }
    }

    /// Whether a person is looking.
    pub(crate) fn is_interactive(&self) -> bool {
        self.interactive
    }

    /// Columns of text, as of now; `None` where lines can be of any length.
    pub(crate) fn width(&self) -> Option<usize> {
        self.interactive.then(|| Term::stdout().size().1.into())
    }
}

/// Whether a person can type statements and see the answers.
pub(crate) fn is_conversation() -> bool {
    stdin().is_terminal() && stdout().is_terminal()
}

/// Whether a person can be asked something beside the answers.
pub(crate) fn can_ask() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

/// Whether a person sees messages and progress.
pub(crate) fn shows_progress() -> bool {
    stderr().is_terminal()
}

/// Text that matters less. No colour where output is no terminal or the user wants none.
pub(crate) fn faint(text: &str) -> String {
    Style::new().dim().apply_to(text).to_string()
}

/// Text that matters more.
pub(crate) fn strong(text: &str) -> String {
    Style::new().bold().apply_to(text).to_string()
}

/// The first word of an error, on standard error.
pub(crate) fn alarm(text: &str) -> String {
    Style::new().for_stderr().red().bold().apply_to(text).to_string()
}
