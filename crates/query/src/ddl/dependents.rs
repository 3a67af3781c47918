//! Views, also materialized ones, that depend on a relation or a column.
//!
//! Views are stored as text, so dependencies are computed on demand: relations from the names in
//! the text, columns from the typed tree of the query.

use crate::analysis::{calls, reads_column};
use crate::context::Frame;
use catalog_views::relation_names::find_named;
use parser::commands::RelationName;
use renaming::{may_call, mentions};
use std::collections::BTreeSet;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    Catalog, CatalogChange, ForeignKey, Function, Relation, RelationId, Table, TableId, UserType,
    View,
};
use user_types::Visible;
use values::error::{Error, Result, SqlState};

/// The error for what is dropped without CASCADE while something depends on it.
pub(super) fn needed(what: &str, detail: String) -> Error {
    let message = format!("cannot drop {what} because other objects depend on it");
    Error::new(SqlState::DependentObjectsStillExist, message)
        .with_detail(detail)
        .with_hint("Use DROP ... CASCADE to drop the dependent objects too.")
}

/// Things in an order in which what depends on others comes before them. `depends` is whether the first depends on the second.
pub(super) fn ordered<T>(mut rest: Vec<T>, depends: impl Fn(&T, &T) -> bool) -> Vec<T> {
    let mut ordered = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let needs = |other: &T, one: &T| !std::ptr::eq(other, one) && depends(other, one);
        let free = rest.iter().position(|one| !rest.iter().any(|other| needs(other, one)));
        ordered.push(rest.remove(free.unwrap_or(0)));
    }
    ordered
}

/// The views that read a relation.
pub(super) fn of_relation(frame: &Frame<'_>, catalog: &Catalog, id: RelationId) -> Vec<Arc<View>> {
    let others = all(catalog).filter(|view| view.id != id);
    let reads = |view: &Arc<View>| {
        mentions(catalog, frame.path().of_view(&view.search_path), &view.sql, id)
    };
    others.filter(reads).collect()
}

/// The relations that names in the query of a view mean, which commits look at.
pub(super) fn reads(
    frame: &Frame<'_>,
    catalog: &Catalog,
    names: &[RelationName],
) -> Vec<RelationId> {
    let found = names.iter().filter_map(|name| find_named(catalog, frame.path(), name).ok()?);
    let all: BTreeSet<RelationId> = found.map(Relation::id).collect();
    all.into_iter().collect()
}

/// The definitions of all views and materialized views.
fn all(catalog: &Catalog) -> impl Iterator<Item = Arc<View>> {
    catalog.relations().filter_map(|relation| match relation {
        Relation::View(view) => Some(Arc::clone(view)),
        Relation::Table(table) => table.as_view().map(Arc::new),
        Relation::Sequence(_) | Relation::Index(_) => None,
    })
}

/// What a view is in messages: `view` or `materialized view`.
fn kind(catalog: &Catalog, view: &View) -> &'static str {
    catalog.relation_by_id(view.id).map_or("view", Relation::kind)
}

/// The views that call a function: their texts have its name, and the analyzer chooses it. A view that cannot be bound is
/// one of them for the name alone.
pub(super) fn of_function(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    function: &Function,
) -> Vec<Arc<View>> {
    let planner = frame.planner(transaction);
    let is_called = |view: &Arc<View>| {
        calls::of_view(&planner, view).is_none_or(|called| called.contains(&function.id))
    };
    let may_mean =
        |view: &Arc<View>| may_call(frame.path().of_view(&view.search_path), &view.sql, function);
    all(transaction.catalog()).filter(may_mean).filter(is_called).collect()
}

/// With CASCADE, drops the views whose texts name a type.
///
/// # Errors
/// 2BP01 if there are some, without CASCADE.
pub(super) fn drop_of_type(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    user: &UserType,
    cascade: bool,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let of_type = |view: &Arc<View>| {
        let path = frame.path().of_view(&view.search_path);
        let types = Visible::new(&catalog, path.schemas());
        let names = grammar::types(&view.sql).into_iter();
        let mut found = names.filter_map(|(schema, name)| types.find(schema.as_deref(), &name));
        found.any(|(found, _)| found.id == user.id)
    };
    let name = &user.name;
    for view in all(&catalog).filter(of_type).collect::<Vec<_>>() {
        if !cascade {
            let detail = format!("view {} depends on type {name}", view.name);
            return Err(needed(&format!("type {name}"), detail));
        }
        drop_view(frame, transaction, view)?;
    }
    Ok(())
}

/// With CASCADE, drops the views that depend on a relation, directly or indirectly.
///
/// # Errors
/// 2BP01 if there are dependent views without CASCADE.
pub(super) fn drop_views(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    relation: &Relation,
    cascade: bool,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    for view in of_relation(frame, &catalog, relation.id()) {
        let (kind, name) = (relation.kind(), relation.name());
        if !cascade {
            let view = format!("{} {}", self::kind(&catalog, &view), view.name);
            let detail = format!("{view} depends on {kind} {name}");
            return Err(needed(&format!("{kind} {name}"), detail));
        }
        drop_view(frame, transaction, view)?;
    }
    Ok(())
}

