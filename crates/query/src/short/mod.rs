//! The short path: statements on rows by their primary key, without the planner of the engine.
//!
//! A prepared statement is recognised once per catalog ([`recognise`]). The forms are queries of one
//! table by its key ([`keyed::Read`]), also `FOR UPDATE`; `INSERT INTO t VALUES (...)`; and `UPDATE t SET
//! ... WHERE ...` and `DELETE FROM t WHERE ...` by the key, part of it, or an index. Changes may return
//! columns. Keys are parameters or constants. Values in SET may also be expressions over the row, and
//! those in VALUES expressions over parameters; both may use the time of the transaction. An execution
//! takes microseconds. All other statements take the long path.
//!
//! In a cluster, the owner of the row returns its newest version, or executes the change as a
//! transaction of its own ([`operation`]). This needs no timestamp from the coordinator and no
//! other participant.

mod adjustment;
mod chosen;
mod computed;
mod insertion;
mod operation;
mod recognise;
mod returning;
mod row_change;
mod row_update;
mod writing;

pub(crate) use operation::{Operations, perform};

use crate::context::outcome::{Outcome, Rows, Tag};
use crate::context::running::ShortWait;
use bytes::Bytes;
use chosen::Chosen;
use chrono::{DateTime, Utc};
use computed::Computed;
use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::ScalarValue;
use datafusion::physical_plan::memory::MemoryStream;
use insertion::Insertion;
use keyed::{Join, Operand, Read};
use returning::Returning;
use row_change::{ChangeKind, Changed, RowChange};
use row_update::RowUpdate;
use std::borrow::Cow;
use std::sync::Arc;
use store::catalog::{Catalog, SqlType, Table};
use store::locks::Mode;
use store::{DistributedTransaction, LockPolicy, Reading, Store, TableView};
use values::assign::assign;
use values::error::{Error, Result, SqlState};
use values::field::Field;
use values::style::Style;

/// Maximum number of attempts of a write that conflicts with other transactions.
const RETRIES: usize = 64;

/// Maximum number of attempts of a write without locks.
const OPTIMISTIC: usize = 32;

/// Maximum number of attempts at the owner of a row. Then the statement continues on the long path.
const RETRIES_AT_OWNER: usize = 4;

/// A statement on the short path.
pub(crate) struct Short {
    table: Arc<Table>,
    action: Action,
    /// What a change returns.
    returning: Option<Returning>,
    /// Whether foreign keys of the table look at what is written.
    is_watched: bool,
    /// Expressions of the condition.
    computed: Option<Computed>,
}

/// The values that an execution gets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given<'a> {
    /// The values of `$1`, `$2`, ...
    pub(crate) parameters: &'a [ScalarValue],
    /// The time at which the transaction began, if it is known.
    pub(crate) moment: Option<DateTime<Utc>>,
    /// Whether the statement has a snapshot of its own, and is executed again when it meets a row that has changed since.
    pub(crate) repeats: bool,
}

enum Action {
    Select {
        read: Box<Read>,
        fields: Arc<[Field]>,
    },
    /// A query of two tables.
    Join(Box<Join>, Arc<[Field]>),
    /// A query that locks the row of its key.
    Lock {
        read: Box<Read>,
        fields: Arc<[Field]>,
        mode: Mode,
        policy: LockPolicy,
    },
    Insert(Box<Insertion>),
    Update {
        chosen: Chosen,
        /// The values of the columns [`RowUpdate::given`].
        given: Vec<Operand>,
        update: Arc<RowUpdate>,
        /// The parameters of [`RowUpdate::computed`], with the types that their places say.
        of_expressions: Vec<(usize, SqlType)>,
        /// The update as sent to the owner of a row; `None` if it is not portable.
        form: Option<Bytes>,
    },
    Delete(Chosen),
}

impl Short {
    /// The indices of the parameters, with the types of the columns that they are compared with or
    /// assigned to.
    pub(crate) fn parameters(&self) -> Vec<(usize, SqlType)> {
        let all = self.all_parameters();
        match &self.computed {
            Some(computed) => computed.own_parameters(all).unwrap_or_default(),
            None => all,
        }
    }

