//! Tables for unit tests of `bucket` and `store`.

use arrow::array::{Array, ArrayRef, Int64Array, RecordBatch, StringViewArray, new_null_array};
use arrow::compute::{cast, concat};
use catalog::{
    Column, ColumnId, DEFAULT_BUCKET_SIZE, OnCommit, SqlType, Table, TableExtension, TableId,
};
use std::sync::Arc;

fn column(id: usize, name: &str, sql_type: SqlType) -> Column {
    Column {
        id: ColumnId(id as u32),
        name: name.to_owned(),
        sql_type,
        nullable: id > 0,
        default: None,
        identity: None,
        generated: None,
        hidden: false,
        missing: None,
        comment: None,
    }
}

/// Returns a table whose first column is the key.
pub(crate) fn table(name: &str, types: Vec<(&str, SqlType)>) -> Table {
    let columns: Vec<Column> =
        types.into_iter().enumerate().map(|(id, (name, t))| column(id, name, t)).collect();
    Table {
        id: TableId(1),
        schema: "public".to_owned(),
        name: name.to_owned(),
        key: vec![ColumnId(0)],
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        bucket_size: DEFAULT_BUCKET_SIZE,
        colocate_with: None,
        on_commit: OnCommit::default(),
        home: sdds::GroupId(0),
        next_column: columns.len() as u32,
        columns,
        version: 1,
        materialized: None,
        key_constraint: None,
        is_unlogged: false,
        extension: TableExtension::default(),
        comment: None,
    }
}

/// `(key bigint, value text)`.
pub(crate) fn keyed(name: &str) -> Table {
    table(name, vec![("key", SqlType::BigInt), ("value", SqlType::Text)])
}

/// Returns rows for [`keyed`].
pub(crate) fn rows(rows: &[(i64, &str)]) -> RecordBatch {
    let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.0)));
    let values: ArrayRef =
        Arc::new(StringViewArray::from_iter_values(rows.iter().map(|row| row.1)));
    RecordBatch::try_new(keyed("").arrow_schema(), vec![keys, values]).expect("same lengths")
}

/// Returns a table with a column of each type, and rows with a value and a NULL in each.
pub(crate) fn every_type() -> (Table, RecordBatch) {
    use SqlType::*;
    let types = [
        Boolean,
        SmallInt,
        Integer,
        BigInt,
        Real,
        Double,
        Text,
        Bytea,
        Date,
        Time,
        Timestamp,
        TimestampTz,
        Uuid,
        Json,
        Interval,
        Numeric { precision: 10, scale: 2 },
        Array(Box::new(Integer)),
        Other(arrow::datatypes::DataType::UInt64),
    ];
    let mut named = vec![("key".to_owned(), BigInt)];
    named.extend(types.iter().enumerate().map(|(i, t)| (format!("c{i}"), t.clone())));
    let table = table("every", named.iter().map(|(n, t)| (n.as_str(), t.clone())).collect());
    let mut columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(vec![1, 2, 3]))];
    for sql_type in types {
        let value = sample(&sql_type);
        let null = new_null_array(&sql_type.arrow(), 1);
        columns.push(concat(&[&value, &null, &value]).expect("same type"));
    }
    let batch = RecordBatch::try_new(table.arrow_schema(), columns).expect("same lengths");
    (table, batch)
}

fn sample(sql_type: &SqlType) -> ArrayRef {
    let text = match sql_type {
        SqlType::Boolean => "true",
        SqlType::Date => "2026-11-20",
        SqlType::Time => "12:34:56.789",
        SqlType::Timestamp | SqlType::TimestampTz => "2026-11-20T12:34:56.789",
        SqlType::Interval => "1 month 2 days",
        SqlType::Text | SqlType::Bytea | SqlType::Json | SqlType::Jsonb | SqlType::Uuid => {
            "a text of more than a dozen bytes"
        }
        SqlType::Array(_) => {
            let items = vec![Some(vec![Some(1), None, Some(3)])];
            return Arc::new(arrow::array::ListArray::from_iter_primitive::<
                arrow::datatypes::Int32Type,
                _,
                _,
            >(items));
        }
        _ => "42",
    };
    let text: ArrayRef = Arc::new(arrow::array::StringArray::from(vec![text]));
    let value = cast(&text, &sql_type.arrow()).expect("castable");
    assert_eq!(value.null_count(), 0, "{sql_type}");
    value
}
