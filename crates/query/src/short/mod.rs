//! The short path: statements on rows by their primary key, without the planner of the engine.
//!
//! A prepared statement is recognised once per catalog ([`recognise`]). The forms are queries of one
//! table by its key ([`keyed::Read`]), `INSERT INTO t VALUES (...)`, `UPDATE t SET ... WHERE key =
//! ...` and `DELETE FROM t WHERE key = ...`. Keys and values are parameters or constants; values in
//! SET may also be expressions over the row. An execution takes microseconds. All other statements
//! take the long path.
//!
//! In a cluster, the owner of the row returns its newest version, or executes the change as a
//! transaction of its own ([`operation`]). This needs no timestamp from the coordinator and no
//! other participant.

mod adjustment;
mod named;
mod operation;
mod recognise;
mod row_change;
mod row_update;

pub(crate) use named::{Numbered, fits};
pub(crate) use operation::{Operations, perform};

use crate::context::outcome::{Outcome, Rows, Tag};
use crate::context::running::ShortWait;
use bytes::Bytes;
use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::ScalarValue;
use datafusion::physical_plan::memory::MemoryStream;
use keyed::{Operand, Read, one_value};
use row_change::{ChangeKind, RowChange};
use row_update::RowUpdate;
use sdds::Key;
use std::sync::Arc;
use store::catalog::{Catalog, SqlType, Table};
use store::{DistributedTransaction, Peers, Reading, Store, TableView};
use table_rows::Assembly;
use values::assign::assign;
use values::error::{Error, Result, SqlState};
use values::field::Field;
use values::style::Style;
use values::types;

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
}

enum Action {
    Select {
        read: Box<Read>,
        fields: Arc<[Field]>,
    },
    Insert {
        rows: Vec<Vec<Operand>>,
        assembly: Box<Assembly>,
        schema: SchemaRef,
    },
    Update {
        key: Vec<Operand>,
        /// The values of the columns [`RowUpdate::given`].
        given: Vec<Operand>,
        update: Arc<RowUpdate>,
        /// The update as sent to the owner of a row; `None` if it is not portable.
        form: Option<Bytes>,
    },
    Delete {
        key: Vec<Operand>,
    },
}

