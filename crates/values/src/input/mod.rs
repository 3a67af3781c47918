//! Text to value: the input functions of the types that the engine reads less of than PostgreSQL.

pub mod array;
pub mod bytea;
mod error;
pub mod interval;
pub mod record;
pub mod system;

pub use datetimes::datetime::is_of_transaction;
pub use error::{refused, unknown_zone};

use store::catalog::SqlType;

/// Whether a number or a truth value as text is the value of a type as it is written.
pub fn is_written_alike(text: &str, sql_type: &SqlType) -> bool {
    match sql_type {
        SqlType::SmallInt | SqlType::Integer | SqlType::BigInt => text.parse::<i64>().is_ok(),
        SqlType::Numeric { .. } | SqlType::Real | SqlType::Double => {
            text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'))
        }
        SqlType::Boolean => matches!(text, "true" | "false"),
        _ => false,
    }
}
