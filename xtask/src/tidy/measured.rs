//! The measurements of the length checks.

/// A file or function with its length and limit.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    /// The name in the list of exceptions.
    pub(super) what: String,
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) lines: usize,
    pub(super) lines_max: usize,
}
