//! Messages as bytes: postcard, with rows as Arrow IPC streams.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use store::Error;

/// Encodes a value for another server.
///
/// # Errors
/// 08P01.
pub fn encode<T: Serialize>(value: &T) -> Result<Bytes, Error> {
    let bytes =
        postcard::to_allocvec(value).map_err(|error| invalid_message(&error.to_string()))?;
    Ok(bytes.into())
}

/// Decodes a value of another server.
///
/// # Errors
/// 08P01.
pub fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Error> {
    postcard::from_bytes(bytes).map_err(|error| invalid_message(&error.to_string()))
}

/// The error for an invalid message.
pub fn invalid_message(reason: &str) -> Error {
    Error::Remote {
        sql_state: "08P01".into(),
        message: format!("a message between servers cannot be read: {reason}"),
        detail: None,
        hint: Some("Servers of one cluster must be of the same version.".into()),
    }
}
