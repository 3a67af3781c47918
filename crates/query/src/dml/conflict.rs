//! INSERT ... ON CONFLICT.

use super::arbiters::{Arbiters, Candidate, Probe};
use super::assignment::assigned_rows;
use super::triggered::{self, Firings, of_rows};
use super::update::{assigned, moves_keys};
use super::writer::Writer;
use crate::analysis::changes::{self, OnConflict};
use crate::context::Frame;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int64Array, RecordBatch, UInt32Array,
};
use datafusion::arrow::compute::{concat_batches, filter_record_batch, take_record_batch};
use datafusion::arrow::datatypes::Schema;
use planner::Planner;
use planner::over_rows::OverRows;
use scan::provider::row_schema;
use sdds::Key;
use std::collections::HashSet;
use std::sync::Arc;
use store::TableView;
use store::catalog::Table;
use table_rows::Constraints;
use values::error::{Error, Result, SqlState};

/// A planned ON CONFLICT.
pub(crate) struct Resolution {
    arbiters: Arbiters,
    /// DO UPDATE; `None` for DO NOTHING.
    update: Option<Update>,
    /// Whether a row may change what others conflict with, so that they are resolved one after the other.
    is_by_row: bool,
}

/// A planned DO UPDATE. The expressions are over the row that exists, followed by the excluded row.
struct Update {
    targets: Vec<usize>,
    values: OverRows,
    filter: Option<OverRows>,
    constraints: Arc<Constraints>,
}

/// What a statement has written so far.
#[derive(Default)]
pub(super) struct Seen {
    /// What makes its new rows unique, and those of other parts of the statement.
    new: HashSet<Probe>,
    /// Whether it has those of the other parts.
    has_others: bool,
    /// The keys of the rows that it has updated.
    updated: HashSet<Key>,
    /// The keys of all rows that it has written, if rows are resolved one after the other.
    own: HashSet<Key>,
}

impl Seen {
    /// Notes which of some rows are updated, in order.
    ///
    /// # Errors
    /// 21000 if a row has been updated before.
    fn update(&mut self, keys: Vec<Key>, chosen: Vec<bool>) -> Result<()> {
        for (key, is_chosen) in keys.into_iter().zip(chosen) {
            if self.updated.contains(&key) {
                return Err(again());
            }
            if is_chosen {
                self.updated.insert(key);
            }
        }
        Ok(())
    }
}

impl Resolution {
    /// Plans ON CONFLICT.
    ///
    /// # Errors
    /// 42P10 if its target is no unique constraint, 42704 if it names none.
    pub(super) fn new(planner: &Planner<'_>, view: &TableView, on: OnConflict) -> Result<Self> {
        let table = view.table();
        let arbiters = Arbiters::of(planner, view, &on.target)?;
        let Some(update) = on.update else {
            return Ok(Self { arbiters, update: None, is_by_row: false });
        };
        let targets = assigned(table, &update.targets)?;
        let constraints = Arc::new(Constraints::new(planner, table)?);
        let (values, filter) = (update.values, update.filter);
        let is_by_row = Arbiters::may_change(view, &targets);
        let update = Some(Update { targets, values, filter, constraints });
        Ok(Self { arbiters, update, is_by_row })
    }

