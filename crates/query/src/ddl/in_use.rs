//! Relations that the session itself uses: an open cursor or a query that runs reads them, a trigger of theirs runs, or checks of
//! their rows wait for the end of the transaction. What has been read is not taken away, and what waits is not forgotten.

use crate::context::Frame;
use catalog_views::relation_names::find_in;
use catalog_views::search_path::SearchPath;
use catalog_views::session_context::{Entry, Kind, SessionContext};
use grammar::tree::NodeEnum;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store::DistributedTransaction;
use store::catalog::{Catalog, Relation, Table};
use values::error::{Error, Result, SqlState};

/// Refuses a statement that takes rows or columns of a relation away, while the session uses it.
///
/// # Errors
/// 55006.
pub(super) fn refuse_in_use(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    relation: &Relation,
    statement: &str,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let reason = if is_read(frame, &catalog, relation) {
        "it is being used by active queries in this session"
    } else if has_pending_events(frame, transaction, &catalog, relation) {
        "it has pending trigger events"
    } else {
        return Ok(());
    };
    let message = format!("cannot {statement} \"{}\" because {reason}", relation.name());
    Err(Error::new(SqlState::ObjectInUse, message))
}

/// Whether a cursor, or something that runs around the statement, is on a relation.
fn is_read(frame: &Frame<'_>, catalog: &Catalog, relation: &Relation) -> bool {
    let context = &frame.session.context;
    let is_on_it = |search_path: &[String], query: &str| {
        reads(catalog, frame.path().of_view(search_path), query, relation)
    };
    let is_open = |entry: &Entry| match &entry.kind {
        Kind::Cursor { is_committed, .. } => !is_committed.load(Ordering::Relaxed),
        Kind::Prepared { .. } => false,
    };
    let (cursors, running) = (context.named_entries(), context.held.running.queries());
    cursors.iter().any(|entry| is_open(entry) && is_on_it(&entry.search_path, &entry.statement))
        || running.iter().any(|query| is_on_it(&query.search_path, &query.text))
        || table_of(relation).is_some_and(|table| context.held.running.is_firing(table.id))
}

/// Whether constraint triggers of a table, or checks of its foreign keys, wait.
fn has_pending_events(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    catalog: &Catalog,
    relation: &Relation,
) -> bool {
    let Some(table) = table_of(relation) else { return false };
    let refers_to = |referring, constraint: &str| {
        let referring: Option<&Arc<Table>> = catalog.table_by_id(referring);
        let mut keys = referring.into_iter().flat_map(|table| &table.foreign_keys);
        keys.any(|key| key.name == constraint && key.references == table.id)
    };
    frame.session.context.held.waits(table.id)
        || transaction.row_changes().has_pending(table.id, refers_to)
}

fn table_of(relation: &Relation) -> Option<&Table> {
    match relation {
        Relation::Table(table) => Some(table),
        _ => None,
    }
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
