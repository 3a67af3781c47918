//! Fingerprints of certificates.

use ring::digest::{SHA256, digest};

/// Length of a SHA-256 digest.
pub(crate) const FINGERPRINT_BYTES: usize = 32;

/// The SHA-256 digest of a certificate.
pub(crate) fn fingerprint(certificate: &[u8]) -> [u8; FINGERPRINT_BYTES] {
    let mut fingerprint = [0; FINGERPRINT_BYTES];
    fingerprint.copy_from_slice(digest(&SHA256, certificate).as_ref());
    fingerprint
}
