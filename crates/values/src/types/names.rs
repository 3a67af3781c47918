//! Types of the system catalogs, and the names of types.

use datafusion::arrow::datatypes::DataType;
use store::catalog::{SqlType, SystemType};

/// PostgreSQL's `oid`.
pub const OID: SqlType = SqlType::System(SystemType::Oid);
/// PostgreSQL's `"char"`, a single byte.
pub const CHAR: SqlType = SqlType::System(SystemType::Char);
/// PostgreSQL's `name`.
pub const NAME: SqlType = SqlType::System(SystemType::Name);
/// PostgreSQL's `char` without a length.
pub const BPCHAR: SqlType = SqlType::System(SystemType::Bpchar);
/// PostgreSQL's `refcursor`, the name of a cursor.
pub const REFCURSOR: SqlType = SqlType::System(SystemType::Refcursor);

/// Whether a type is a row type, which PostgreSQL calls `record`.
pub fn is_record(sql_type: &SqlType) -> bool {
    matches!(sql_type, SqlType::Other(DataType::Struct(_)))
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
