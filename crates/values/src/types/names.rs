//! The system's types that the catalog does not have, and the names of types.

use datafusion::arrow::datatypes::{DataType, Field};
use std::sync::Arc;
use store::catalog::SqlType;

/// PostgreSQL's `oid`, as results name it.
pub const OID: SqlType = SqlType::Other(DataType::UInt32);
/// PostgreSQL's `"char"`, a single byte, as results name it.
pub const CHAR: SqlType = SqlType::Other(DataType::UInt8);
/// PostgreSQL's `name`, as results name it.
pub const NAME: SqlType = SqlType::Other(DataType::LargeUtf8);

/// Whether values of a type are rows of several, which PostgreSQL calls `record`.
pub fn is_record(sql_type: &SqlType) -> bool {
    matches!(sql_type, SqlType::Other(DataType::Struct(_)))
}

/// Arrays of `oid`, as results hold them.
pub fn oids() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::UInt32, true)))
}

/// A type as `pg_typeof` names it: digits and lengths belong to columns.
pub fn name_without_length(sql_type: &SqlType) -> String {
    let name = sql_type.to_string();
    match name.split_once('(') {
        Some((name, rest)) => {
            format!("{name}{}", rest.split_once(')').map_or("", |(_, rest)| rest))
        }
        None => name,
    }
}
