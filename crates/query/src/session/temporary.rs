//! Whether a statement writes to temporary tables only.

use crate::analysis::targets;
use crate::context::Frame;
use store::catalog::Catalog;

/// Whether the statement of a frame changes rows of temporary tables only. Read-only transactions allow that.
pub(super) fn is_target(frame: &Frame<'_>, catalog: &Catalog) -> bool {
    let Some(node) = frame.statement.and_then(|statement| statement.change()) else { return false };
    targets::of(node).iter().all(|(range, _)| targets::is_temporary(frame, catalog, range))
}
