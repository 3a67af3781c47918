//! Whether a statement writes to a temporary table only.

use crate::context::Frame;
use catalog_views::relation_names::find_in;
use grammar::tree::{NodeEnum, RangeVar};
use parser::Statement;
use store::catalog::{Catalog, Relation};

/// Whether a statement changes rows of a temporary table only. Read-only transactions allow that.
pub(super) fn is_target(frame: &Frame<'_>, catalog: &Catalog, statement: &Statement) -> bool {
    let found = target(statement).and_then(|range| {
        let schema = Some(range.schemaname.as_str()).filter(|schema| !schema.is_empty());
        find_in(catalog, frame.path(), schema, &range.relname)
    });
    found.is_some_and(Relation::is_temporary)
}

/// The table that an INSERT, UPDATE or DELETE writes to.
fn target(statement: &Statement) -> Option<&RangeVar> {
    match statement.change()? {
        NodeEnum::InsertStmt(insert) => insert.relation.as_ref(),
        NodeEnum::UpdateStmt(update) => update.relation.as_ref(),
        NodeEnum::DeleteStmt(delete) => delete.relation.as_ref(),
        _ => None,
    }
}
