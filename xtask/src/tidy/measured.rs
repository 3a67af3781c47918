//! What the length checks measure.

/// Something with a length and a limit.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    /// What it is, as the list of exceptions names it.
    pub(super) what: String,
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) lines: usize,
    pub(super) lines_max: usize,
}
