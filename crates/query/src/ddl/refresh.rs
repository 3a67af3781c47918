//! REFRESH MATERIALIZED VIEW: the rows of the query, now.
//!
//! The query is executed with the privileges of the owner. The new rows replace the old ones in one transaction. Whoever
//! reads meanwhile sees the old ones and waits for nothing, so that CONCURRENTLY differs only in what it requires.

use super::in_use::refuse_in_use;
use crate::context::Frame;
use crate::dml::ingest;
use catalog_views::relation_names::{find_named, missing_relation};
use parser::commands::Refresh;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Index, Materialized, Privileges, Relation, Table};
use table_rows::Assembly;
use values::error::{Error, Result, SqlState};

/// Runs a REFRESH MATERIALIZED VIEW.
///
/// # Errors
/// 0A000 for what is no materialized view; 55000 for CONCURRENTLY without a unique index; 23505 for rows that violate one;
/// those of the query.
pub(super) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    refresh: &Refresh,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let relation = find_named(&catalog, frame.path(), &refresh.name)?;
    let relation =
        relation.ok_or_else(|| missing_relation(&catalog, frame.path(), &refresh.name))?;
    frame.access(&catalog).require(relation, Privileges::OWNER)?;
    let table = match relation {
        Relation::Table(table) => Some(table),
        _ => None,
    };
    let of = table.and_then(|table| Some((table, table.materialized.as_ref()?)));
    let Some((table, materialized)) = of else {
        let message = format!("\"{}\" is not a materialized view", relation.name());
        return Err(Error::unsupported(message));
    };
    if refresh.is_concurrent {
        refuse_concurrent(table, materialized, catalog.indexes_of(table.id))?;
    }
    refuse_in_use(frame, transaction, relation, "REFRESH MATERIALIZED VIEW")?;
    transaction.truncate(table.id)?;
    if materialized.is_populated != refresh.with_data {
        let materialized = Materialized { is_populated: refresh.with_data, ..materialized.clone() };
        let mut next = Table::clone(table);
        next.materialized = Some(materialized);
        next.version += 1;
        let next = Relation::Table(Arc::new(next));
        transaction.change_catalog(CatalogChange::Replace(next))?;
    }
    if refresh.with_data {
        fill(frame, transaction, table, refresh.is_concurrent).await?;
    }
    Ok(())
}

/// Refuses CONCURRENTLY where rows cannot be told apart, or have never been there.
fn refuse_concurrent(
    table: &Table,
    materialized: &Materialized,
    indexes: &[Arc<Index>],
) -> Result<()> {
    let Table { schema, name, .. } = table;
    if !materialized.is_populated {
        let message = "CONCURRENTLY cannot be used when the materialized view is not populated";
        return Err(Error::unsupported(message));
    }
    let identifies =
        |index: &&Arc<Index>| index.is_unique && index.plain_positions(table).is_some();
    if indexes.iter().any(|index| identifies(&index)) {
        return Ok(());
    }
    let message = format!("cannot refresh materialized view \"{schema}.{name}\" concurrently");
    Err(Error::new(SqlState::ObjectNotInPrerequisiteState, message).with_hint(
        "Create a unique index with no WHERE clause on one or more columns of the materialized view.",
    ))
}

/// Writes the rows of the query into the empty view.
async fn fill(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: &Arc<Table>,
    is_concurrent: bool,
) -> Result<()> {
    let Some(view) = table.as_view() else { return Ok(()) };
    let given: Vec<usize> =
        (0..table.columns.len()).filter(|at| !table.columns[*at].hidden).collect();
    let (physical, assembly) = {
        let planner = frame.planner(transaction);
        let plan = planner.view_plan(&view).await?;
        let assembly = Assembly::new(&planner, &frame.session.shared.store, table, &given)?;
        (planner.physical(&plan).await?, assembly)
    };
    match ingest(frame, transaction, table.id, physical, assembly).await {
        Err(error) if error.state() == SqlState::UniqueViolation && !is_concurrent => {
            Err(not_unique(error))
        }
        done => done.map(drop),
    }
}

/// The error for rows that violate a unique index, which PostgreSQL builds anew.
fn not_unique(error: Error) -> Error {
    let constraint = error.subject().constraint.clone().unwrap_or_default();
    let detail = error.detail().unwrap_or_default().replace("already exists", "is duplicated");
    let message = format!("could not create unique index \"{constraint}\"");
    Error::new(SqlState::UniqueViolation, message).with_detail(detail).of_constraint(&constraint)
}
