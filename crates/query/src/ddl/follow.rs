//! Definitions that follow what has another name. They are kept as texts ([`renaming`]).

use super::sql_procedure;
use crate::analysis::{calls, columns_of};
use crate::context::Frame;
use analyzer::RowExpression;
use analyzer::system::{Oid, SqlType};
use renaming::{Caller, Renaming, refused};
use std::collections::BTreeSet;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Catalog, CatalogChange, Relation, RelationId, View};
use table_rows::expressions::functions_called;
use values::error::Result;

/// Gives things of the catalog other names, and the definitions that name them other texts. `view` is a view whose columns
/// have other names then, with the names that they have now.
///
/// # Errors
/// As of the changes; 0A000 for a definition that would not mean the same.
pub(super) async fn change(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    changes: Vec<CatalogChange>,
    view: Option<(RelationId, &[String])>,
) -> Result<()> {
    let before = Arc::clone(transaction.catalog());
    let mut catalog = changes.iter();
    let after = catalog.try_fold(Catalog::clone(&before), |after, change| after.apply(change))?;
    let mut followed = {
        let planner = frame.planner(transaction);
        let called: &dyn Fn(Caller<'_>) -> Option<BTreeSet<RelationId>> = &|of: Caller<'_>| match of
        {
            Caller::View(view) => calls::of_view(&planner, view),
            Caller::Expression(table, text) => {
                // Of all expressions over a row, it is the one that may call any function.
                let value = RowExpression::Altered(text, 0, SqlType::plain(Oid::TEXT));
                functions_called(&planner, table, value)
            }
        };
        let (before, after, path) = (&before, &Arc::new(after), frame.path());
        Renaming { before, after, path, view, called }.changes()?
    };
    // The name of a function is the name of its value's column.
    let names_columns = changes.iter().any(|change| function_of(change).is_some());
    let mut shown = Vec::with_capacity(followed.len());
    for change in &mut followed {
        let CatalogChange::Replace(relation) = change else { continue };
        let Some(old) = view_of(&before, relation.id()) else { continue };
        let Some(names) = names_of(frame, transaction, &old).await else { continue };
        let called = calls::of_view(&frame.planner(transaction), &old);
        if let (Relation::View(view), true) = (&*relation, names_columns) {
            let named = View { columns: names.clone(), ..View::clone(view) };
            *relation = Relation::View(Arc::new(named));
        }
        shown.push((relation.id(), names, called));
    }
    let functions: Vec<RelationId> = followed.iter().filter_map(function_of).collect();
    for change in changes.into_iter().chain(followed) {
        transaction.change_catalog(change)?;
    }
    for (id, names, called) in shown {
        let view = view_of(transaction.catalog(), id);
        let Some(view) = view else { continue };
        let is_same = names_of(frame, transaction, &view).await.as_ref() == Some(&names);
        if !is_same || calls::of_view(&frame.planner(transaction), &view) != called {
            return Err(refused(&format!("the view {}", view.name)));
        }
    }
    for id in functions {
        check_body(frame, transaction, id).await?;
    }
    Ok(())
}

/// The function that a change puts into the catalog.
fn function_of(change: &CatalogChange) -> Option<RelationId> {
    match change {
        CatalogChange::PutFunction(function)
        | CatalogChange::PutExtended(function, _)
        | CatalogChange::PutAggregate(function, ..) => Some(function.id),
        _ => None,
    }
}

/// A view or a materialized view.
pub(super) fn view_of(catalog: &Catalog, id: RelationId) -> Option<View> {
    match catalog.relation_by_id(id)? {
        Relation::View(view) => Some(View::clone(view)),
        Relation::Table(table) => table.as_view(),
        Relation::Sequence(_) | Relation::Index(_) => None,
    }
}

/// The names of a view's columns. `None` if it cannot be used.
pub(super) async fn names_of(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    view: &View,
) -> Option<Vec<String>> {
    let plan = frame.planner(transaction).view_plan(view).await.ok()?;
    Some(columns_of(plan.schema().as_arrow()).map(|(name, _)| name).collect())
}

/// Refuses a body that is written as SQL and has no meaning any more.
///
/// # Errors
/// 0A000.
async fn check_body(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    id: RelationId,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let Some(function) = catalog.function_by_id(id) else { return Ok(()) };
    let function = routines::resolved(&catalog, function);
    let checked = match function.is_procedure {
        _ if !function.is_sql_body => Ok(()),
        true => sql_procedure::check(frame, transaction, &function).await,
        false => calls::check(&frame.planner(transaction), frame.text, &function).await,
    };
    checked.map_err(|_| refused(&format!("the {} {}", function.kind(), function.name)))
}
