//! Errors of encoding and decoding rows.

use arrow::error::ArrowError;
use serde::{Deserialize, Serialize};

/// The reason why rows are refused.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
pub enum Error {
    /// A value is too large.
    #[error("value of {bytes} bytes for column \"{column}\" exceeds the limit of {limit}")]
    ValueTooLarge {
        /// The column.
        column: String,
        /// Its size in bytes.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A column of a primary key is NULL.
    #[error(
        "null value in column \"{column}\" of relation \"{table}\" violates not-null constraint"
    )]
    NullKey {
        /// The schema of the table.
        schema: String,
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// The type has no order-preserving encoding.
    #[error("type {data_type} cannot be part of a primary key")]
    KeyType {
        /// The type.
        data_type: String,
    },
    /// An error of Arrow: a defect, a value out of range, or malformed bytes from another server.
    #[error(transparent)]
    Arrow(
        #[from]
        #[serde(with = "arrow_error")]
        ArrowError,
    ),
}

/// Serializes the message of an error of Arrow.
mod arrow_error {
    use super::ArrowError;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(of: &ArrowError, to: S) -> Result<S::Ok, S::Error> {
        match of {
            ArrowError::ComputeError(message) => message.serialize(to),
            other => other.to_string().serialize(to),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<ArrowError, D::Error> {
        String::deserialize(from).map(ArrowError::ComputeError)
    }
}
