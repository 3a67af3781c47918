//! Why a text cannot be parsed.

/// A text that is not in the grammar, or an error of the parser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// PostgreSQL's message.
    pub message: String,
    /// The character of the script that it is about, from 1.
    pub position: Option<usize>,
}

impl SyntaxError {
    /// The error for a text that nests too deep.
    pub(crate) fn depth() -> Self {
        Self { message: "stack depth limit exceeded".to_owned(), position: None }
    }

    /// Whether the text nests too deep.
    pub fn is_depth(&self) -> bool {
        self.message.starts_with("stack depth limit")
            || self.message.starts_with("parse tree is nested too deeply")
    }
}
