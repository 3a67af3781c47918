//! Types of the system catalogs, and the names of types.

use datafusion::arrow::datatypes::{DataType, Field, TimeUnit};
use std::sync::Arc;
use store::catalog::SqlType;

/// PostgreSQL's `oid` in results.
pub const OID: SqlType = SqlType::Other(DataType::UInt32);
/// PostgreSQL's `"char"`, a single byte, in results.
pub const CHAR: SqlType = SqlType::Other(DataType::UInt8);
/// PostgreSQL's `name` in results.
pub const NAME: SqlType = SqlType::Other(DataType::LargeUtf8);

/// PostgreSQL's `char` without a length, in results.
pub const BPCHAR: SqlType = SqlType::Other(DataType::Utf8);

/// PostgreSQL's `refcursor`, the name of a cursor, in results.
pub const REFCURSOR: SqlType = SqlType::Other(DataType::Duration(TimeUnit::Second));

/// Whether a type is a row type, which PostgreSQL calls `record`.
pub fn is_record(sql_type: &SqlType) -> bool {
    matches!(sql_type, SqlType::Other(DataType::Struct(_)))
}

/// The Arrow type of arrays of `oid`.
pub fn oids() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::UInt32, true)))
}

/// The name of a type without length, precision and scale, as `pg_typeof` returns it.
pub fn name_without_length(sql_type: &SqlType) -> String {
    let name = sql_type.to_string();
    match name.split_once('(') {
        Some((name, rest)) => {
            format!("{name}{}", rest.split_once(')').map_or("", |(_, rest)| rest))
        }
        None => name,
    }
}