    /// Inserts rows, resolves conflicts, and returns the inserted and updated rows. `seen` is what the statement has
    /// written before.
    ///
    /// # Errors
    /// 21000 if DO UPDATE would update a row twice.
    pub(super) async fn insert(
        &self,
        planner: &Planner<'_>,
        writer: &mut Writer<'_>,
        view: &TableView,
        rows: &RecordBatch,
        seen: &mut Seen,
    ) -> Result<Vec<RecordBatch>> {
        if let Some(update) = self.update.as_ref().filter(|_| self.is_by_row && writer.is_direct())
        {
            return self.insert_by_row(planner, writer, (view, update), rows, seen).await;
        }
        let now = now(writer, view);
        let Sorted { new, conflicting, keys } = self.sort(writer, (view, &now), rows, seen).await?;
        let view = &now;
        let (mut written, mut places) = (Vec::new(), new.clone());
        if !new.is_empty() {
            let rows = take_record_batch(rows, &UInt32Array::from(new))?;
            writer.insert(view, rows.clone()).await?;
            written.push(self.marked(rows, 0)?);
        }
        if let (Some(update), false) = (&self.update, conflicting.is_empty()) {
            let all: Vec<usize> = (0..view.table().columns.len()).collect();
            let (existing, _) = view.find_many(&keys, &all).await?;
            let excluded = take_record_batch(rows, &UInt32Array::from(conflicting.clone()))?;
            let (old, new, chosen) =
                update.rows(planner, writer, view.table(), (existing, &excluded)).await?;
            triggered::refuse_changed_in_turn(writer, view, &old, "updated").await?;
            places
                .extend(conflicting.iter().zip(&chosen).filter(|(_, is)| **is).map(|(at, _)| *at));
            seen.update(keys, chosen)?;
            let rows = writer.checked(&update.constraints, new).await?;
            seen.new.extend(self.arbiters.probes(writer, view, &rows)?);
            if moves_keys(view.table(), &update.targets) {
                writer.replace(view, view.encode_keys(&old)?, vec![rows.clone()]).await?;
            } else {
                writer.upsert(view, rows.clone()).await?;
            }
            written.push(self.marked(rows, 1)?);
        }
        in_order(written, &places)
    }

    /// As [`Self::insert`], of rows that are not checked yet, and with the triggers that fire for each row.
    ///
    /// # Errors
    /// As of [`Self::insert`]; those of functions.
    pub(super) async fn insert_firing(
        &self,
        frame: &Frame<'_>,
        planner: &Planner<'_>,
        writer: &mut Writer<'_>,
        (view, constraints): (&TableView, &Arc<Constraints>),
        (columns, seen): (Vec<ArrayRef>, &mut Seen),
        firings: &mut Firings,
    ) -> Result<Vec<RecordBatch>> {
        let mut written = Vec::new();
        for row in 0..columns.first().map_or(0, |column| column.len()) {
            let new = match of_rows(&mut firings.insert) {
                Some(firing) if firing.is_before_rows() => {
                    triggered::before_insert(firing, frame, writer, &columns, row).await?
                }
                _ => Some(columns.iter().map(|column| column.slice(row, 1)).collect()),
            };
            let Some(new) = new else { continue };
            let rows = writer.checked(constraints, new).await?;
            let now = now(writer, view);
            let Sorted { new, keys, .. } = self.sort(writer, (view, &now), &rows, seen).await?;
            let view = &now;
            if !new.is_empty() {
                writer.insert(view, rows.clone()).await?;
                if let Some(firing) = &firings.insert {
                    firing.after_rows(frame, None, Some(rows.clone()));
                }
                written.push(self.marked(rows, 0)?);
            } else if let (Some(update), false) = (&self.update, keys.is_empty()) {
                let all: Vec<usize> = (0..view.table().columns.len()).collect();
                let (existing, _) = view.find_many(&keys, &all).await?;
                let (old, new, chosen) =
                    update.rows(planner, writer, view.table(), (existing, &rows)).await?;
                if old.num_rows() == 0 {
                    continue;
                }
                triggered::refuse_changed_in_turn(writer, view, &old, "updated").await?;
                let now = update.write(frame, writer, view, (&old, new), firings).await?;
                // A row that a trigger keeps as it is can be met again.
                if now.iter().any(|rows| rows.num_rows() > 0) {
                    seen.update(keys, chosen)?;
                }
                for rows in now {
                    seen.new.extend(self.arbiters.probes(writer, view, &rows)?);
                    written.push(self.marked(rows, 1)?);
                }
            }
        }
        Ok(written)
    }

