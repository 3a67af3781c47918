//! Trust between the servers of a cluster: certificate authority, identities, and join tokens.
//!
//! The first server creates the [`Authority`]: a key, its certificate, and a secret. A
//! [`JoinToken`] holds the secret and the fingerprint of that certificate. A new server verifies
//! the cluster by the fingerprint, and the cluster admits it by the secret. The new server then
//! gets an [`Identity`]. A certificate states that its holder is a server of the cluster, not which
//! one: all servers have the same rights.
//!
//! Keys and secrets leave these types only through `to_bytes`. The caller must keep those bytes
//! private.

mod authority;
mod error;
mod fingerprint;
mod identity;
mod saved;
pub(crate) mod tls;
mod token;

pub use authority::Authority;
pub use error::TrustError;
pub use identity::Identity;
pub use token::JoinToken;