/// With CASCADE, drops the views whose GROUP BY leaves out columns, which the primary key of a table allowed. `key` is that
/// key, which is dropped.
///
/// # Errors
/// 2BP01 if there are some, without CASCADE.
pub(super) async fn drop_grouped(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: RelationId,
    key: &str,
    cascade: bool,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    for view in of_relation(frame, &catalog, table) {
        let plan = frame.planner(transaction).view_plan(&view).await;
        match plan {
            Err(error) if error.state() == SqlState::GroupingError => {}
            // A constant has no value.
            Err(error) if error.state().code().starts_with("22") => continue,
            plan => {
                if_bound(plan)?;
                continue;
            }
        }
        if !cascade {
            let view = format!("{} {}", kind(&catalog, &view), view.name);
            return Err(needed(key, format!("{view} depends on {key}")));
        }
        drop_view(frame, transaction, view)?;
    }
    Ok(())
}

/// Drops a view that depends on what is dropped, and the views that depend on it.
pub(super) fn drop_view(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    view: Arc<View>,
) -> Result<()> {
    if let Some(view) = transaction.catalog().relation_by_id(view.id).cloned() {
        drop_views(frame, transaction, &view, true)?;
        let message = format!("drop cascades to {} {}", view.kind(), view.name());
        frame.session.notice(SqlState::SuccessfulCompletion, message);
        let catalog = Arc::clone(transaction.catalog());
        drop_with_owned(transaction, &catalog, &view)?;
    }
    Ok(())
}

/// Drops a relation, the sequences that its columns own, and its indexes.
pub(super) fn drop_with_owned(
    transaction: &mut DistributedTransaction,
    catalog: &Catalog,
    relation: &Relation,
) -> Result<()> {
    let owner = TableId(relation.id().0);
    for other in catalog.relations() {
        if let Relation::Sequence(sequence) = other
            && sequence.owned_by.is_some_and(|(table, _)| table == owner)
        {
            transaction.change_catalog(CatalogChange::Drop(sequence.id))?;
        }
    }
    let others = |of: &Table, _: &ForeignKey| of.id != owner;
    integrity::refuse_dependents(transaction, owner, ("", ""), true, others)?;
    for index in catalog.indexes_of(owner) {
        transaction.change_catalog(CatalogChange::Drop(index.file.id.relation()))?;
    }
    transaction.change_catalog(CatalogChange::Drop(relation.id()))?;
    Ok(())
}

/// With CASCADE, drops the views that use a column, and those that depend on them.
///
/// # Errors
/// 2BP01 if there are some, without CASCADE.
pub(super) async fn drop_of_column(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    (table, column): (&Table, &str),
    cascade: bool,
) -> Result<()> {
    while let Some(view) = of_column(frame, transaction, table, column).await? {
        if !cascade {
            let what = format!("column {column} of table {}", table.name);
            let view = format!("{} {}", kind(transaction.catalog(), &view), view.name);
            let error = needed(&what, format!("{view} depends on {what}"));
            return Err(error.with_hint("Drop the view first."));
        }
        drop_view(frame, transaction, view)?;
    }
    Ok(())
}

/// Rejects a new type for a column that a view uses.
///
/// # Errors
/// 0A000.
pub(super) async fn refuse_type(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &Table,
    column: &str,
) -> Result<()> {
    let Some(view) = of_column(frame, transaction, table, column).await? else { return Ok(()) };
    Err(Error::unsupported("cannot alter type of a column used by a view or rule")
        .with_detail(format!(
            "rule _RETURN on {} {} depends on column \"{column}\"",
            kind(transaction.catalog(), &view),
            view.name
        ))
        .with_hint("Drop the view first, and create it again after the change."))
}

/// The first view that uses a column.
pub(super) async fn of_column(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &Table,
    column: &str,
) -> Result<Option<Arc<View>>> {
    let catalog = transaction.catalog();
    for view in of_relation(frame, catalog, table.id.relation()) {
        let planner = frame.planner(transaction);
        if if_bound(reads_column(&planner, &view, (table, column)).await)?.unwrap_or(false) {
            return Ok(Some(view));
        }
    }
    Ok(None)
}

/// What was found in the text of a view. `None` if the text does not bind any more: such a view depends on nothing.
///
/// # Errors
/// What is not wrong with the text, such as a cancelled statement.
fn if_bound<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.state().code().starts_with("42") => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_that_do_not_bind_depend_on_nothing() {
        let bound = |state| if_bound::<bool>(Err(Error::new(state, "")));
        assert!(matches!(if_bound(Ok(true)), Ok(Some(true))));
        assert!(matches!(bound(SqlState::UndefinedTable), Ok(None)));
        assert!(matches!(bound(SqlState::GroupingError), Ok(None)));
        for state in [SqlState::QueryCanceled, SqlState::OutOfMemory, SqlState::IoError] {
            let error = bound(state).expect_err("passed on");
            assert_eq!(error.state(), state);
        }
    }
}
