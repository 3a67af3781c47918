//! Calls over TCP: frames, connections, the calling and the serving side.
//!
//! - `frame`, `hello`: the bytes on a connection. `transport`: plain TCP or TLS.
//! - `incoming`, `outgoing`: reading and writing frames. `connection`: the calling side; `serving`:
//!   the answering side.
//! - `network`: one connection to each server. `listen`: connections from other servers.
//! - `join`: how a new server gets its certificate.

mod connection;
pub(crate) mod frame;
pub(crate) mod hello;
mod incoming;
mod join;
mod listen;
mod network;
mod outgoing;
mod reach;
mod security;
mod serving;
mod transport;

pub use join::join;
pub use listen::{Listening, listen};
pub use network::Tcp;
pub use security::Security;
