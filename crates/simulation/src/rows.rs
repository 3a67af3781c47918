//! Tables of the simulation, and their rows.

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::Int64Type;
use bytes::Bytes;
use sdds::{GroupId, Key};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::catalog::{Column, ColumnId, OnCommit, SqlType, Table, TableExtension, TableId};
use store::{Error, Reading, key};

/// The definition of a table `(key bigint, value)`.
pub(crate) fn definition(id: TableId, name: &str, value: SqlType, home: GroupId) -> Table {
    let column = |id: u32, name: &str, sql_type: SqlType| Column {
        id: ColumnId(id),
        name: name.to_owned(),
        sql_type,
        nullable: id > 0,
        default: None,
        identity: None,
        generated: None,
        hidden: false,
        missing: None,
        comment: None,
    };
    Table {
        id,
        schema: "public".to_owned(),
        name: name.to_owned(),
        columns: vec![column(0, "key", SqlType::BigInt), column(1, "value", value)],
        key: vec![ColumnId(0)],
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        bucket_size: 4 << 10,
        colocate_with: None,
        on_commit: OnCommit::default(),
        home,
        next_column: 2,
        version: 1,
        materialized: None,
        key_constraint: None,
        is_unlogged: false,
        extension: TableExtension::default(),
        comment: None,
    }
}

/// Rows of numbers.
pub(crate) fn numbers(rows: &[(i64, i64)]) -> RecordBatch {
    let values = Int64Array::from_iter_values(rows.iter().map(|row| row.1));
    batch(rows.iter().map(|row| row.0), SqlType::BigInt, Arc::new(values))
}

/// Rows of texts.
pub(crate) fn texts(rows: &[(i64, String)]) -> RecordBatch {
    let values = StringViewArray::from_iter_values(rows.iter().map(|row| &*row.1));
    batch(rows.iter().map(|row| row.0), SqlType::Text, Arc::new(values))
}

fn batch(keys: impl Iterator<Item = i64>, value: SqlType, values: ArrayRef) -> RecordBatch {
    let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(keys));
    let schema = definition(TableId(0), "", value, GroupId(0)).arrow_schema();
    RecordBatch::try_new(schema, vec![keys, values]).expect("columns of the same length")
}

/// The encoded key of a row.
pub(crate) fn key_of(key: i64) -> Key {
    let column: ArrayRef = Arc::new(Int64Array::from(vec![key]));
    key::encode_columns(&[column]).expect("bigint is a key type").remove(0)
}

/// The numbers of some keys.
pub(crate) async fn read_numbers(
    reading: &Reading,
    table: TableId,
    keys: &[i64],
) -> Result<BTreeMap<i64, i64>, Error> {
    let (columns, count) = read(reading, table, keys).await?;
    let (keys, values) = (columns[0].as_primitive::<Int64Type>(), &columns[1]);
    let values = values.as_primitive::<Int64Type>();
    Ok((0..count).map(|row| (keys.value(row), values.value(row))).collect())
}

/// The texts of some keys.
pub(crate) async fn read_texts(
    reading: &Reading,
    table: TableId,
    keys: &[i64],
) -> Result<BTreeMap<i64, String>, Error> {
    let (columns, count) = read(reading, table, keys).await?;
    let (keys, values) = (columns[0].as_primitive::<Int64Type>(), columns[1].as_string_view());
    Ok((0..count).map(|row| (keys.value(row), values.value(row).to_owned())).collect())
}

async fn read(
    reading: &Reading,
    table: TableId,
    keys: &[i64],
) -> Result<(Vec<ArrayRef>, usize), Error> {
    let missing = || Error::SchemaConflict { relation: format!("table {}", table.0) };
    let view = reading.table(table).ok_or_else(missing)?;
    let wanted: Vec<Key> = keys.iter().map(|key| key_of(*key)).collect();
    let (columns, _) = view.find_many(&wanted, &[0, 1]).await?;
    let count = columns[0].len();
    Ok((columns, count))
}

/// A row operation as bytes.
pub(crate) fn encode(table: TableId, row: (i64, i64)) -> Bytes {
    let mut bytes = u64::from(table.0).to_le_bytes().to_vec();
    bytes.extend(row.0.to_le_bytes());
    bytes.extend(row.1.to_le_bytes());
    bytes.into()
}

/// The row operation in some bytes.
pub(crate) fn decode(bytes: &[u8]) -> Option<(TableId, (i64, i64))> {
    let part = |at: usize| bytes.get(at * 8..at * 8 + 8)?.try_into().ok();
    let table = TableId(u64::from_le_bytes(part(0)?).try_into().ok()?);
    Some((table, (i64::from_le_bytes(part(1)?), i64::from_le_bytes(part(2)?))))
}