    /// Whether a client declares a parameter with another type than is needed, whose values are texts as well: it would be
    /// converted, or refused.
    pub(crate) fn is_misled(&self, given: &[Option<SqlType>]) -> bool {
        self.parameters().iter().any(|(number, wanted)| {
            let Some(Some(of)) = given.get(*number) else { return false };
            of.arrow().is_string() && wanted.arrow().is_string() && !of.fits(wanted)
        })
    }

    /// As [`Self::parameters`], with those that expressions stand for.
    fn all_parameters(&self) -> Vec<(usize, SqlType)> {
        match &self.action {
            Action::Select { read, .. } | Action::Lock { read, .. } => read.parameters(),
            Action::Join(join, _) => join.parameters(),
            Action::Delete(chosen) => chosen.parameters(&self.table),
            Action::Insert(insertion) => insertion.parameters(&self.table),
            Action::Update { chosen, given, update, of_expressions, .. } => {
                let column = |index: &usize| self.table.columns[*index].sql_type.clone();
                let set = given.iter().zip(&update.given);
                let set =
                    set.filter_map(|(operand, index)| Some((operand.number()?, column(index))));
                let inputs = of_expressions.iter().cloned();
                set.chain(chosen.parameters(&self.table)).chain(inputs).collect()
            }
        }
    }

    /// The columns of the result; `None` if there is none.
    pub(crate) fn fields(&self) -> Option<Vec<Field>> {
        match &self.action {
            Action::Select { fields, .. }
            | Action::Join(_, fields)
            | Action::Lock { fields, .. } => Some(fields.to_vec()),
            _ => self.returning.as_ref().map(|returning| returning.fields.to_vec()),
        }
    }

    /// Executes the statement outside a transaction. `None` if the values require the long path, or
    /// if the catalog has changed since the statement was recognised.
    pub(crate) async fn execute(
        &self,
        store: &Arc<Store>,
        catalog: &Arc<Catalog>,
        given: Given<'_>,
        wait: &mut ShortWait<'_>,
    ) -> Result<Option<Outcome>> {
        let Some(parameters) = self.with_computed(given)? else { return Ok(None) };
        let given = Given { parameters: &parameters, ..given };
        let parameters = &*parameters;
        let (read, fields) = match &self.action {
            Action::Select { read, fields } => (read, fields),
            Action::Join(join, fields) => {
                let reading = store.reading().await?;
                if !Arc::ptr_eq(reading.catalog(), catalog) {
                    return Ok(None);
                }
                return rows(fields, join.rows(|id| reading.table(id), parameters)?);
            }
            // The locks would be released at once.
            Action::Lock { .. } => return Ok(None),
            _ => return self.write(store, catalog, given, wait).await,
        };
        let Some(peers) = store.peers() else {
            let reading = store.reading().await?;
            let view = reading.table(self.table.id);
            let view = view.filter(|_| Arc::ptr_eq(reading.catalog(), catalog));
            let Some(view) = view else { return Ok(None) };
            return rows(fields, read.rows(&view, parameters)?);
        };
        if !Arc::ptr_eq(&store.catalog(), catalog) {
            return Ok(None);
        }
        let Some(key) = read.key(parameters)? else { return Ok(None) };
        match store.find_newest(&**peers, &self.table, &key, read.columns()).await {
            Err(error) if error.is_retryable() => Ok(None),
            found => rows(fields, Some(row(read.schema(), found?)?)),
        }
    }

    /// The rows of a query at a snapshot; `None` as for [`Self::execute`], and for a change.
    pub(crate) async fn rows_at(
        &self,
        reading: &Reading,
        parameters: &[ScalarValue],
    ) -> Result<Option<Outcome>> {
        match &self.action {
            Action::Select { read, fields } if self.computed.is_none() => {
                let Some(view) = reading.table(self.table.id) else { return Ok(None) };
                rows_in(&view, (read, fields), parameters).await
            }
            Action::Join(join, fields) => {
                rows(fields, join.rows(|id| reading.table(id), parameters)?)
            }
            _ => Ok(None),
        }
    }

