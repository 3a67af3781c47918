//! The network between servers: calls with streams of answers, over TCP or within one process.
//!
//! Bytes go in and bytes come out; what they mean is for others. A server offers one [`Service`]; a [`Network`]
//! calls the services of others. Two implementations behave alike, and one suite of tests runs over both: [`local`]
//! (servers of one process, whose links tests can cut) and [`Tcp`] (frames over TCP, encrypted but on
//! loopback).
//!
//! What a caller may rely on, and transactions do:
//! - [`NetError::Unreachable`] and [`NetError::Refused`]: the service has certainly not seen the call.
//! - [`NetError::Lost`] and [`NetError::Failed`]: it may have, and may have done some or all of it.
//! - Answers come in order, and at most [`WINDOW`] of them are ahead of their reader: a slow reader slows its service
//!   down, and no other call. (A service may be asked for one answer more, to see whether it has ended.)
//! - Dropping the answers cancels the call: the service's stream is dropped, at its next point of waiting.
//!
//! Nothing is sent twice: who may repeat a call knows what it means.

mod address;
mod answers;
mod connection;
mod error;
mod frame;
mod hello;
mod incoming;
mod join;
mod listen;
pub mod local;
mod outgoing;
mod security;
mod serving;
mod tcp;
#[cfg(test)]
mod tests;
mod tls;
mod transport;
mod trust;

pub use address::Address;
pub use error::NetError;
pub use join::join;
pub use listen::{Listening, listen};
pub use security::Security;
pub use tcp::Tcp;
pub use trust::{Authority, Identity, JoinToken, TrustError};

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use std::fmt::Debug;
use std::time::Duration;
use store::Delivery;

/// Answers of one call that may be on the way, or wait for their reader.
pub const WINDOW: usize = 8;

/// Bytes of one request, or of one answer: a row with a value of the largest size, and as much again. What is larger is sent in
/// several, as answers of one call or as calls; whoever has more than one row to send divides them long before.
pub const MESSAGE_BYTES_MAX: usize = 128 << 20;

/// Answers to one call, in order; the first error is the last item. Dropping it cancels the call on the other side.
pub type Answers = BoxStream<'static, Result<Bytes, NetError>>;

/// Who calls a [`Service`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Where the caller says that it can be called itself. With encryption it has shown a certificate of this
    /// cluster, which does not name its address.
    pub address: Address,
}

/// What a server does for others.
pub trait Service: Debug + Send + Sync {
    /// Answers a request. Each call is polled in a task of its own; a panic in it, or an error as an item, ends this
    /// call with [`NetError::Failed`] at the caller, and nothing else.
    ///
    /// This function itself should return at once: work belongs in the stream.
    fn serve(&self, from: Caller, request: Bytes) -> Answers;
}

/// A way to the services of other servers.
pub trait Network: Debug + Send + Sync {
    /// Calls a server. Nothing is sent before the answers are polled.
    ///
    /// The first answer, or the end, must come within `deadline` from then, which includes connecting; and each next
    /// one within it again, from when its reader waits for it. Of pulled answers only the first is sent before its
    /// reader waits for the second.
    fn call(&self, to: &Address, request: Bytes, deadline: Duration, delivery: Delivery)
    -> Answers;
}

/// One call with exactly one answer.
///
/// # Errors
/// Those of the call; [`NetError::Failed`] if there was no answer, or more than one.
pub async fn ask(
    network: &dyn Network,
    to: &Address,
    request: Bytes,
    deadline: Duration,
) -> Result<Bytes, NetError> {
    let failed = |reason: &str| NetError::Failed { address: to.clone(), reason: reason.into() };
    let mut answers = network.call(to, request, deadline, Delivery::Pushed);
    let answer = answers.next().await.ok_or_else(|| failed("there was no answer"))??;
    match answers.next().await {
        None => Ok(answer),
        Some(Err(error)) => Err(error),
        Some(Ok(_)) => Err(failed("there was more than one answer")),
    }
}
