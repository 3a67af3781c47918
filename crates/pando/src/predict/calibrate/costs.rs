//! The measured cost coefficients, by their names in a file of coefficients.

use dbsim::plan::Planning;
use dbsim::{Cost, Windows};

/// The greatest part of rows that a predicate keeps while it still drops some.
pub(super) const MOST: f64 = 0.95;

/// Measured coefficients, by their names in the file.
#[derive(Default)]
pub(super) struct Costs {
    /// Cycles a tuple and a byte.
    pub(super) costs: Vec<(&'static str, Cost)>,
    /// Cycles.
    pub(super) cycles: Vec<(&'static str, f64)>,
    /// Curves. Each point is a number of rows, or a part of the rows, followed by cycles.
    pub(super) curves: Vec<(&'static str, Vec<Vec<f64>>)>,
    /// Cycles of window functions.
    pub(super) windows: Windows,
    /// Cycles of planning.
    pub(super) planning: Planning,
}
