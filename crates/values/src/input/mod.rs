//! Text to value: the input functions of the types that the engine reads less of than PostgreSQL.

pub mod array;
pub mod bytea;
mod error;
pub mod interval;
pub mod record;

pub use datetimes::datetime::is_of_transaction;
pub use error::{refused, unknown_zone};
