//! DELETE.

use super::coordinator;
use super::returning::{Returning, outcome};
use super::select::{TARGET, all_columns, query, target_of};
use super::target;
use crate::analysis::changes;
use crate::context::Frame;
use crate::context::outcome::Outcome;
use crate::context::start;
use crate::dml::pushdown::{Change, DmlPushdown};
use datafusion::arrow::array::{RecordBatch, UInt32Array};
use datafusion::arrow::compute::take_arrays;
use datafusion::datasource::provider_as_source;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::sql::sqlparser::ast::{Delete, FromTable};
use futures::TryStreamExt;
use scan::provider::{BucketTable, Columns};
use scan::tables::Tables;
use std::collections::HashSet;
use std::sync::Arc;
use store::catalog::Privileges;
use store::{DistributedTransaction, TableView};
use values::error::{Error, Result};

/// A planned DELETE.
pub(super) struct Planned {
    view: TableView,
    /// Returns the rows to delete.
    query: Arc<dyn ExecutionPlan>,
    returning: Option<Returning>,
    /// Whether the query joins other tables, so that it may return a row several times.
    joins: bool,
}

/// Runs a DELETE, by pushdown if possible.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    delete: &Delete,
) -> Result<Outcome> {
    let planned = plan(frame, transaction, delete).await?;
    if let Some(pushdown) = planned.at_owners(frame)? {
        let rows = coordinator::run(frame, transaction, &pushdown).await?;
        return outcome("DELETE", None, rows, &[]);
    }
    let Planned { view, query, returning, joins } = planned;
    let table = view.table();
    let mut stream = start(frame, query)?;
    let mut seen = HashSet::new();
    let mut deleted = Vec::new();
    let mut rows = 0;
    while let Some(batch) = stream.try_next().await? {
        let all = batch;
        let own = all.columns()[..table.columns.len()].to_vec();
        let batch = RecordBatch::try_new(table.arrow_schema(), own)?;
        let keys = view.encode_keys(&batch)?;
        let first: Vec<u32> = (0..keys.len() as u32)
            .filter(|row| !joins || seen.insert(keys[*row as usize].clone()))
            .collect();
        let keys: Vec<_> = first.iter().map(|row| keys[*row as usize].clone()).collect();
        rows += keys.len() as u64;
        transaction.delete(table.id, &keys).await?;
        if returning.is_some() {
            deleted.push(take_arrays(all.columns(), &UInt32Array::from(first), None)?);
        }
    }
    outcome("DELETE", returning.as_ref(), rows, &deleted)
}

impl Planned {
    /// The DELETE as a DML pushdown, if the owners of the rows can execute it.
    pub(super) fn at_owners(&self, frame: &Frame<'_>) -> Result<Option<DmlPushdown>> {
        if self.joins || self.returning.is_some() {
            return Ok(None);
        }
        DmlPushdown::of_query(&self.query, Change::Delete, frame)
    }
}

/// Plans a DELETE.
pub(super) async fn plan(
    frame: &Frame<'_>,
    tables: &dyn Tables,
    delete: &Delete,
) -> Result<Planned> {
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
    let [relation] = &from[..] else {
        return Err(Error::unsupported(
            "DELETE from more than one table is not supported; use USING",
        ));
    };
    let (name, alias) = target_of(relation)?;
    let table = target(frame, tables, &name, needed(delete))?;
    let others = delete.using.as_deref().unwrap_or_default();
    let view = tables.table(table.id).ok_or_else(|| super::undefined(&name))?;
    let mut planner = frame.planner(tables);
    if let Some(planned) = changes::plan(frame, &planner, &view).await? {
        let query = planner.physical(&planned.rows).await?;
        let returning = planned.returning.map(Returning::of);
        return Ok(Planned { view, query, returning, joins: planned.joins });
    }
    let query = query(all_columns(&table, &alias), &alias, others, delete.selection.clone())?;
    let source = BucketTable::new(view.clone(), Columns::All);
    planner.add_source(TARGET, provider_as_source(Arc::new(source)));
    let plan = planner.plan_query(query).await?;
    let query = planner.physical(&plan).await?;
    let returning = Returning::new(&planner, &table, &alias, delete.returning.as_deref())?;
    Ok(Planned { view, query, returning, joins: !others.is_empty() })
}

/// The privileges that a statement needs. A condition and RETURNING need SELECT.
fn needed(delete: &Delete) -> Privileges {
    if delete.selection.is_some() || delete.returning.is_some() {
        Privileges::DELETE.union(Privileges::SELECT)
    } else {
        Privileges::DELETE
    }
}
