//! Row operations: the change of one row, sent to its owner, which executes it as a transaction
//! of its own.
//!
//! An UPDATE has a constant part and a variable part. The constant part is planned and serialized
//! once per statement ([`Form`]), and the owner caches its deserialized form ([`Operations`]). The
//! variable part is the key and the values of the parameters.

use super::RETRIES;
use super::row_change::{ChangeKind, RowChange};
use super::row_update::RowUpdate;
use crate::context::Shared;
use bytes::Bytes;
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema, TimeUnit};
use distributed::{expressions, out_of_range, rows_from_bytes, rows_to_bytes};
use parking_lot::Mutex;
use planner::inputs::Inputs;
use sdds::{Key, KeyRange};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use store::catalog::{Catalog, Table, TableId};
use store::locks::Party;
use table_rows::Constraints;
use values::error::{Error, Result, SqlState};
use values::translate::to_store_error;

/// In the number of a party: it is no session.
const NO_SESSION: u64 = 1 << 40;

/// Maximum number of cached updates. A full cache is cleared.
const CACHED_MAX: usize = 1 << 10;

/// The cache of updates that other servers have sent, by their serialized form.
#[derive(Default)]
pub(crate) struct Operations(Mutex<HashMap<Box<[u8]>, Arc<RowUpdate>>>);

impl fmt::Debug for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operations").field("cached", &self.0.lock().len()).finish()
    }
}

/// The serialized form of a row operation, without the key.
#[derive(Serialize, Deserialize)]
enum Message<'a> {
    Insert {
        table: u32,
        version: u32,
        #[serde(borrow)]
        row: &'a [u8],
    },
    Update {
        form: &'a [u8],
        /// A batch of one row: the given values, then the inputs; `None` if there are none.
        given: Option<&'a [u8]>,
    },
    Delete {
        table: u32,
        version: u32,
    },
}

/// The constant part of an UPDATE.
#[derive(Serialize, Deserialize)]
struct Form<'a> {
    table: u32,
    version: u32,
    /// See [`RowUpdate::given`].
    given: Vec<usize>,
    /// The types of [`RowUpdate::inputs`].
    inputs: Vec<InputKind>,
    /// The columns of [`RowUpdate::computed`].
    computed: Vec<usize>,
    /// The expressions of [`RowUpdate::computed`], then those of [`Constraints::expressions`];
    /// `None` if there are none.
    #[serde(borrow)]
    expressions: Option<&'a [u8]>,
}

/// The serialized type of an input.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum InputKind {
    Int16,
    Int32,
    Int64,
    Float32,
    Float64,
    Text,
    Boolean,
    /// `now()`.
    Moment,
}

impl InputKind {
    const ALL: [Self; 8] = [
        Self::Int16,
        Self::Int32,
        Self::Int64,
        Self::Float32,
        Self::Float64,
        Self::Text,
        Self::Boolean,
        Self::Moment,
    ];

    fn of(data_type: &DataType) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.data_type() == *data_type)
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Int16 => DataType::Int16,
            Self::Int32 => DataType::Int32,
            Self::Int64 => DataType::Int64,
            Self::Float32 => DataType::Float32,
            Self::Float64 => DataType::Float64,
            Self::Text => DataType::Utf8View,
            Self::Boolean => DataType::Boolean,
            Self::Moment => DataType::Timestamp(TimeUnit::Nanosecond, Some("+00:00".into())),
        }
    }
}

/// Serializes the constant part of an UPDATE. Its expressions must be portable. `None` if it has inputs of other types than
/// [`InputKind`]s.
pub(super) fn form_of(update: &RowUpdate) -> Result<Option<Bytes>> {
    let table = &update.table;
    let inputs = update.inputs.types().map(InputKind::of);
    let Some(inputs) = inputs.collect::<Option<Vec<_>>>() else { return Ok(None) };
    let values = update.computed.iter().map(|(_, value)| Arc::clone(value));
    let all: Vec<_> = values.chain(update.constraints.expressions()).collect();
    let expressions = if all.is_empty() {
        None
    } else {
        Some(expressions::to_bytes(table, &update.inputs.fields(), all)?)
    };
    serialize(&Form {
        table: table.id.0,
        version: table.version,
        given: update.given.clone(),
        inputs,
        computed: update.computed.iter().map(|(column, _)| *column).collect(),
        expressions: expressions.as_deref(),
    })
    .map(Some)
}