impl Short {
    /// The indices of the parameters, with the types of the columns that they are compared with or
    /// assigned to.
    pub(crate) fn parameters(&self) -> Box<dyn Iterator<Item = (usize, SqlType)> + '_> {
        let column = |index: usize| self.table.columns[index].sql_type.clone();
        let of_key = move |key: &'_ [Operand]| -> Vec<(usize, SqlType)> {
            let operands = key.iter().zip(self.table.key_indices());
            operands
                .filter_map(|(operand, index)| Some((operand.number()?, column(index))))
                .collect()
        };
        match &self.action {
            Action::Select { read, .. } => Box::new(read.parameters().into_iter()),
            Action::Delete { key } => Box::new(of_key(key).into_iter()),
            Action::Insert { rows, schema, .. } => Box::new(rows.iter().flat_map(move |row| {
                let operands = row.iter().zip(schema.fields());
                operands.filter_map(|(operand, field)| {
                    let (_, column) = self.table.column(field.name())?;
                    Some((operand.number()?, column.sql_type.clone()))
                })
            })),
            Action::Update { key, given, update, .. } => {
                let operands = given.iter().zip(&update.given);
                let set = operands
                    .filter_map(move |(operand, index)| Some((operand.number()?, column(*index))));
                let inputs = update.inputs.parameters();
                let inputs = inputs.map(|(number, of)| (number, types::of_arrow(of)));
                Box::new(set.chain(of_key(key)).chain(inputs))
            }
        }
    }

    /// The columns of the result; `None` if there is none.
    pub(crate) fn fields(&self) -> Option<Vec<Field>> {
        match &self.action {
            Action::Select { fields, .. } => Some(fields.to_vec()),
            _ => None,
        }
    }

    /// Executes the statement outside a transaction. `None` if the values require the long path, or
    /// if the catalog has changed since the statement was recognised.
    pub(crate) async fn execute(
        &self,
        store: &Arc<Store>,
        catalog: &Arc<Catalog>,
        parameters: &[ScalarValue],
        wait: &mut ShortWait<'_>,
    ) -> Result<Option<Outcome>> {
        let Action::Select { read, fields } = &self.action else {
            return self.write(store, catalog, parameters, wait).await;
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
        let Action::Select { read, fields } = &self.action else { return Ok(None) };
        let Some(view) = reading.table(self.table.id) else { return Ok(None) };
        rows_in(&view, (read, fields), parameters).await
    }

    /// Executes the statement in a transaction; `None` as for [`Self::execute`]. After an error,
    /// the transaction may contain part of the changes.
    pub(crate) async fn execute_in(
        &self,
        transaction: &mut DistributedTransaction,
        parameters: &[ScalarValue],
    ) -> Result<Option<Outcome>> {
        if let Action::Select { read, fields } = &self.action {
            let Some(view) = transaction.table(self.table.id) else { return Ok(None) };
            return rows_in(&view, (read, fields), parameters).await;
        }
        let Some(changes) = self.changes(parameters)? else { return Ok(None) };
        let mut rows = 0;
        for change in changes {
            rows += change.apply(transaction).await?;
        }
        Ok(Some(self.done(rows)))
    }

    /// Executes the statement in a transaction that locks what it writes, again whenever it has waited for other
    /// transactions or meets their changes. `None` as for [`Self::execute`], and if it would have to wait for another server.
    ///
    /// # Errors
    /// Those of the statement, 40P01, 55P03, 57014.
    pub(crate) async fn execute_waiting(
        &self,
        transaction: &mut DistributedTransaction,
        parameters: &[ScalarValue],
        wait: &mut ShortWait<'_>,
    ) -> Result<Option<Outcome>> {
        if let Action::Select { .. } = &self.action {
            return self.execute_in(transaction, parameters).await;
        }
        let catalog = Arc::clone(transaction.catalog());
        while Arc::ptr_eq(transaction.catalog(), &catalog) {
            let before = transaction.savepoint();
            transaction.wait_for_locks(false);
            let done = self.execute_in(transaction, parameters).await;
            transaction.wait_for_locks(true);
            match done {
                Err(error)
                    if error.state() == SqlState::LockNotAvailable && !transaction.has_wait() =>
                {
                    transaction.rollback_to(&before).await?;
                    return Ok(None);
                }
                Err(error) => wait.rolled_back(transaction, &before, error).await?,
                done => return done,
            }
        }
        Ok(None)
    }

    async fn write(
        &self,
        store: &Arc<Store>,
        catalog: &Arc<Catalog>,
        parameters: &[ScalarValue],
        wait: &mut ShortWait<'_>,
    ) -> Result<Option<Outcome>> {
        if let Some(peers) = store.peers()
            && self.is_of_one_row()
        {
            return self.write_at_owner(store, &**peers, catalog, parameters, wait).await;
        }
        for attempt in 0..RETRIES {
            let mut transaction = store.begin_distributed().await?;
            if !Arc::ptr_eq(transaction.catalog(), catalog) {
                return Ok(None);
            }
            // Without locks as long as nobody has any of these rows: who comes second tries again at once.
            let done = if attempt == 0
                || (attempt < OPTIMISTIC && !self.meets_locks(store, parameters)?)
            {
                self.execute_in(&mut transaction, parameters).await
            } else {
                transaction.lock_rows(wait.waiting.party, wait.waiting.patience);
                self.execute_waiting(&mut transaction, parameters, wait).await
            };
            let outcome = match done {
                // It holds nothing from before, and may begin anew without its client.
                Err(error) if error.is_retryable() || is_deadlock(&error) => continue,
                done => done?,
            };
            let Some(outcome) = outcome else { return Ok(None) };
            match transaction.commit().await {
                Ok(_) => return Ok(Some(outcome)),
                Err(error) if error.is_retryable() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// Whether another transaction has locked a row that the statement writes.
    fn meets_locks(&self, store: &Store, parameters: &[ScalarValue]) -> Result<bool> {
        let changes = self.changes(parameters)?.unwrap_or_default();
        Ok(changes.iter().any(|change| store.is_locked(change.table.id, &change.key)))
    }

    /// Writes a single row at its owner: this server or another one.
    async fn write_at_owner(
        &self,
        store: &Arc<Store>,
        peers: &dyn Peers,
        catalog: &Arc<Catalog>,
        parameters: &[ScalarValue],
        wait: &mut ShortWait<'_>,
    ) -> Result<Option<Outcome>> {
        let Some(change) = self.changes(parameters)?.and_then(|mut changes| changes.pop()) else {
            return Ok(None);
        };
        let mut operation = None;
        for attempt in 0..RETRIES_AT_OWNER {
            let result = match store.begin_newest(peers, self.table.id, &change.key).await? {
                Some(transaction) if !Arc::ptr_eq(transaction.catalog(), catalog) => {
                    return Ok(None);
                }
                Some(transaction) if attempt == 0 => change.commit(transaction).await,
                Some(mut transaction) => {
                    transaction.lock_rows(wait.waiting.party, wait.waiting.patience);
                    match self.execute_waiting(&mut transaction, parameters, wait).await {
                        Ok(None) => return Ok(None),
                        Ok(Some(outcome)) => match transaction.commit().await {
                            Ok(_) => return Ok(Some(outcome)),
                            Err(error) => Err(error.into()),
                        },
                        Err(error) => Err(error),
                    }
                }
                None => {
                    if operation.is_none() {
                        operation = operation::to_bytes(&change, self.form())?;
                    }
                    let Some(operation) = operation.clone() else { return Ok(None) };
                    let result = peers.row_operation(&self.table, &change.key, operation).await;
                    if let Err(store::Error::SchemaConflict { .. }) = result {
                        return Ok(None);
                    }
                    result.map_err(Into::into)
                }
            };
            match result {
                Err(error) if error.is_retryable() || is_deadlock(&error) => {
                    tokio::task::yield_now().await;
                }
                result => return Ok(Some(self.done(result?))),
            }
        }
        Ok(None)
    }

    fn is_of_one_row(&self) -> bool {
        match &self.action {
            Action::Insert { rows, .. } => rows.len() == 1,
            _ => true,
        }
    }

    fn form(&self) -> Option<&Bytes> {
        match &self.action {
            Action::Update { form, .. } => form.as_ref(),
            _ => None,
        }
    }

    /// The changes, by row; `None` if a value of a key cannot be converted exactly.
    fn changes(&self, parameters: &[ScalarValue]) -> Result<Option<Vec<RowChange>>> {
        let (key, kind) = match &self.action {
            Action::Select { .. } => return Ok(None),
            Action::Insert { rows, assembly, schema } => {
                let insert = |row: &Vec<Operand>| {
                    let mut values = Vec::with_capacity(row.len());
                    for (operand, field) in row.iter().zip(schema.fields()) {
                        let value = operand.value(parameters)?;
                        values.push(one_value(value, field.data_type())?);
                    }
                    RowChange::insert(&self.table, assembly.assemble(&one_row(&values)?)?)
                };
                return rows.iter().map(insert).collect::<Result<_>>().map(Some);
            }
            Action::Update { key, given, update, .. } => {
                let mut values = Vec::with_capacity(given.len());
                for (operand, column) in given.iter().zip(&update.given) {
                    let value = operand.value(parameters)?.to_array()?;
                    values.push(assign(&value, &self.table.columns[*column], Style::default())?);
                }
                let Some(inputs) = update.inputs.values(parameters, None) else { return Ok(None) };
                for input in inputs {
                    values.push(input.to_array()?);
                }
                (key, ChangeKind::Update(Arc::clone(update), values))
            }
            Action::Delete { key } => (key, ChangeKind::Delete),
        };
        let key = self.key(key, parameters)?;
        Ok(key.map(|key| vec![RowChange { table: Arc::clone(&self.table), key, kind }]))
    }

    /// The outcome of a write.
    fn done(&self, rows: u64) -> Outcome {
        let command = match &self.action {
            Action::Select { .. } => "SELECT",
            Action::Insert { .. } => "INSERT",
            Action::Update { .. } => "UPDATE",
            Action::Delete { .. } => "DELETE",
        };
        Outcome::Done(Tag::counted(command, rows))
    }

    /// The encoded key; `None` if a value cannot be converted exactly to the type of its column.
    fn key(&self, key: &[Operand], parameters: &[ScalarValue]) -> Result<Option<Key>> {
        keyed::point(&self.table, key, parameters)
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
    let Some(key) = read.key(parameters)? else { return Ok(None) };
    let found = view.find(&key, read.columns()).await?;
    rows(fields, Some(row(read.schema(), found)?))
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

fn one_row(values: &[ArrayRef]) -> Result<RecordBatch> {
    use datafusion::arrow::datatypes::Field;
    let fields = values.iter().map(|value| Field::new("", value.data_type().clone(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    Ok(RecordBatch::try_new_with_options(schema, values.to_vec(), &options)?)
}
