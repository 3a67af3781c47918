//! INSERT ... ON CONFLICT.

use super::assignment::new_rows;
use super::constraints::Constraints;
use super::update::{assigned, moves_keys};
use super::writer::Writer;
use crate::analysis::changes::OnConflict;
use crate::analysis::over_rows::OverRows;
use analyzer::tree::ConflictTarget as Target;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, UInt32Array};
use datafusion::arrow::compute::{filter_record_batch, take_record_batch};
use datafusion::arrow::datatypes::Schema;
use planner::Planner;
use scan::provider::row_schema;
use sdds::Key;
use std::collections::HashSet;
use std::sync::Arc;
use store::TableView;
use store::catalog::Table;
use values::error::{Error, Result, SqlState};

/// The planned action for rows whose key already exists.
pub(crate) enum Resolution {
    /// DO NOTHING.
    Nothing,
    /// DO UPDATE.
    Update(Box<Update>),
}

/// A planned DO UPDATE. The expressions are over the row that exists, followed by the excluded row.
pub(crate) struct Update {
    targets: Vec<usize>,
    values: OverRows,
    filter: Option<OverRows>,
    constraints: Constraints,
}

impl Resolution {
    /// Plans ON CONFLICT.
    ///
    /// # Errors
    /// 42P10 if its target is not the primary key, 42704 if it names another constraint.
    pub(super) fn new(planner: &Planner<'_>, table: &Arc<Table>, on: OnConflict) -> Result<Self> {
        require_key(table, &on)?;
        let Some(update) = on.update else { return Ok(Self::Nothing) };
        let targets = assigned(table, &update.targets)?;
        let constraints = Constraints::new(planner, table)?;
        let (values, filter) = (update.values, update.filter);
        Ok(Self::Update(Box::new(Update { targets, values, filter, constraints })))
    }

    /// Inserts rows, resolves conflicts, and returns the inserted and updated rows. `seen` are the keys of the statement's
    /// earlier rows.
    ///
    /// # Errors
    /// 21000 if DO UPDATE would update a row twice.
    pub(super) async fn insert(
        &self,
        planner: &Planner<'_>,
        writer: &mut Writer<'_>,
        view: &TableView,
        rows: &RecordBatch,
        seen: &mut HashSet<Key>,
    ) -> Result<Vec<RecordBatch>> {
        let keys = view.encode_keys(rows)?;
        let (_, present) = view.find_many(&keys, &[]).await?;
        let present: HashSet<usize> = present.into_iter().collect();
        let (mut new, mut conflicting) = (Vec::new(), Vec::new());
        for (row, key) in keys.iter().enumerate() {
            let changed = writer.changed(view, key);
            let is_own = !seen.insert(key.clone()) || changed == Some(true);
            let is_present = present.contains(&row) && changed.is_none();
            match self {
                _ if !is_own && !is_present => new.push(row as u32),
                Self::Nothing => {}
                Self::Update(_) if is_own => {
                    let message = "ON CONFLICT DO UPDATE command cannot affect row a second time";
                    return Err(Error::new(SqlState::CardinalityViolation, message).with_hint(
                        "Ensure that no rows proposed for insertion within the same command have \
                         duplicate constrained values.",
                    ));
                }
                Self::Update(_) => conflicting.push(row as u32),
            }
        }
        let mut written = Vec::new();
        if !new.is_empty() {
            let rows = take_record_batch(rows, &UInt32Array::from(new))?;
            writer.insert(view, rows.clone()).await?;
            written.push(rows);
        }
        if let (Self::Update(update), false) = (self, conflicting.is_empty()) {
            let keys: Vec<_> = conflicting.iter().map(|row| keys[*row as usize].clone()).collect();
            let all: Vec<usize> = (0..view.table().columns.len()).collect();
            let (existing, _) = view.find_many(&keys, &all).await?;
            let excluded = take_record_batch(rows, &UInt32Array::from(conflicting))?;
            let (old, rows) = update.rows(planner, view.table(), existing, &excluded).await?;
            if moves_keys(view.table(), &update.targets) {
                writer.delete(view, view.encode_keys(&old)?).await?;
                seen.extend(view.encode_keys(&rows)?);
                writer.insert(view, rows.clone()).await?;
            } else {
                writer.upsert(view, rows.clone()).await?;
            }
            written.push(rows);
        }
        Ok(written)
    }
}

impl Update {
    /// Those rows that exist and fulfil the condition, and the new rows for them.
    async fn rows(
        &self,
        planner: &Planner<'_>,
        table: &Table,
        existing: Vec<ArrayRef>,
        excluded: &RecordBatch,
    ) -> Result<(RecordBatch, RecordBatch)> {
        let mut both = join_columns(table, existing, excluded)?;
        if let Some(filter) = &self.filter {
            let holds = filter.of(planner, both.columns(), both.num_rows()).await?;
            let holds = holds.column(0).as_boolean();
            let chosen: BooleanArray =
                (0..holds.len()).map(|row| Some(holds.is_valid(row) && holds.value(row))).collect();
            both = filter_record_batch(&both, &chosen)?;
        }
        let values = self.values.of(planner, both.columns(), both.num_rows()).await?;
        let old = &both.columns()[..table.columns.len()];
        let columns = [old, values.columns()].concat();
        let new = new_rows(table, &columns, &self.targets, &self.constraints)?;
        Ok((RecordBatch::try_new(table.arrow_schema(), old.to_vec())?, new))
    }
}

/// Refuses an ON CONFLICT target that is not the primary key.
fn require_key(table: &Table, on: &OnConflict) -> Result<()> {
    let key = table.key_indices();
    let is_key = match &on.target {
        Target::Any => true,
        Target::Constraint(name) if !table.has_hidden_key() && *name == table.key_name() => true,
        Target::Constraint(name) => {
            let table = &table.name;
            let message = format!("constraint \"{name}\" for table \"{table}\" does not exist");
            return Err(Error::new(SqlState::UndefinedObject, message));
        }
        Target::Columns(columns) => {
            let named: HashSet<usize> = columns.iter().copied().collect();
            named == key.iter().copied().collect()
        }
        Target::Expressions => false,
    };
    if is_key {
        return Ok(());
    }
    let message =
        "there is no unique or exclusion constraint matching the ON CONFLICT specification";
    Err(Error::new(SqlState::InvalidColumnReference, message))
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
