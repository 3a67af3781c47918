//! DELETE.

use super::coordinator;
use super::returning::{Returning, outcome};
use super::select::{TARGET, all_columns, query, target_of};
use super::target;
use crate::dml::pushdown::{Deed, DmlPushdown};
use crate::outcome::Outcome;
use crate::session::Frame;
use crate::session::run::start;
use datafusion::arrow::array::{RecordBatch, UInt32Array};
use datafusion::arrow::compute::take_record_batch;
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

/// A DELETE, planned: a query gives the rows.
pub(super) struct Planned {
    view: TableView,
    query: Arc<dyn ExecutionPlan>,
    returning: Option<Returning>,
    /// Whether a row may come with several rows of other tables.
    joins: bool,
}

/// Runs a DELETE: the keys of the rows go, deleted by their owners or from here.
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
    let mut gone = Vec::new();
    let mut rows = 0;
    while let Some(batch) = stream.try_next().await? {
        let batch = RecordBatch::try_new(table.arrow_schema(), batch.columns().to_vec())?;
        let keys = view.encode_keys(&batch)?;
        let first: Vec<u32> = (0..keys.len() as u32)
            .filter(|row| !joins || seen.insert(keys[*row as usize].clone()))
            .collect();
        let keys: Vec<_> = first.iter().map(|row| keys[*row as usize].clone()).collect();
        rows += keys.len() as u64;
        transaction.delete(table.id, &keys).await?;
        if returning.is_some() {
            gone.push(take_record_batch(&batch, &UInt32Array::from(first))?);
        }
    }
    outcome("DELETE", returning.as_ref(), rows, &gone)
}

impl Planned {
    /// The same for the owners of the rows to carry out, if they can.
    pub(super) fn at_owners(&self, frame: &Frame<'_>) -> Result<Option<DmlPushdown>> {
        match self.joins || self.returning.is_some() {
            true => Ok(None),
            false => DmlPushdown::of_query(&self.query, Deed::Delete, frame),
        }
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
        return Err(Error::unsupported("DELETE takes rows from one table; use USING for others"));
    };
    let (name, called) = target_of(relation)?;
    let table = target(frame, tables, &name, needed(delete))?;
    let others = delete.using.as_deref().unwrap_or_default();
    let query = query(all_columns(&table, &called), &called, others, delete.selection.clone())?;
    let view = tables.table(table.id).ok_or_else(|| super::undefined(&name))?;
    let mut planner = frame.planner(tables);
    let source = BucketTable::new(view.clone(), Columns::All);
    planner.add_source(TARGET, provider_as_source(Arc::new(source)));
    let plan = planner.plan_query(query).await?;
    let query = planner.physical(&plan).await?;
    let returning = Returning::new(&planner, &table, &called, delete.returning.as_deref())?;
    Ok(Planned { view, query, returning, joins: !others.is_empty() })
}

/// What a statement must be allowed: one that looks at rows reads them.
fn needed(delete: &Delete) -> Privileges {
    match delete.selection.is_some() || delete.returning.is_some() {
        true => Privileges::DELETE.union(Privileges::SELECT),
        false => Privileges::DELETE,
    }
}
