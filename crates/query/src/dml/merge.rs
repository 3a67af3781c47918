//! MERGE.

use super::assignment::assigned_rows;
use super::insert::given;
use super::rows::Rows;
use super::triggered::{self, Firings, of_rows};
use super::update::{assigned, keys_of, moves_keys};
use super::writer::{Changed, Writer};
use crate::analysis::changes::{When, WhenAction};
use crate::context::Frame;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array};
use datafusion::arrow::compute::take_record_batch;
use datafusion::physical_plan::ExecutionPlan;
use planner::Planner;
use planner::over_rows::OverRows;
use sdds::Key;
use std::collections::HashSet;
use std::sync::Arc;
use store::TableView;
use table_rows::Assembly;
use table_rows::Constraints;
use values::error::{Error, Result, SqlState};

/// What a clause does to a row, in the error for one that a function has changed.
const CHANGED: &str = "updated or deleted";

/// A planned MERGE.
pub(super) struct Merge {
    view: TableView,
    /// Returns the pairs: the columns of the table, which are NULL in a row without a partner, and those of the source.
    pub(super) query: Arc<dyn ExecutionPlan>,
    clauses: Vec<Clause>,
    constraints: Arc<Constraints>,
}

/// A WHEN clause.
struct Clause {
    is_matched: bool,
    condition: Option<OverRows>,
    action: Action,
}

enum Action {
    Nothing,
    Delete,
    Update(Vec<usize>, OverRows),
    Insert(Arc<Assembly>, OverRows),
}

/// What the clauses do to the table.
#[derive(Default)]
struct Effects {
    /// The rows of the table that were updated or deleted.
    seen: HashSet<Key>,
    deleted: Vec<(Vec<Key>, Vec<ArrayRef>)>,
    /// Old rows, and new ones with their keys.
    updated: Vec<Update>,
    /// New rows, and the clause that inserts them.
    inserted: Vec<(usize, Vec<ArrayRef>)>,
}

/// New rows in place of old ones.
struct Update {
    keys: Vec<Key>,
    old: Vec<ArrayRef>,
    /// The new rows. They are not checked yet.
    new: Vec<ArrayRef>,
    moves_keys: bool,
}

/// What a MERGE may do.
pub(super) struct Operations {
    pub(super) insert: bool,
    /// The columns that it may assign, if it may update rows.
    pub(super) update: Option<Vec<usize>>,
    pub(super) delete: bool,
}

impl Merge {
    /// What its clauses may do.
    pub(super) fn operations(&self) -> Operations {
        let mut done = Operations { insert: false, update: None, delete: false };
        for clause in &self.clauses {
            match &clause.action {
                Action::Nothing => {}
                Action::Delete => done.delete = true,
                Action::Insert(..) => done.insert = true,
                Action::Update(targets, _) => {
                    done.update.get_or_insert_default().extend_from_slice(targets);
                }
            }
        }
        done
    }

    pub(super) fn new(
        frame: &Frame<'_>,
        planner: &Planner<'_>,
        view: TableView,
        query: Arc<dyn ExecutionPlan>,
        whens: Vec<When>,
    ) -> Result<Self> {
        let table = view.table();
        let mut clauses = Vec::with_capacity(whens.len());
        for When { is_matched, condition, action } in whens {
            let action = match action {
                WhenAction::Nothing => Action::Nothing,
                WhenAction::Delete => Action::Delete,
                WhenAction::Update(targets, values) => {
                    Action::Update(assigned(table, &targets)?, values)
                }
                WhenAction::Insert(targets, values, overriding) => {
                    let columns = given(table, &targets, overriding)?;
                    let store = &frame.session.shared.store;
                    let assembly = Assembly::new(planner, store, table, &columns)?;
                    Action::Insert(Arc::new(assembly), values)
                }
            };
            clauses.push(Clause { is_matched, condition, action });
        }
        let constraints = Arc::new(Constraints::new(planner, table)?);
        Ok(Self { view, query, clauses, constraints })
    }

    pub(super) fn query(&self) -> &Arc<dyn ExecutionPlan> {
        &self.query
    }

    pub(super) async fn run(
        self,
        frame: &Frame<'_>,
        planner: &Planner<'_>,
        writer: &mut Writer<'_>,
        firings: &mut Firings,
    ) -> Result<Changed> {
        let mut stream = Rows::of(frame, writer, (Arc::clone(&self.query), None))?;
        let (mut effects, mut count) = (Effects::default(), 0);
        let key = self.view.table().key_indices()[0];
        while let Some(batch) = stream.next(writer).await? {
            let mut rest: Vec<u32> = (0..batch.num_rows() as u32).collect();
            let partner = Arc::clone(batch.column(key));
            for (number, clause) in self.clauses.iter().enumerate() {
                let is_kind = |row: &u32| partner.is_valid(*row as usize) == clause.is_matched;
                let of_kind: Vec<u32> = rest.iter().copied().filter(is_kind).collect();
                if of_kind.is_empty() {
                    continue;
                }
                let chosen = clause.chosen(planner, writer, &batch, of_kind).await?;
                let taken: HashSet<u32> = chosen.iter().copied().collect();
                rest.retain(|row| !taken.contains(row));
                let rows = take_record_batch(&batch, &UInt32Array::from(chosen))?;
                self.act(planner, writer, (number, clause), rows, &mut effects).await?;
            }
            if writer.is_in_turn() {
                count += self.write(frame, writer, &mut effects, firings).await?;
            }
        }
        count += self.write(frame, writer, &mut effects, firings).await?;
        Ok(Changed { count, ..Changed::default() })
    }

