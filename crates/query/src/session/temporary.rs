//! Whether a statement writes to temporary tables only.

use crate::analysis::targets;
use crate::context::Frame;
use catalog_views::relation_names::find_in;
use store::catalog::{Catalog, Relation};

/// Whether the statement of a frame changes rows of temporary tables only. Read-only transactions allow that.
pub(super) fn is_target(frame: &Frame<'_>, catalog: &Catalog) -> bool {
    let Some(node) = frame.statement.and_then(|statement| statement.change()) else { return false };
    targets::of(node).iter().all(|(range, _)| {
        let schema = Some(range.schemaname.as_str()).filter(|schema| !schema.is_empty());
        let found = find_in(catalog, frame.path(), schema, &range.relname);
        found.is_some_and(Relation::is_temporary)
    })
}
