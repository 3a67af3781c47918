//! UPDATE.

use super::assignment::{assigned_rows, require_default};
use super::pushdown::{Change, DmlPushdown};
use super::rows::Rows;
use super::triggered::{self, of_rows};
use super::writer::{Changed, Writer};
use crate::context::Frame;
use crate::triggers::Firing;
use analyzer::tree::Target;
use datafusion::arrow::array::{RecordBatch, UInt32Array};
use datafusion::arrow::compute::{concat_batches, take_record_batch};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use planner::Planner;
use sdds::Key;
use std::collections::HashSet;
use std::sync::Arc;
use store::catalog::Table;
use store::{DistributedTransaction, TableView};
use table_rows::Constraints;
use values::error::Result;

/// A planned UPDATE.
pub(super) struct Update {
    view: TableView,
    /// Returns the old rows, each followed by the new values of `targets`, and by columns of other tables.
    pub(super) query: Arc<dyn ExecutionPlan>,
    /// What the query is executed in, if it was planned before.
    task: Option<Arc<TaskContext>>,
    /// The assigned columns.
    targets: Vec<usize>,
    constraints: Arc<Constraints>,
    /// Whether the query joins other tables, so that it may return a row several times.
    joins: bool,
    /// Whether foreign keys watch a target.
    is_watched: bool,
}

impl Update {
    pub(super) fn new(
        planner: &Planner<'_>,
        view: TableView,
        query: Arc<dyn ExecutionPlan>,
        targets: Vec<usize>,
        joins: bool,
    ) -> Result<Self> {
        let constraints = Arc::new(Constraints::new(planner, view.table())?);
        let (catalog, id) = (planner.tables.catalog(), view.table().id);
        let is_watched = DistributedTransaction::watches(catalog, id, &targets);
        Ok(Self { view, query, task: None, targets, constraints, joins, is_watched })
    }

    /// One that was planned before: its query, and the columns that are assigned. It joins nothing, and is executed here.
    pub(super) fn again(
        view: TableView,
        (query, task): (Arc<dyn ExecutionPlan>, Option<Arc<TaskContext>>),
        (targets, constraints): (Vec<usize>, Arc<Constraints>),
    ) -> Self {
        Self { view, query, task, targets, constraints, joins: false, is_watched: false }
    }

    /// The UPDATE as a DML pushdown, if the owners of the rows can execute it.
    pub(super) fn at_owners(&self, frame: &Frame<'_>) -> Result<Option<DmlPushdown>> {
        let moves_entries = changes_index(&self.view, &self.targets);
        let is_noted = self.joins || self.is_watched;
        if is_noted || moves_entries || moves_keys(self.view.table(), &self.targets) {
            return Ok(None);
        }
        let (targets, constraints) = (self.targets.clone(), Arc::clone(&self.constraints));
        DmlPushdown::of_query(&self.query, Change::Update { targets, constraints }, frame)
    }

    pub(super) fn query(&self) -> &Arc<dyn ExecutionPlan> {
        &self.query
    }

    pub(super) async fn run(
        self,
        frame: &Frame<'_>,
        writer: &mut Writer<'_>,
        (returns, firing): (bool, &mut Option<Firing>),
    ) -> Result<Changed> {
        if let Some(firing) = of_rows(firing) {
            return self.run_firing(frame, writer, returns, firing).await;
        }
        let Self { view, query, task, targets, constraints, joins, .. } = &self;
        let table = view.table();
        let width = table.columns.len();
        let mut stream = Rows::of(frame, writer, (Arc::clone(query), task.clone()))?;
        let mut seen = joins.then(HashSet::new);
        let (mut old_keys, mut written, mut changed) = (Vec::new(), Vec::new(), Changed::default());
        let mut refused = None;
        while let Some(batch) = stream.next(writer).await? {
            let (batch, mut keys) = first_changes(view, writer, batch, seen.as_mut())?;
            if writer.is_in_turn() {
                let old = triggered::batch(view, &batch.columns()[..width])?;
                triggered::refuse_changed_in_turn(writer, view, &old, "updated").await?;
            }
            let new = assigned_rows(table, batch.columns(), targets, constraints)?;
            let (new, error) = writer.checked_before_error(constraints, new).await?;
            keys.truncate(new.num_rows());
            refused = error;
            changed.count += new.num_rows() as u64;
            if returns {
                let others = &batch.columns()[width + targets.len()..];
                changed.rows.push([new.columns(), others].concat());
            }
            old_keys.extend(keys);
            written.push(new);
            if writer.is_in_turn() {
                let rows = (std::mem::take(&mut old_keys), std::mem::take(&mut written));
                self.write(writer, rows).await?;
                changed.show(writer).await?;
            }
            if refused.is_some() {
                break;
            }
        }
        writer.transaction.has_chosen(view.table().id)?;
        self.write(writer, (old_keys, written)).await?;
        refused.map_or(Ok(changed), Err)
    }

