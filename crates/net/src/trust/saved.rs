//! Keys and certificates as bytes that a server saves.

use super::error::TrustError;
use serde::{Deserialize, Serialize};

/// Encodes a value for [`decode`].
pub(super) fn encode(value: &impl Serialize) -> Result<Vec<u8>, TrustError> {
    postcard::to_stdvec(value).map_err(|error| TrustError::Saved(error.to_string()))
}

/// Decodes a value that [`encode`] encoded.
pub(super) fn decode<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T, TrustError> {
    postcard::from_bytes(bytes).map_err(|error| TrustError::Saved(error.to_string()))
}