    /// As [`Self::rows_at`], where all rows are on this server.
    pub(crate) fn rows_here(
        &self,
        reading: &Reading,
        parameters: &[ScalarValue],
    ) -> Result<Option<(&[Field], RecordBatch)>> {
        let (fields, rows) = match &self.action {
            Action::Select { read, fields } if self.computed.is_none() => {
                let Some(view) = reading.table(self.table.id) else { return Ok(None) };
                (fields, read.rows(&view, parameters)?)
            }
            Action::Join(join, fields) => (fields, join.rows(|id| reading.table(id), parameters)?),
            _ => return Ok(None),
        };
        Ok(rows.map(|rows| (&**fields, rows)))
    }

    /// Executes the statement in a transaction; `None` as for [`Self::execute`]. After an error,
    /// the transaction may contain part of the changes.
    pub(crate) async fn execute_in(
        &self,
        transaction: &mut DistributedTransaction,
        given: Given<'_>,
    ) -> Result<Option<Outcome>> {
        let Some(parameters) = self.with_computed(given)? else { return Ok(None) };
        let given = Given { parameters: &parameters, ..given };
        match &self.action {
            Action::Select { read, fields } => {
                let Some(view) = transaction.table(self.table.id) else { return Ok(None) };
                rows_in(&view, (read, fields), given.parameters).await
            }
            Action::Join(join, fields) => {
                rows(fields, join.rows(|id| transaction.table(id), given.parameters)?)
            }
            Action::Lock { read, fields, mode, policy } => {
                let Some(view) = transaction.table(self.table.id) else { return Ok(None) };
                let Some(key) = read.key(given.parameters)? else { return Ok(None) };
                let mut found = view.find(&key, read.columns()).await?;
                if found.is_some() {
                    let keys = std::slice::from_ref(&key);
                    let locked =
                        transaction.lock_selected(self.table.id, keys, *mode, *policy).await?;
                    found = found.filter(|_| locked == [true]);
                }
                rows(fields, Some(row(read.schema(), found)?))
            }
            _ => match self.change(transaction, given).await? {
                Some(changed) => self.done(changed).map(Some),
                None => Ok(None),
            },
        }
    }

