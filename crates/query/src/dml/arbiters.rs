//! The unique constraints that an ON CONFLICT is about, and the rows that conflict by them.

use super::writer::Writer;
use analyzer::RowExpression;
use analyzer::tree::{ConflictKeys, ConflictTarget as Target};
use datafusion::arrow::array::{ArrayRef, AsArray, RecordBatch};
use planner::Planner;
use scan::index_lookup::implication::implies;
use scan::key_ranges::split_conjuncts;
use sdds::Key;
use std::collections::HashSet;
use std::sync::Arc;
use store::TableView;
use store::catalog::{Index, Table};
use store::key::{EntryEncoder, of_entry};
use table_rows::expressions;
use values::error::{Error, Result, SqlState};

/// A unique constraint.
enum Arbiter {
    /// The primary key.
    Key,
    /// A unique index.
    Index(Arc<Index>),
}

/// The unique constraints of a statement.
pub(super) struct Arbiters(Vec<Arbiter>);

/// A key or an entry that makes a row unique, with the number of its constraint.
pub(super) type Probe = (usize, Key);

/// What a new row conflicts with.
pub(super) struct Candidate {
    /// What makes the row unique, by each constraint. NULL makes it unique by itself.
    pub(super) probes: Vec<Probe>,
    /// The key of a row that exists, and that the statement has not changed.
    pub(super) existing: Option<Key>,
}

impl Arbiters {
    /// The constraints that a target names.
    ///
    /// # Errors
    /// 42P10 if there are none, 42704 if no constraint has its name.
    pub(super) fn of(planner: &Planner<'_>, view: &TableView, target: &Target) -> Result<Self> {
        let table = view.table();
        let mut found = Vec::new();
        let is_key = match target {
            Target::Any => true,
            Target::Constraint(name) => table.is_key_name(name),
            Target::Keys(keys) => {
                keys.expressions.is_empty() && is_same(&keys.columns, &table.key_indices())
            }
        };
        if is_key {
            found.push(Arbiter::Key);
        }
        for (index, _) in view.indexes().iter().filter(|(index, _)| index.is_unique) {
            let is_meant = match target {
                Target::Any => true,
                Target::Constraint(name) => index.is_constraint && *name == index.file.name,
                Target::Keys(keys) => is_inferred(planner, table, index, keys)?,
            };
            if is_meant {
                found.push(Arbiter::Index(Arc::clone(index)));
            }
        }
        match target {
            _ if !found.is_empty() => Ok(Self(found)),
            Target::Constraint(name) => {
                let table = &table.name;
                let message = format!("constraint \"{name}\" for table \"{table}\" does not exist");
                Err(Error::new(SqlState::UndefinedObject, message))
            }
            Target::Any | Target::Keys(_) => {
                let message = "there is no unique or exclusion constraint matching the ON \
                               CONFLICT specification";
                Err(Error::new(SqlState::InvalidColumnReference, message))
            }
        }
    }

    /// Whether an assignment to some columns may change what makes rows unique, by these or other constraints.
    pub(super) fn may_change(view: &TableView, columns: &[usize]) -> bool {
        let table = view.table();
        let unique = view.indexes().iter().filter(|(index, _)| index.is_unique);
        let inputs = unique.flat_map(|(index, _)| index.input_positions(table));
        table.key_indices().into_iter().chain(inputs).any(|column| columns.contains(&column))
    }