    /// Writes new rows in the place of those with the keys.
    async fn write(
        &self,
        writer: &mut Writer<'_>,
        (old, mut rows): (Vec<Key>, Vec<RecordBatch>),
    ) -> Result<()> {
        if old.is_empty() {
            return Ok(());
        }
        let (view, table) = (&self.view, self.view.table());
        if moves_keys(table, &self.targets) {
            return writer.replace(view, old, rows).await;
        }
        // Rows may take unique values of one another.
        if rows.len() > 1 && !view.indexes().is_empty() {
            rows = vec![concat_batches(&table.arrow_schema(), &rows)?];
        }
        for rows in rows {
            writer.upsert(view, rows).await?;
        }
        Ok(())
    }
}

impl Update {
    /// Runs an UPDATE of a table with triggers that fire for each row.
    async fn run_firing(
        self,
        frame: &Frame<'_>,
        writer: &mut Writer<'_>,
        returns: bool,
        firing: &mut Firing,
    ) -> Result<Changed> {
        let Self { view, query, task, joins, .. } = &self;
        let mut stream = Rows::of(frame, writer, (Arc::clone(query), task.clone()))?;
        let mut seen = joins.then(HashSet::new);
        let (mut chosen, mut changed) = (Vec::new(), Changed::default());
        while let Some(batch) = stream.next(writer).await? {
            let (batch, _) = first_changes(view, writer, batch, seen.as_mut())?;
            match writer.is_in_turn() {
                true => self.fire(frame, writer, &batch, (&mut changed, returns), firing).await?,
                false => chosen.push(batch),
            }
        }
        writer.transaction.has_chosen(view.table().id)?;
        for batch in chosen {
            self.fire(frame, writer, &batch, (&mut changed, returns), firing).await?;
        }
        Ok(changed)
    }

    /// Updates rows of a table with triggers that fire for each row.
    async fn fire(
        &self,
        frame: &Frame<'_>,
        writer: &mut Writer<'_>,
        rows: &RecordBatch,
        (changed, returns): (&mut Changed, bool),
        firing: &mut Firing,
    ) -> Result<()> {
        let Self { view, targets, constraints, .. } = self;
        let (table, columns) = (view.table(), rows.columns());
        let width = table.columns.len();
        let new = assigned_rows(table, columns, targets, constraints)?;
        let (target, rows) = ((view, constraints), (&columns[..width], &new[..]));
        let written = triggered::update(firing, frame, writer, target, rows).await?;
        written.put_into(changed, returns, &columns[width + targets.len()..])?;
        match writer.is_in_turn() {
            true => changed.show(writer).await,
            false => Ok(()),
        }
    }
}

/// The columns that get values.
///
/// # Errors
/// 428C9 for a value of a column that accepts DEFAULT only.
pub(super) fn assigned(table: &Table, targets: &[Target]) -> Result<Vec<usize>> {
    for target in targets.iter().filter(|target| !target.is_default) {
        require_default(&table.columns[target.column])?;
    }
    Ok(targets.iter().map(|target| target.column).collect())
}

/// Whether a target is a key column.
pub(super) fn moves_keys(table: &Table, targets: &[usize]) -> bool {
    targets.iter().any(|column| table.key_indices().contains(column))
}

/// Whether a target is a column of an index. The answer of an owner would have all entries that change.
fn changes_index(view: &TableView, targets: &[usize]) -> bool {
    let columns = view.indexes().iter().flat_map(|(index, _)| index.input_positions(view.table()));
    columns.into_iter().any(|column| targets.contains(&column))
}

/// The keys of rows of a table, which other columns may follow.
pub(super) fn keys_of(view: &TableView, batch: &RecordBatch) -> Result<Vec<Key>> {
    let table = view.table();
    let own = batch.columns()[..table.columns.len()].to_vec();
    Ok(view.encode_keys(&RecordBatch::try_new(table.arrow_schema(), own)?)?)
}

/// The rows whose key the statement has not changed yet, with their keys. A row that joins with several rows is changed by
/// the first, if keys that were seen are kept.
pub(super) fn first_changes(
    view: &TableView,
    writer: &mut Writer<'_>,
    batch: RecordBatch,
    mut seen: Option<&mut HashSet<Key>>,
) -> Result<(RecordBatch, Vec<Key>)> {
    let mut keys = keys_of(view, &batch)?;
    let id = view.table().id;
    writer.transaction.choose(id, &keys);
    if seen.is_none() && writer.is_direct() && !writer.transaction.is_locking() {
        return Ok((batch, keys));
    }
    let mut is_first = |key: &Key| {
        let is_new = seen.as_mut().is_none_or(|seen| seen.insert(key.clone()));
        is_new && writer.changed(view, key).is_none() && writer.transaction.is_chosen(id, key)
    };
    let first: Vec<u32> =
        (0..keys.len() as u32).filter(|row| is_first(&keys[*row as usize])).collect();
    keys = first.iter().map(|row| keys[*row as usize].clone()).collect();
    Ok((take_record_batch(&batch, &UInt32Array::from(first))?, keys))
}