/// Serializes a change for the owner of its row; `None` for an UPDATE without a form.
pub(super) fn to_bytes(change: &RowChange, form: Option<&Bytes>) -> Result<Option<Bytes>> {
    let (table, version) = (change.table.id.0, change.table.version);
    Ok(Some(match (&change.kind, form) {
        (ChangeKind::Insert(row), _) => {
            let row = rows_to_bytes(&row.schema(), std::slice::from_ref(row))?;
            serialize(&Message::Insert { table, version, row: &row })?
        }
        (ChangeKind::Update(update, given), Some(form)) => {
            let given = if given.is_empty() {
                None
            } else {
                let row = given_row(update, given.clone())?;
                Some(rows_to_bytes(&row.schema(), &[row])?)
            };
            serialize(&Message::Update { form, given: given.as_deref() })?
        }
        (ChangeKind::Update(..), None) => return Ok(None),
        (ChangeKind::Delete, _) => serialize(&Message::Delete { table, version })?,
    }))
}

fn serialize<T: Serialize>(value: &T) -> Result<Bytes> {
    let bytes = postcard::to_stdvec(value);
    let failed = |error| out_of_range(&format!("a row operation cannot be serialized: {error}"));
    Ok(bytes.map_err(failed)?.into())
}

fn given_row(update: &RowUpdate, values: Vec<ArrayRef>) -> Result<RecordBatch> {
    let fields = update.given.iter().map(|column| {
        let column = &update.table.columns[*column];
        Arc::new(Field::new(&column.name, column.sql_type.arrow(), true))
    });
    let fields: Vec<FieldRef> = fields.chain(update.inputs.fields()).collect();
    let schema = Arc::new(Schema::new(fields));
    Ok(RecordBatch::try_new(schema, values)?)
}

/// Executes a row operation of another server on a local row, and returns the number of changed
/// rows.
///
/// # Errors
/// Those of INSERT, UPDATE and DELETE; [`store::Error::NotOwned`] if this server does not own the
/// key; [`store::Error::SchemaConflict`] if the table has another version; 08P01 for invalid bytes.
pub(crate) async fn perform(
    shared: &Shared,
    operations: &Operations,
    key: Key,
    bytes: &[u8],
) -> std::result::Result<u64, store::Error> {
    let store = &shared.store;
    let Some(peers) = store.peers() else {
        return Err(to_store_error(out_of_range(
            "this server is not in a cluster and accepts no row operations",
        )));
    };
    let change = read(shared, operations, key, bytes).map_err(to_store_error)?;
    let (id, version) = (change.table.id, change.table.version);
    for attempt in 0..RETRIES {
        let Some(mut transaction) = store.begin_newest(&**peers, id, &change.key).await? else {
            return Err(store::Error::NotOwned { range: KeyRange::point(&change.key) });
        };
        if transaction.catalog().table_by_id(id).is_none_or(|table| table.version != version) {
            return Err(store::Error::SchemaConflict { relation: change.table.name.clone() });
        }
        if attempt > 0 {
            let number = shared.next_number() | NO_SESSION;
            transaction.lock_rows(Party { server: store.server(), number }, None);
            transaction.wait_for_locks(false);
        }
        match change.commit(transaction).await {
            Err(error) if error.is_retryable() => tokio::task::yield_now().await,
            // Its coordinator waits, on the long path.
            Err(error) if error.state() == SqlState::LockNotAvailable => {
                let (table, key) = (change.table.name.clone(), String::new());
                return Err(store::Error::Conflict { table, key });
            }
            done => return done.map_err(to_store_error),
        }
    }
    let message = format!("gave up after {RETRIES} conflicts with other transactions");
    Err(to_store_error(Error::new(SqlState::SerializationFailure, message)))
}