    /// What each of some new rows conflicts with, of the rows of a view.
    ///
    /// # Errors
    /// 55000 for rows that reach a deferrable constraint.
    pub(super) async fn candidates(
        &self,
        writer: &Writer<'_>,
        view: &TableView,
        rows: &RecordBatch,
    ) -> Result<Vec<Candidate>> {
        let none = |_| Candidate { probes: Vec::new(), existing: None };
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
                        candidate.probes.push((number, key));
                    }
                }
                // Rows that conflict by a constraint before do not reach it.
                Arbiter::Index(index) if index.is_deferrable() => {
                    if candidates.iter().any(|row| row.existing.is_none()) {
                        return Err(deferrable(view.table(), index));
                    }
                }
                Arbiter::Index(index) => {
                    let (at, entries) = entries(writer, index, view.table(), rows)?;
                    let mut files = view.indexes().iter();
                    let file = files.find(|(of, _)| of.file.id == index.file.id);
                    let Some((_, file)) = file else { continue };
                    let (found, present) = file.find_many(&entries, &[1]).await?;
                    for (row, place) in found[0].as_binary_view().iter().zip(present) {
                        let existing = &mut candidates[at[place]].existing;
                        let row = row.map(Key::from);
                        let row = row.filter(|key| writer.changed(view, key).is_none());
                        *existing = existing.take().or(row);
                    }
                    for (row, entry) in at.into_iter().zip(entries) {
                        candidates[row].probes.push((number, entry));
                    }
                }
            }
        }
        Ok(candidates)
    }

    /// What makes the rows unique that other parts of the statement write to the table.
    pub(super) fn waiting(&self, writer: &Writer<'_>, view: &TableView) -> Result<Vec<Probe>> {
        let waiting = writer.waiting(view.table().id);
        let probes = waiting.map(|rows| self.probes(writer, view, rows));
        Ok(probes.collect::<Result<Vec<_>>>()?.concat())
    }

    /// What makes some rows unique.
    pub(super) fn probes(
        &self,
        writer: &Writer<'_>,
        view: &TableView,
        rows: &RecordBatch,
    ) -> Result<Vec<Probe>> {
        let mut probes = Vec::new();
        for (number, arbiter) in self.0.iter().enumerate() {
            let keys = match arbiter {
                Arbiter::Key => view.encode_keys(rows)?,
                Arbiter::Index(index) => entries(writer, index, view.table(), rows)?.1,
            };
            probes.extend(keys.into_iter().map(|key| (number, key)));
        }
        Ok(probes)
    }
}

fn deferrable(table: &Table, index: &Index) -> Error {
    let message = "ON CONFLICT does not support deferrable unique constraints/exclusion \
                   constraints as arbiters";
    Error::new(SqlState::ObjectNotInPrerequisiteState, message)
        .of_table(&table.schema, &table.name)
        .of_constraint(&index.file.name)
}

/// Whether a target names exactly the columns of a key.
fn is_same(target: &[usize], key: &[usize]) -> bool {
    let named: HashSet<usize> = target.iter().copied().collect();
    named == key.iter().copied().collect()
}

/// Whether a target names exactly the keys of an index, and only rows that the index has.
fn is_inferred(
    planner: &Planner<'_>,
    table: &Table,
    index: &Index,
    keys: &ConflictKeys,
) -> Result<bool> {
    let columns: Vec<usize> = index.positions(table).into_iter().flatten().collect();
    if !is_same(&keys.columns, &columns) {
        return Ok(false);
    }
    let texts = index.columns.iter().filter_map(|column| column.key.expression());
    let texts: Vec<RowExpression<'_>> =
        texts.map(|expression| RowExpression::IndexKey(&expression.text)).collect();
    let (_, expressions) = expressions::trees(table, &texts)?;
    let has_all = keys.expressions.iter().all(|key| expressions.contains(key))
        && expressions.iter().all(|expression| keys.expressions.contains(expression));
    let Some(predicate) = index.predicate.as_ref().filter(|_| has_all) else {
        return Ok(has_all);
    };
    let Some(condition) = &keys.condition else { return Ok(false) };
    let (_, predicate) =
        expressions::trees(table, &[RowExpression::IndexPredicate(&predicate.text)])?;
    let mut both = Vec::with_capacity(2);
    for tree in predicate.iter().chain([condition]) {
        both.extend(expressions::plan_tree(planner, table, tree)?.exprs);
    }
    let [predicate, condition] = &both[..] else { return Ok(false) };
    let mut conditions = Vec::new();
    split_conjuncts(condition, &mut conditions);
    Ok(implies(&conditions, predicate))
}

/// The rows whose values an index requires to be unique, and the keys of their entries.
fn entries(
    writer: &Writer<'_>,
    index: &Arc<Index>,
    table: &Arc<Table>,
    rows: &RecordBatch,
) -> Result<(Vec<usize>, Vec<Key>)> {
    let inputs = index.input_positions(table).into_iter();
    let inputs: Vec<ArrayRef> = inputs.map(|at| Arc::clone(rows.column(at))).collect();
    let indexed = writer.transaction.store().indexed(index, table, &inputs, rows.num_rows())?;
    let encoder = EntryEncoder::new(index, &indexed.columns).map_err(store::Error::from)?;
    let is_unique =
        |row: &usize| indexed.has(*row) && (index.nulls_equal || !indexed.has_null(*row));
    let unique: Vec<usize> = (0..rows.num_rows()).filter(is_unique).collect();
    let entries = unique.iter().map(|row| of_entry(&encoder.values(*row))).collect();
    Ok((unique, entries))
}
