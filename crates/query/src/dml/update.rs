//! UPDATE.

use super::assignment::{assigned_column, new_rows, require_default};
use super::constraints::Constraints;
use super::coordinator;
use super::default_values::{default_of, is_default};
use super::returning::{Returning, outcome};
use super::select::{TARGET, all_columns, query, target_of};
use super::target;
use crate::analysis::changes;
use crate::context::Frame;
use crate::context::outcome::Outcome;
use crate::context::start;
use crate::dml::pushdown::{Change, DmlPushdown};
use datafusion::arrow::array::{RecordBatch, UInt32Array};
use datafusion::arrow::compute::{take_arrays, take_record_batch};
use datafusion::datasource::provider_as_source;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::sql::sqlparser::ast::{
    Assignment, AssignmentTarget, Expr, Ident, SelectItem, Update, UpdateTableFromKind,
};
use futures::TryStreamExt;
use scan::provider::{BucketTable, Columns};
use scan::tables::Tables;
use std::collections::HashSet;
use std::sync::Arc;
use store::catalog::{Privileges, Table};
use store::{DistributedTransaction, TableView};
use values::error::{Error, Result, SqlState};

/// A planned UPDATE.
pub(super) struct Planned {
    view: TableView,
    /// Returns the old rows, each followed by the new values of `targets`.
    query: Arc<dyn ExecutionPlan>,
    /// The assigned columns.
    targets: Vec<usize>,
    constraints: Arc<Constraints>,
    returning: Option<Returning>,
    /// Whether the query joins other tables, so that it may return a row several times.
    joins: bool,
}

/// Runs an UPDATE, by pushdown if possible.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    update: &Update,
) -> Result<Outcome> {
    let planned = plan(frame, transaction, update).await?;
    if let Some(pushdown) = planned.at_owners(frame)? {
        let rows = coordinator::run(frame, transaction, &pushdown).await?;
        return outcome("UPDATE", None, rows, &[]);
    }
    let Planned { view, query, targets, constraints, returning, joins } = planned;
    let table = view.table();
    let mut stream = start(frame, query)?;
    let mut seen = HashSet::new();
    let (mut old_keys, mut written, mut returned) = (Vec::new(), Vec::new(), Vec::new());
    let width = table.columns.len() + targets.len();
    while let Some(batch) = stream.try_next().await? {
        let old = old_rows(table, &batch)?;
        let keys = view.encode_keys(&old)?;
        let mut new = new_rows(table, &batch, &targets, &constraints)?;
        let mut others = batch.columns()[width..].to_vec();
        if joins {
            let first = first_of_each(&keys, &mut seen);
            new = take_record_batch(&new, &first)?;
            others = take_arrays(&others, &first, None)?;
        }
        old_keys.extend(keys);
        if returning.is_some() {
            returned.push([new.columns(), &others].concat());
        }
        written.push(new);
    }
    let moves_keys = moves_keys(table, &targets);
    if moves_keys {
        transaction.delete(table.id, &old_keys).await?;
    }
    for rows in &written {
        if moves_keys {
            transaction.insert(table.id, rows).await?;
        } else {
            transaction.upsert(table.id, rows).await?;
        }
    }
    let rows = written.iter().map(|batch| batch.num_rows() as u64).sum();
    outcome("UPDATE", returning.as_ref(), rows, &returned)
}

impl Planned {
    /// The UPDATE as a DML pushdown, if the owners of the rows can execute it.
    pub(super) fn at_owners(&self, frame: &Frame<'_>) -> Result<Option<DmlPushdown>> {
        let by_row = !self.joins && self.returning.is_none();
        if !by_row || moves_keys(self.view.table(), &self.targets) {
            return Ok(None);
        }
        let (targets, constraints) = (self.targets.clone(), Arc::clone(&self.constraints));
        DmlPushdown::of_query(&self.query, Change::Update { targets, constraints }, frame)
    }
}

/// Whether a target is a key column.
fn moves_keys(table: &Table, targets: &[usize]) -> bool {
    targets.iter().any(|column| table.key_indices().contains(column))
}

