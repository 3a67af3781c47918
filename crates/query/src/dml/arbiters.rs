//! The unique constraints that an ON CONFLICT is about, and the rows that conflict by them.

use super::writer::Writer;
use analyzer::tree::ConflictTarget as Target;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use sdds::Key;
use std::collections::HashSet;
use std::sync::Arc;
use store::TableView;
use store::catalog::{Index, Table};
use store::key::{EntryEncoder, of_entry};
use values::error::{Error, Result, SqlState};

/// A unique constraint.
enum Arbiter {
    /// The primary key.
    Key,
    /// A unique index, with its file at the snapshot of the statement.
    Index(Arc<Index>, TableView),
}

/// The unique constraints of a statement.
pub(super) struct Arbiters(Vec<Arbiter>);

/// A key or an entry that makes a row unique, with the number of its constraint.
pub(super) type Probe = (usize, Key);

/// What a new row conflicts with.
pub(super) struct Candidate {
    /// What makes the row unique, by each constraint. NULL makes it unique by itself.
    pub(super) probes: Vec<Probe>,
    /// The key of a row that exists.
    pub(super) existing: Option<Key>,
    /// Whether another part of the statement has written such a row.
    pub(super) is_written: bool,
}

impl Arbiters {
    /// The constraints that a target names.
    ///
    /// # Errors
    /// 42P10 if there are none, 42704 if no constraint has its name.
    pub(super) fn of(view: &TableView, target: &Target) -> Result<Self> {
        let table = view.table();
        let mut found = Vec::new();
        let is_key = match target {
            Target::Any => true,
            Target::Constraint(name) => !table.has_hidden_key() && *name == table.key_name(),
            Target::Columns(columns) => is_same(columns, &table.key_indices()),
            Target::Expressions => false,
        };
        if is_key {
            found.push(Arbiter::Key);
        }
        for (index, file) in view.indexes().iter().filter(|(index, _)| index.is_unique) {
            let is_meant = match target {
                Target::Any => true,
                Target::Constraint(name) => index.is_constraint && *name == index.file.name,
                Target::Columns(columns) => is_same(columns, &index.positions(table)),
                Target::Expressions => false,
            };
            if is_meant {
                found.push(Arbiter::Index(Arc::clone(index), file.clone()));
            }
        }
        match target {
            _ if !found.is_empty() => Ok(Self(found)),
            Target::Constraint(name) => {
                let table = &table.name;
                let message = format!("constraint \"{name}\" for table \"{table}\" does not exist");
                Err(Error::new(SqlState::UndefinedObject, message))
            }
            Target::Any | Target::Columns(_) | Target::Expressions => {
                let message = "there is no unique or exclusion constraint matching the ON \
                               CONFLICT specification";
                Err(Error::new(SqlState::InvalidColumnReference, message))
            }
        }
    }

    /// What each of some new rows conflicts with.
    ///
    /// # Errors
    /// 0A000 for an index if the statement has changes in WITH, whose entries are not written yet.
    pub(super) async fn candidates(
        &self,
        writer: &Writer<'_>,
        view: &TableView,
        rows: &RecordBatch,
    ) -> Result<Vec<Candidate>> {
        let none = |_| Candidate { probes: Vec::new(), existing: None, is_written: false };
        let mut candidates: Vec<Candidate> = (0..rows.num_rows()).map(none).collect();
        for (number, arbiter) in self.0.iter().enumerate() {
            match arbiter {
                Arbiter::Key => {
                    let keys = view.encode_keys(rows)?;
                    let (_, present) = view.find_many(&keys, &[]).await?;
                    for at in
                        present.into_iter().filter(|at| writer.changed(view, &keys[*at]).is_none())
                    {
                        candidates[at].existing = Some(keys[at].clone());
                    }
                    for (candidate, key) in candidates.iter_mut().zip(keys) {
                        candidate.is_written |= writer.changed(view, &key) == Some(true);
                        candidate.probes.push((number, key));
                    }
                }
                Arbiter::Index(index, file) => {
                    if !writer.is_direct() {
                        let what = "ON CONFLICT on a unique index, with changes in WITH,";
                        return Err(Error::unsupported(format!("{what} is not supported")));
                    }
                    let (at, entries) = entries(index, view.table(), rows)?;
                    let (found, present) = file.find_many(&entries, &[1]).await?;
                    for (row, place) in found[0].as_binary_view().iter().zip(present) {
                        let existing = &mut candidates[at[place]].existing;
                        *existing = existing.take().or(row.map(Key::from));
                    }
                    for (row, entry) in at.into_iter().zip(entries) {
                        candidates[row].probes.push((number, entry));
                    }
                }
            }
        }
        Ok(candidates)
    }

    /// What makes some rows unique.
    pub(super) fn probes(&self, view: &TableView, rows: &RecordBatch) -> Result<Vec<Probe>> {
        let mut probes = Vec::new();
        for (number, arbiter) in self.0.iter().enumerate() {
            let keys = match arbiter {
                Arbiter::Key => view.encode_keys(rows)?,
                Arbiter::Index(index, _) => entries(index, view.table(), rows)?.1,
            };
            probes.extend(keys.into_iter().map(|key| (number, key)));
        }
        Ok(probes)
    }
}

/// Whether a target names exactly the columns of a key.
fn is_same(target: &[usize], key: &[usize]) -> bool {
    let named: HashSet<usize> = target.iter().copied().collect();
    named == key.iter().copied().collect()
}

/// The rows whose values an index requires to be unique, and the keys of their entries.
fn entries(index: &Index, table: &Table, rows: &RecordBatch) -> Result<(Vec<usize>, Vec<Key>)> {
    let columns = index.positions(table).into_iter().map(|at| Arc::clone(rows.column(at)));
    let columns: Vec<ArrayRef> = columns.collect();
    let encoder = EntryEncoder::new(index, &columns).map_err(store::Error::from)?;
    let has_null = |row: &usize| columns.iter().any(|column| column.is_null(*row));
    let unique = (0..rows.num_rows()).filter(|row| index.nulls_equal || !has_null(row));
    let unique: Vec<usize> = unique.collect();
    let entries = unique.iter().map(|row| of_entry(&encoder.values(*row))).collect();
    Ok((unique, entries))
}
