//! Row operations: a change of one row as bytes, for the row's owner to carry out as a transaction of its own.
//!
//! What an UPDATE computes is planned once by whoever has the statement, and read once by an owner: the bytes that say it are
//! the same each time ([`Form`]), and the owner remembers what they mean ([`Operations`]). What changes from one execution
//! to the next stands beside it: the key, and the values that the client has given.

use super::RETRIES;
use super::row_change::{RowChange, What};
use super::row_update::RowUpdate;
use crate::database::Shared;
use crate::dml::constraints::Constraints;
use bytes::Bytes;
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema};
use distributed::{expressions, out_of_range, rows_from_bytes, rows_to_bytes};
use parking_lot::Mutex;
use planner::inputs::Inputs;
use sdds::{Key, KeyRange};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use store::catalog::{Catalog, Table, TableId};
use values::error::{Error, Result, SqlState};
use values::translate::to_store_error;

/// Updates that a server remembers; one more, and it forgets them all.
const REMEMBERED: usize = 1 << 10;

/// The updates that other servers have sent, by their bytes.
#[derive(Default)]
pub(crate) struct Operations(Mutex<HashMap<Box<[u8]>, Arc<RowUpdate>>>);

impl fmt::Debug for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operations").field("remembered", &self.0.lock().len()).finish()
    }
}

/// What crosses between servers, beside the key.
#[derive(Serialize, Deserialize)]
enum Sent<'a> {
    Insert {
        table: u32,
        version: u32,
        #[serde(borrow)]
        row: &'a [u8],
    },
    Update {
        form: &'a [u8],
        /// One row of the given values; `None` where there are none.
        given: Option<&'a [u8]>,
    },
    Delete {
        table: u32,
        version: u32,
    },
}

/// What is the same each time that an UPDATE is executed.
#[derive(Serialize, Deserialize)]
struct Form<'a> {
    table: u32,
    version: u32,
    given: Vec<usize>,
    /// The types of what else is given, behind those.
    inputs: Vec<InputKind>,
    computed: Vec<usize>,
    /// The values that are computed, then the conditions of CHECK and what columns are computed from; `None` where
    /// there are none of them.
    #[serde(borrow)]
    expressions: Option<&'a [u8]>,
}

/// The type of an input, on its way.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum InputKind {
    Int16,
    Int32,
    Int64,
    Float32,
    Float64,
    Text,
}

impl InputKind {
    const ALL: [Self; 6] =
        [Self::Int16, Self::Int32, Self::Int64, Self::Float32, Self::Float64, Self::Text];

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
        }
    }
}

/// The bytes of an UPDATE whose expressions are portable.
pub(super) fn form_of(update: &RowUpdate) -> Result<Bytes> {
    let table = &update.table;
    let values = update.computed.iter().map(|(_, value)| Arc::clone(value));
    let all: Vec<_> = values.chain(update.constraints.expressions()).collect();
    let expressions = match all.is_empty() {
        true => None,
        false => Some(expressions::to_bytes(table, &update.inputs.fields(), all)?),
    };
    written(&Form {
        table: table.id.0,
        version: table.version,
        given: update.given.clone(),
        inputs: update.inputs.0.iter().filter_map(|(_, of)| InputKind::of(of)).collect(),
        computed: update.computed.iter().map(|(column, _)| *column).collect(),
        expressions: expressions.as_deref(),
    })
}

/// A change as its row's owner is sent it; `None` for an UPDATE without a form.
pub(super) fn to_bytes(change: &RowChange, form: Option<&Bytes>) -> Result<Option<Bytes>> {
    let (table, version) = (change.table.id.0, change.table.version);
    Ok(Some(match (&change.what, form) {
        (What::Insert(row), _) => {
            let row = rows_to_bytes(&row.schema(), std::slice::from_ref(row))?;
            written(&Sent::Insert { table, version, row: &row })?
        }
        (What::Update(update, given), Some(form)) => {
            let given = match given.is_empty() {
                true => None,
                false => {
                    let row = given_row(update, given.clone())?;
                    Some(rows_to_bytes(&row.schema(), &[row])?)
                }
            };
            written(&Sent::Update { form, given: given.as_deref() })?
        }
        (What::Update(..), None) => return Ok(None),
        (What::Delete, _) => written(&Sent::Delete { table, version })?,
    }))
}