/// Plans an UPDATE.
pub(super) async fn plan(
    frame: &Frame<'_>,
    tables: &dyn Tables,
    update: &Update,
) -> Result<Planned> {
    let (name, alias) = target_of(&update.table)?;
    let table = target(frame, tables, &name, needed(update))?;
    let others = match &update.from {
        None => &[][..],
        Some(UpdateTableFromKind::BeforeSet(from) | UpdateTableFromKind::AfterSet(from)) => from,
    };
    let view = tables.table(table.id).ok_or_else(|| super::undefined(&name))?;
    let mut planner = frame.planner(tables);
    if let Some(planned) = changes::plan(frame, &planner, &view).await? {
        for target in planned.targets.iter().filter(|target| !target.is_default) {
            require_default(&table.columns[target.column])?;
        }
        let query = planner.physical(&planned.rows).await?;
        let constraints = Arc::new(Constraints::new(&planner, &table)?);
        let returning = planned.returning.map(Returning::of);
        let targets = planned.targets.iter().map(|target| target.column).collect();
        return Ok(Planned { view, query, targets, constraints, returning, joins: planned.joins });
    }
    let assignments = assignments(&table, &update.assignments)?;
    let mut items = all_columns(&table, &alias);
    for (index, (_, value)) in assignments.iter().enumerate() {
        let alias = Ident::with_quote('"', format!("?new{index}"));
        items.push(SelectItem::ExprWithAlias { expr: value.clone(), alias });
    }
    let query = query(items, &alias, others, update.selection.clone())?;
    let source = BucketTable::new(view.clone(), Columns::All);
    planner.add_source(TARGET, provider_as_source(Arc::new(source)));
    let plan = planner.plan_query(query).await?;
    let query = planner.physical(&plan).await?;
    let constraints = Arc::new(Constraints::new(&planner, &table)?);
    let returning = Returning::new(&planner, &table, &alias, update.returning.as_deref())?;
    let targets = assignments.iter().map(|(column, _)| *column).collect();
    Ok(Planned { view, query, targets, constraints, returning, joins: !others.is_empty() })
}

/// The assigned columns with their new values.
fn assignments(table: &Table, given: &[Assignment]) -> Result<Vec<(usize, Expr)>> {
    let mut assignments: Vec<(usize, Expr)> = Vec::new();
    for Assignment { target, value } in given {
        match (target, value) {
            (AssignmentTarget::Tuple(names), Expr::Tuple(values))
                if names.len() == values.len() =>
            {
                for (name, value) in names.iter().zip(values) {
                    let target = AssignmentTarget::ColumnName(name.clone());
                    assignments.push((assigned_column(table, &target)?, value.clone()));
                }
            }
            _ => assignments.push((assigned_column(table, target)?, value.clone())),
        }
    }
    let mut columns = HashSet::new();
    for (column, value) in &mut assignments {
        let definition = &table.columns[*column];
        if !columns.insert(*column) {
            let message = format!("multiple assignments to same column \"{}\"", definition.name);
            return Err(Error::new(SqlState::SyntaxError, message));
        }
        if is_default(value) {
            *value = default_of(table, *column)?;
        } else {
            require_default(definition)?;
        }
    }
    Ok(assignments)
}

fn old_rows(table: &Table, batch: &RecordBatch) -> Result<RecordBatch> {
    let columns = batch.columns()[..table.columns.len()].to_vec();
    Ok(RecordBatch::try_new(table.arrow_schema(), columns)?)
}

/// The rows whose key has not been seen. A row that joins with several rows is updated with the values of the first.
fn first_of_each(keys: &[sdds::Key], seen: &mut HashSet<sdds::Key>) -> UInt32Array {
    let first = keys.iter().enumerate().filter(|(_, key)| seen.insert((*key).clone()));
    UInt32Array::from_iter_values(first.map(|(row, _)| row as u32))
}

/// The privileges that a statement needs. A condition, RETURNING and values other than constants
/// need SELECT.
fn needed(update: &Update) -> Privileges {
    let constants = update.assignments.iter().all(|a| matches!(a.value, Expr::Value(_)));
    let reads = update.selection.is_some() || update.returning.is_some() || !constants;
    if reads { Privileges::UPDATE.union(Privileges::SELECT) } else { Privileges::UPDATE }
}
