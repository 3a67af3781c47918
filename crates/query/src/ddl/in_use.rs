//! Relations that the session itself reads: with an open cursor, whose rows would go while it stands on them. The names in
//! its query mean what they mean now, not what they meant when it was opened.

use crate::context::Frame;
use catalog_views::relation_names::find_in;
use catalog_views::search_path::SearchPath;
use catalog_views::session_context::{Entry, Kind, SessionContext};
use grammar::tree::NodeEnum;
use std::sync::atomic::Ordering;
use store::catalog::{Catalog, Relation};
use values::error::{Error, Result, SqlState};

/// Refuses a statement that takes rows or columns of a relation away, while the session has a cursor on it.
///
/// # Errors
/// 55006.
pub(super) fn refuse_in_use(
    frame: &Frame<'_>,
    catalog: &Catalog,
    relation: &Relation,
    statement: &str,
) -> Result<()> {
    let is_on_it = |entry: &Entry| {
        let is_open = match &entry.kind {
            Kind::Cursor { is_committed, .. } => !is_committed.load(Ordering::Relaxed),
            Kind::Prepared { .. } => false,
        };
        is_open && reads(catalog, frame.path(), &entry.statement, relation)
    };
    if frame.session.context.named_entries().iter().any(|entry| is_on_it(entry)) {
        let name = relation.name();
        let message = format!(
            "cannot {statement} \"{name}\" because it is being used by active queries in this session"
        );
        return Err(Error::new(SqlState::ObjectInUse, message));
    }
    Ok(())
}

/// Whether a query, or a cursor of one, reads a relation, also through views.
fn reads(catalog: &Catalog, path: SearchPath<'_>, text: &str, relation: &Relation) -> bool {
    let Ok(script) = grammar::parse(text) else { return false };
    let query = script.statements().first().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
    let is_query =
        |node: &&NodeEnum| matches!(node, NodeEnum::SelectStmt(_) | NodeEnum::DeclareCursorStmt(_));
    let names = query.filter(is_query).map(grammar::relations).unwrap_or_default();
    names.iter().any(|(schema, name)| match find_in(catalog, path, schema.as_deref(), name) {
        Some(Relation::View(view)) => {
            reads(catalog, path.of_view(&view.search_path), &view.sql, relation)
        }
        Some(found) => found.id() == relation.id(),
        None => false,
    })
}