fn written<T: Serialize>(value: &T) -> Result<Bytes> {
    let bytes = postcard::to_stdvec(value);
    let no_form = |error| out_of_range(&format!("a row operation has no form: {error}"));
    Ok(bytes.map_err(no_form)?.into())
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

/// Carries out another server's operation on a row that is here; how many rows were changed.
///
/// # Errors
/// As INSERT, UPDATE and DELETE; [`store::Error::NotOwned`] where the row is not here; also where the bytes say nothing.
pub(crate) async fn perform(
    shared: &Shared,
    key: Key,
    bytes: &[u8],
) -> std::result::Result<u64, store::Error> {
    let store = &shared.store;
    let Some(peers) = store.peers() else {
        return Err(to_store_error(out_of_range("a server without others does nothing for them")));
    };
    let change = read(shared, key, bytes).map_err(to_store_error)?;
    let (id, version) = (change.table.id, change.table.version);
    for _ in 0..RETRIES {
        let Some(transaction) = store.begin_newest(&**peers, id, &change.key).await? else {
            return Err(store::Error::NotOwned { range: KeyRange::point(&change.key) });
        };
        if transaction.catalog().table_by_id(id).is_none_or(|table| table.version != version) {
            return Err(store::Error::SchemaConflict { relation: change.table.name.clone() });
        }
        match change.commit(transaction).await {
            Err(error) if error.is_retryable() => tokio::task::yield_now().await,
            done => return done.map_err(to_store_error),
        }
    }
    let message = format!("gave up after {RETRIES} conflicts with other transactions");
    Err(to_store_error(Error::new(SqlState::SerializationFailure, message)))
}

fn read(shared: &Shared, key: Key, bytes: &[u8]) -> Result<RowChange> {
    let catalog = shared.store.catalog();
    let sent: Sent<'_> = postcard::from_bytes(bytes)
        .map_err(|error| out_of_range(&format!("these bytes are no row operation: {error}")))?;
    let (table, what) = match sent {
        Sent::Insert { table, version, row } => {
            let table = known(&catalog, table, version)?;
            let row = one_row(row)?;
            let change = RowChange::insert(
                &table,
                RecordBatch::try_new(table.arrow_schema(), row.columns().to_vec())?,
            )?;
            return match change.key == key {
                true => Ok(change),
                false => Err(out_of_range("a row operation is of another key")),
            };
        }
        Sent::Update { form, given } => {
            let update = shared.operations.update(shared, &catalog, form)?;
            let given = match given {
                Some(given) => one_row(given)?.columns().to_vec(),
                None => Vec::new(),
            };
            let fits = given.get(update.given.len()..).is_some_and(|inputs| {
                let wanted = update.inputs.0.iter().map(|(_, data_type)| data_type);
                inputs.iter().map(|input| input.data_type()).eq(wanted)
            });
            if !fits {
                return Err(out_of_range("a row operation gives other values than it says"));
            }
            (Arc::clone(&update.table), What::Update(update, given))
        }
        Sent::Delete { table, version } => (known(&catalog, table, version)?, What::Delete),
    };
    Ok(RowChange { table, key, what })
}

fn one_row(bytes: &[u8]) -> Result<RecordBatch> {
    let (_, batches) = rows_from_bytes(bytes)?;
    match <[RecordBatch; 1]>::try_from(batches) {
        Ok([row]) if row.num_rows() == 1 => Ok(row),
        _ => Err(out_of_range("a row operation is not of one row")),
    }
}

/// The definition that an operation was planned with.
fn known(catalog: &Catalog, table: u32, version: u32) -> Result<Arc<Table>> {
    match catalog.table_by_id(TableId(table)) {
        Some(known) if known.version == version => Ok(Arc::clone(known)),
        _ => Err(store::Error::SchemaConflict { relation: format!("table {table}") }.into()),
    }
}

impl Operations {
    fn update(&self, shared: &Shared, catalog: &Catalog, form: &[u8]) -> Result<Arc<RowUpdate>> {
        if let Some(update) = self.0.lock().get(form) {
            return Ok(Arc::clone(update));
        }
        let update = Arc::new(update_of(shared, catalog, form)?);
        let mut all = self.0.lock();
        if all.len() >= REMEMBERED {
            all.clear();
        }
        all.insert(form.into(), Arc::clone(&update));
        Ok(update)
    }
}

fn update_of(shared: &Shared, catalog: &Catalog, form: &[u8]) -> Result<RowUpdate> {
    let form: Form<'_> = postcard::from_bytes(form)
        .map_err(|error| out_of_range(&format!("these bytes are no row update: {error}")))?;
    let table = known(catalog, form.table, form.version)?;
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
    let inputs = form.inputs.into_iter().enumerate();
    let inputs = Inputs(inputs.map(|(at, kind)| (at, kind.data_type())).collect());
    let computed = form.computed.into_iter().zip(values).collect();
    match Constraints::of(&table, checks) {
        Some(constraints) => {
            Ok(RowUpdate { table, given: form.given, inputs, computed, constraints })
        }
        None => Err(out_of_range("a row operation does not fit its table")),
    }
}