    /// Writes the effects, and returns how many rows were written.
    async fn write(
        &self,
        frame: &Frame<'_>,
        writer: &mut Writer<'_>,
        effects: &mut Effects,
        firings: &mut Firings,
    ) -> Result<u64> {
        let seen = std::mem::take(&mut effects.seen);
        let done = std::mem::replace(effects, Effects { seen, ..Effects::default() });
        let Effects { deleted, updated, inserted, .. } = done;
        let (view, mut written) = (&self.view, 0);
        for (keys, old) in deleted {
            let was = triggered::batch(view, &old)?;
            triggered::refuse_changed_in_turn(writer, view, &was, CHANGED).await?;
            match of_rows(&mut firings.delete) {
                Some(firing) => {
                    let done = triggered::delete(firing, frame, writer, view, &old).await?;
                    written += done.places.len() as u64;
                }
                None => {
                    written += keys.len() as u64;
                    writer.delete(view, keys).await?;
                }
            }
        }
        for Update { keys, old, new, moves_keys } in updated {
            let was = triggered::batch(view, &old)?;
            triggered::refuse_changed_in_turn(writer, view, &was, CHANGED).await?;
            if let Some(firing) = of_rows(&mut firings.update) {
                let target = (view, &self.constraints);
                let done = triggered::update(firing, frame, writer, target, (&old, &new)).await?;
                written += done.places.len() as u64;
                continue;
            }
            let rows = writer.checked(&self.constraints, new).await?;
            written += rows.num_rows() as u64;
            match moves_keys {
                true => writer.replace(view, keys, vec![rows]).await?,
                false => writer.upsert(view, rows).await?,
            }
        }
        for (clause, columns) in inserted {
            let Action::Insert(assembly, _) = &self.clauses[clause].action else { continue };
            let constraints = assembly.constraints();
            if let Some(firing) = of_rows(&mut firings.insert) {
                let target = (view, constraints);
                let done = triggered::insert(firing, frame, writer, target, columns).await?;
                written += done.places.len() as u64;
                continue;
            }
            let rows = writer.insert_checked((view, constraints), columns).await?;
            written += rows.num_rows() as u64;
        }
        Ok(written)
    }

    /// Adds what a clause does to pairs.
    async fn act(
        &self,
        planner: &Planner<'_>,
        writer: &mut Writer<'_>,
        (number, clause): (usize, &Clause),
        pairs: RecordBatch,
        effects: &mut Effects,
    ) -> Result<()> {
        let table = self.view.table();
        match &clause.action {
            Action::Nothing => {}
            Action::Delete => {
                let keys = self.change(writer, &pairs, effects)?;
                let old = pairs.columns()[..table.columns.len()].to_vec();
                effects.deleted.push((keys, old));
            }
            Action::Update(targets, values) => {
                let keys = self.change(writer, &pairs, effects)?;
                let values = writer.values(planner, values, pairs.columns()).await?;
                let old = &pairs.columns()[..table.columns.len()];
                let columns = [old, values.columns()].concat();
                let new = assigned_rows(table, &columns, targets, &self.constraints)?;
                let (old, moves_keys) = (old.to_vec(), moves_keys(table, targets));
                effects.updated.push(Update { keys, old, new, moves_keys });
            }
            Action::Insert(assembly, values) => {
                let values = writer.values(planner, values, pairs.columns()).await?;
                let assembly = Arc::clone(assembly);
                let columns = async move { assembly.columns(&values) };
                effects.inserted.push((number, writer.computed(columns).await?));
            }
        }
        Ok(())
    }

    /// Notes that the rows of the table in pairs are changed, and returns their keys.
    ///
    /// # Errors
    /// 21000 if the statement has changed one of them.
    fn change(
        &self,
        writer: &Writer<'_>,
        pairs: &RecordBatch,
        effects: &mut Effects,
    ) -> Result<Vec<Key>> {
        let keys = keys_of(&self.view, pairs)?;
        for key in &keys {
            let is_changed = writer.changed(&self.view, key).is_some();
            if is_changed || !effects.seen.insert(key.clone()) {
                let message = "MERGE command cannot affect row a second time";
                return Err(Error::new(SqlState::CardinalityViolation, message).with_hint(
                    "Ensure that not more than one source row matches any one target row.",
                ));
            }
        }
        Ok(keys)
    }
}

impl Clause {
    /// Those of some pairs that fulfil the condition.
    async fn chosen(
        &self,
        planner: &Planner<'_>,
        writer: &mut Writer<'_>,
        batch: &RecordBatch,
        pairs: Vec<u32>,
    ) -> Result<Vec<u32>> {
        let Some(condition) = &self.condition else { return Ok(pairs) };
        let rows = take_record_batch(batch, &UInt32Array::from(pairs.clone()))?;
        let holds = writer.values(planner, condition, rows.columns()).await?;
        let holds = holds.column(0).as_boolean();
        let fulfils = |at: usize| holds.is_valid(at) && holds.value(at);
        let pairs = pairs.into_iter().enumerate();
        Ok(pairs.filter(|(at, _)| fulfils(*at)).map(|(_, row)| row).collect())
    }
}