    /// Finds out which rows are new, and which conflict with rows that exist now. `before` is the table before the statement.
    async fn sort(
        &self,
        writer: &Writer<'_>,
        (before, now): (&TableView, &TableView),
        rows: &RecordBatch,
        seen: &mut Seen,
    ) -> Result<Sorted> {
        if !std::mem::replace(&mut seen.has_others, true) {
            seen.new.extend(self.arbiters.waiting(writer, now)?);
        }
        let candidates = self.arbiters.candidates(writer, now, rows).await?;
        let (mut new, mut conflicting, mut keys) = (Vec::new(), Vec::new(), Vec::new());
        for (row, candidate) in candidates.into_iter().enumerate() {
            let Candidate { probes, existing } = candidate;
            let is_own = probes.iter().any(|probe| seen.new.contains(probe));
            match existing {
                None if !is_own => {
                    seen.new.extend(probes);
                    new.push(row as u32);
                }
                _ if self.update.is_none() => {}
                Some(key) if !is_own && !seen.updated.contains(&key) => {
                    conflicting.push(row as u32);
                    keys.push(key);
                }
                _ => return Err(again()),
            }
        }
        if writer.is_in_turn() && !is_same(before, now, &keys).await? {
            return Err(again());
        }
        Ok(Sorted { new, conflicting, keys })
    }

    /// As [`Self::insert`], row after row, each of which sees what those before have written.
    async fn insert_by_row(
        &self,
        planner: &Planner<'_>,
        writer: &mut Writer<'_>,
        (view, update): (&TableView, &Update),
        rows: &RecordBatch,
        seen: &mut Seen,
    ) -> Result<Vec<RecordBatch>> {
        let table = view.table();
        let all: Vec<usize> = (0..table.columns.len()).collect();
        let mut written = Vec::new();
        for at in 0..rows.num_rows() {
            let row = rows.slice(at, 1);
            let Some(view) = writer.transaction.table(table.id) else { return Ok(written) };
            let candidates = self.arbiters.candidates(writer, &view, &row).await?;
            let Some(key) = candidates.into_iter().find_map(|candidate| candidate.existing) else {
                seen.own.extend(view.encode_keys(&row)?);
                writer.insert(&view, row.clone()).await?;
                written.push(self.marked(row, 0)?);
                continue;
            };
            if seen.own.contains(&key) {
                return Err(again());
            }
            let (existing, _) = view.find_many(&[key], &all).await?;
            let (old, new, _) = update.rows(planner, writer, table, (existing, &row)).await?;
            let new = writer.checked(&update.constraints, new).await?;
            seen.own.extend(view.encode_keys(&new)?);
            if moves_keys(table, &update.targets) {
                writer.replace(&view, view.encode_keys(&old)?, vec![new.clone()]).await?;
            } else {
                writer.upsert(&view, new.clone()).await?;
            }
            written.push(self.marked(new, 1)?);
            tokio::task::consume_budget().await;
        }
        Ok(written)
    }
}

impl Resolution {
    /// Written rows with their `xmax`, if there may be updated ones.
    fn marked(&self, rows: RecordBatch, xmax: i64) -> Result<RecordBatch> {
        if self.update.is_none() {
            return Ok(rows);
        }
        let (schema, mut columns, count) = rows.into_parts();
        columns.push(Arc::new(Int64Array::from_value(xmax, count)));
        let fields = schema.fields().iter().cloned().chain([Arc::new(changes::xmax())]);
        Ok(RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns)?)
    }
}

/// The table as a statement sees it whose functions may have written rows.
fn now(writer: &Writer<'_>, view: &TableView) -> TableView {
    let now = if writer.is_in_turn() { writer.transaction.table(view.table().id) } else { None };
    now.unwrap_or_else(|| view.clone())
}