    /// The parameters, with the values of the expressions of the condition behind them. `None` as for [`Self::execute`].
    fn with_computed<'g>(&self, given: Given<'g>) -> Result<Option<Cow<'g, [ScalarValue]>>> {
        match &self.computed {
            Some(computed) => Ok(computed.with_values(given)?.map(Cow::Owned)),
            None => Ok(Some(Cow::Borrowed(given.parameters))),
        }
    }

    /// Changes the rows of a statement that is no query; `None` as for [`Self::execute`].
    async fn change(
        &self,
        transaction: &mut DistributedTransaction,
        given: Given<'_>,
    ) -> Result<Option<Changed>> {
        match &self.action {
            Action::Update { chosen, given: operands, update, .. } if chosen.key().is_none() => {
                let Some(values) = self.assigned(operands, update, given)? else { return Ok(None) };
                let found = chosen.find(&self.table, transaction, given).await?;
                return match found {
                    Some((keys, _)) if keys.is_empty() => Ok(Some(Changed::default())),
                    Some((_, rows)) => {
                        update.write(transaction, &rows, &values).await.map(|new| Some(new.into()))
                    }
                    None => Ok(None),
                };
            }
            Action::Delete(chosen) if chosen.key().is_none() => {
                let found = chosen.find(&self.table, transaction, given).await?;
                let Some((keys, rows)) = found else { return Ok(None) };
                if !keys.is_empty() {
                    transaction.delete(self.table.id, &keys).await?;
                }
                return Ok(Some(rows.into()));
            }
            _ => {}
        }
        let Some(changes) = self.changes(given)? else { return Ok(None) };
        let mut changed = Changed::default();
        for change in changes {
            changed.add(change.apply(transaction, self.returning.is_some()).await?);
        }
        Ok(Some(changed))
    }

    /// Whether the statement locks rows before it changes them.
    fn locks_first(&self) -> bool {
        matches!(
            &self.action,
            Action::Update { chosen: Chosen::Locked(_), .. } | Action::Delete(Chosen::Locked(_))
        )
    }

    fn form(&self) -> Option<&Bytes> {
        match &self.action {
            Action::Update { form, .. } => form.as_ref(),
            _ => None,
        }
    }

    /// The changes, by row; `None` if a value of a key cannot be converted exactly, or if the keys are still to be found.
    fn changes(&self, given: Given<'_>) -> Result<Option<Vec<RowChange>>> {
        let (chosen, kind) = match &self.action {
            Action::Select { .. } | Action::Join(..) | Action::Lock { .. } => return Ok(None),
            Action::Insert(insertion) => {
                let Some(rows) = insertion.assembled(given)? else { return Ok(None) };
                let insert = |row| RowChange::insert(&self.table, row);
                return rows.into_iter().map(insert).collect::<Result<_>>().map(Some);
            }
            Action::Update { chosen, given: operands, update, .. } => {
                let Some(values) = self.assigned(operands, update, given)? else { return Ok(None) };
                (chosen, ChangeKind::Update(Arc::clone(update), values))
            }
            Action::Delete(chosen) => (chosen, ChangeKind::Delete),
        };
        let Some(key) = chosen.key() else { return Ok(None) };
        let key = keyed::point(&self.table, key, given.parameters)?;
        Ok(key.map(|key| vec![RowChange { table: Arc::clone(&self.table), key, kind }]))
    }

    /// The values that an UPDATE assigns, followed by those of its inputs. `None` if one has another type than was planned.
    fn assigned(
        &self,
        operands: &[Operand],
        update: &RowUpdate,
        given: Given<'_>,
    ) -> Result<Option<Vec<ArrayRef>>> {
        let mut values = Vec::with_capacity(operands.len());
        for (operand, column) in operands.iter().zip(&update.given) {
            let value = operand.value(given.parameters)?.to_array()?;
            values.push(assign(&value, &self.table.columns[*column], Style::default())?);
        }
        let Some(inputs) = update.inputs.values(given.parameters, given.moment) else {
            return Ok(None);
        };
        for input in inputs {
            values.push(input.to_array()?);
        }
        Ok(Some(values))
    }

    /// The outcome of a change.
    fn done(&self, changed: Changed) -> Result<Outcome> {
        let command = match &self.action {
            Action::Select { .. } | Action::Join(..) | Action::Lock { .. } => "SELECT",
            Action::Insert(_) => "INSERT",
            Action::Update { .. } => "UPDATE",
            Action::Delete(_) => "DELETE",
        };
        match &self.returning {
            Some(returning) => returning.outcome(command, &changed.rows),
            None => Ok(Outcome::Done(Tag::counted(command, changed.count))),
        }
    }
}

fn is_deadlock(error: &Error) -> bool {
    error.state() == SqlState::DeadlockDetected
}

/// The outcome of a SELECT in a view of its table; `None` if its rows require the long path.
async fn rows_in(
    view: &TableView,
    (read, fields): (&Read, &Arc<[Field]>),
    parameters: &[ScalarValue],
) -> Result<Option<Outcome>> {
    if view.peers().is_none() {
        return rows(fields, read.rows(view, parameters)?);
    }
    match read.key(parameters)? {
        Some(key) => {
            let found = view.find(&key, read.columns()).await?;
            rows(fields, Some(row(read.schema(), found)?))
        }
        None => match read.rows_here(view, parameters) {
            Err(error) if error.is_retryable() => Ok(None),
            found => rows(fields, found?),
        },
    }
}

/// The outcome of a SELECT; `None` if its rows require the long path.
fn rows(fields: &Arc<[Field]>, found: Option<RecordBatch>) -> Result<Option<Outcome>> {
    found.map(|found| ready(fields, found)).transpose()
}

/// The outcome of a SELECT whose rows are known.
pub(crate) fn ready(fields: &Arc<[Field]>, rows: RecordBatch) -> Result<Outcome> {
    let schema = rows.schema();
    let stream = MemoryStream::try_new(vec![rows], schema, None)?;
    Ok(Outcome::Rows(Rows::ready(Arc::clone(fields), stream, "SELECT")))
}

/// The rows of a key: one or none.
fn row(schema: &SchemaRef, found: Option<Vec<ArrayRef>>) -> Result<RecordBatch> {
    let Some(values) = found else { return Ok(RecordBatch::new_empty(Arc::clone(schema))) };
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), values, &options)?)
}
