//! SHA-256 digests as text.

use ring::digest::{Context, Digest, SHA256, digest};

/// Returns the SHA-256 of bytes, in hexadecimal digits.
pub(crate) fn of(bytes: &[u8]) -> String {
    text(digest(&SHA256, bytes))
}

/// Begins a SHA-256.
pub(crate) fn begin() -> Context {
    Context::new(&SHA256)
}

/// Returns a digest in hexadecimal digits.
pub(crate) fn text(digest: Digest) -> String {
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