/// Whether rows are now as they were before the statement.
async fn is_same(before: &TableView, now: &TableView, keys: &[Key]) -> Result<bool> {
    let all: Vec<usize> = (0..now.table().columns.len()).collect();
    let (was, _) = before.find_many(keys, &all).await?;
    let (is, _) = now.find_many(keys, &all).await?;
    Ok(was == is)
}

/// Written rows in the order of their places among the given rows: clients take the rows that RETURNING gives for those that
/// they gave.
fn in_order(written: Vec<RecordBatch>, places: &[u32]) -> Result<Vec<RecordBatch>> {
    if places.is_sorted() {
        return Ok(written);
    }
    let mut order: Vec<u32> = (0..places.len() as u32).collect();
    order.sort_by_key(|at| places[*at as usize]);
    let rows = concat_batches(&written[0].schema(), &written)?;
    Ok(vec![take_record_batch(&rows, &UInt32Array::from(order))?])
}

/// Rows that are inserted, by their places.
struct Sorted {
    new: Vec<u32>,
    /// Those that conflict with rows that exist, and are to be updated.
    conflicting: Vec<u32>,
    /// The keys of the latter.
    keys: Vec<Key>,
}

/// The error for a row that DO UPDATE would change twice.
fn again() -> Error {
    let message = "ON CONFLICT DO UPDATE command cannot affect row a second time";
    Error::new(SqlState::CardinalityViolation, message).with_hint(
        "Ensure that no rows proposed for insertion within the same command have duplicate \
         constrained values.",
    )
}

impl Update {
    /// Writes new rows, which are not checked yet, with the triggers that fire for each.
    async fn write(
        &self,
        frame: &Frame<'_>,
        writer: &mut Writer<'_>,
        view: &TableView,
        (old, new): (&RecordBatch, Vec<ArrayRef>),
        firings: &mut Firings,
    ) -> Result<Vec<RecordBatch>> {
        if let Some(firing) = of_rows(&mut firings.update) {
            let (target, rows) = ((view, &self.constraints), (old.columns(), &new[..]));
            return Ok(triggered::update(firing, frame, writer, target, rows).await?.rows);
        }
        let rows = writer.checked(&self.constraints, new).await?;
        if moves_keys(view.table(), &self.targets) {
            writer.replace(view, view.encode_keys(old)?, vec![rows.clone()]).await?;
        } else {
            writer.upsert(view, rows.clone()).await?;
        }
        Ok(vec![rows])
    }

    /// Those rows that exist and fulfil the condition, and the new rows for them, which are not checked yet; and which of the
    /// given rows these are.
    async fn rows(
        &self,
        planner: &Planner<'_>,
        writer: &mut Writer<'_>,
        table: &Table,
        (existing, excluded): (Vec<ArrayRef>, &RecordBatch),
    ) -> Result<(RecordBatch, Vec<ArrayRef>, Vec<bool>)> {
        let mut both = join_columns(table, existing, excluded)?;
        let mut all = vec![true; both.num_rows()];
        if let Some(filter) = &self.filter {
            let holds = writer.values(planner, filter, both.columns()).await?;
            let holds = holds.column(0).as_boolean();
            all = (0..holds.len()).map(|row| holds.is_valid(row) && holds.value(row)).collect();
            both = filter_record_batch(&both, &BooleanArray::from(all.clone()))?;
        }
        let values = writer.values(planner, &self.values, both.columns()).await?;
        let old = &both.columns()[..table.columns.len()];
        let columns = [old, values.columns()].concat();
        let new = assigned_rows(table, &columns, &self.targets, &self.constraints)?;
        Ok((RecordBatch::try_new(table.arrow_schema(), old.to_vec())?, new, all))
    }
}

fn join_columns(
    table: &Table,
    existing: Vec<ArrayRef>,
    excluded: &RecordBatch,
) -> Result<RecordBatch> {
    let row = row_schema(table);
    let fields: Vec<_> = row.fields().iter().chain(row.fields()).cloned().collect();
    let mut columns = existing;
    columns.extend(excluded.columns().iter().cloned());
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}