fn read(shared: &Shared, operations: &Operations, key: Key, bytes: &[u8]) -> Result<RowChange> {
    let catalog = shared.store.catalog();
    let message: Message<'_> = postcard::from_bytes(bytes)
        .map_err(|error| out_of_range(&format!("invalid row operation: {error}")))?;
    let (table, kind) = match message {
        Message::Insert { table, version, row } => {
            let table = table_of(&catalog, table, version)?;
            let row = one_row(row)?;
            let change = RowChange::insert(
                &table,
                RecordBatch::try_new(table.arrow_schema(), row.columns().to_vec())?,
            )?;
            if change.key != key {
                return Err(out_of_range("a row operation does not match its key"));
            }
            return Ok(change);
        }
        Message::Update { form, given } => {
            let update = operations.update(shared, &catalog, form)?;
            let given = match given {
                Some(given) => one_row(given)?.columns().to_vec(),
                None => Vec::new(),
            };
            let fits = given.get(update.given.len()..).is_some_and(|inputs| {
                let wanted = update.inputs.types();
                inputs.iter().map(|input| input.data_type()).eq(wanted)
            });
            if !fits {
                return Err(out_of_range("a row operation does not have the values that it needs"));
            }
            (Arc::clone(&update.table), ChangeKind::Update(update, given))
        }
        Message::Delete { table, version } => {
            (table_of(&catalog, table, version)?, ChangeKind::Delete)
        }
    };
    Ok(RowChange { table, key, kind })
}

fn one_row(bytes: &[u8]) -> Result<RecordBatch> {
    let (_, batches) = rows_from_bytes(bytes)?;
    match <[RecordBatch; 1]>::try_from(batches) {
        Ok([row]) if row.num_rows() == 1 => Ok(row),
        _ => Err(out_of_range("a row operation must have one row")),
    }
}

/// The table with a version.
///
/// # Errors
/// [`store::Error::SchemaConflict`] if it does not exist or has another version.
fn table_of(catalog: &Catalog, table: u32, version: u32) -> Result<Arc<Table>> {
    match catalog.table_by_id(TableId(table)) {
        Some(table) if table.version == version => Ok(Arc::clone(table)),
        _ => Err(store::Error::SchemaConflict { relation: format!("table {table}") }.into()),
    }
}

impl Operations {
    /// The update of a serialized form, from the cache or newly read.
    fn update(&self, shared: &Shared, catalog: &Catalog, form: &[u8]) -> Result<Arc<RowUpdate>> {
        if let Some(update) = self.0.lock().get(form) {
            return Ok(Arc::clone(update));
        }
        let update = Arc::new(update_of(shared, catalog, form)?);
        let mut all = self.0.lock();
        if all.len() >= CACHED_MAX {
            all.clear();
        }
        all.insert(form.into(), Arc::clone(&update));
        Ok(update)
    }
}

fn update_of(shared: &Shared, catalog: &Catalog, form: &[u8]) -> Result<RowUpdate> {
    let form: Form<'_> = postcard::from_bytes(form)
        .map_err(|error| out_of_range(&format!("invalid row update: {error}")))?;
    let table = table_of(catalog, form.table, form.version)?;
    let context = shared.engine.functions.task_ctx();
    let read = |bytes| expressions::from_bytes(bytes, &context);
    let mut values = form.expressions.map(read).transpose()?.unwrap_or_default();
    let key = table.key_indices();
    let is_value = |at: &usize| *at < table.columns.len() && !key.contains(at);
    let fits = form.given.iter().chain(&form.computed).all(is_value);
    if !fits || values.len() < form.computed.len() {
        return Err(out_of_range("a row operation does not fit its table"));
    }
    let checks = values.split_off(form.computed.len());

    let inputs = Inputs::of_types(form.inputs.into_iter().map(InputKind::data_type));
    let computed = form.computed.into_iter().zip(values).collect();
    match Constraints::of(&table, checks) {
        Some(constraints) => {
            Ok(RowUpdate { table, given: form.given, inputs, computed, constraints })
        }
        None => Err(out_of_range("a row operation does not fit its table")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_operations_have_their_bytes() {
        let (table, version, inputs) = (5, 2, InputKind::ALL.to_vec());
        let (given, computed) = (vec![1], vec![2]);
        let form = Form { table, version, given, inputs, computed, expressions: Some(&[7]) };
        let form = serialize(&form).expect("written");
        assert_eq!(*form, [5, 2, 1, 1, 8, 0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 1, 1, 7]);
        for (message, expected) in [
            (Message::Insert { table, version, row: &[7] }, &[0, 5, 2, 1, 7][..]),
            (Message::Update { form: &[7], given: Some(&[8]) }, &[1, 1, 7, 1, 1, 8]),
            (Message::Delete { table, version }, &[2, 5, 2]),
        ] {
            assert_eq!(*serialize(&message).expect("written"), *expected);
        }
    }
}
