//! Calls with streams of answers between servers, over TCP or within one process.
//!
//! Requests and answers are bytes; this crate does not interpret them. A server offers one
//! [`Service`]; a [`Network`] calls the services of other servers. Two implementations have the
//! same guarantees and pass the same tests: [`local`] (servers of one process, with links that
//! tests can cut) and [`Tcp`] (frames over TCP, encrypted except on loopback).
//!
//! Guarantees for a caller:
//! - [`NetError::Unreachable`] and [`NetError::Refused`]: the service has not received the call.
//! - [`NetError::Lost`] and [`NetError::Failed`]: the service may have received the call and
//!   executed it, wholly or in part.
//! - Answers arrive in order. At most [`WINDOW`] answers are ahead of their reader: a slow reader
//!   slows down its own service only. (A service may be polled for one more answer, to detect its
//!   end.)
//! - Dropping the answers cancels the call: the stream of the service is dropped at its next await
//!   point.
//!
//! No call is retried: only the caller knows whether a request may be repeated.

mod address;
mod answers;
mod error;
pub mod local;
mod tcp;
#[cfg(test)]
mod tests;
mod time_limits;
mod trust;

pub use address::Address;
pub use error::NetError;
pub use tcp::{Listening, Security, Tcp, join, listen};
pub use time_limits::TimeLimits;
pub use trust::{Authority, Identity, JoinToken, TrustError};

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use std::fmt::Debug;
use std::time::Duration;

/// Answers of one call that may be in flight or wait for their reader.
pub const WINDOW: usize = 8;

/// Maximum length of a request or an answer in bytes: twice the size of the largest value. Longer
/// data is sent in several messages.
pub const MESSAGE_BYTES_MAX: usize = 128 << 20;

/// When the answers of a call are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Delivery {
    /// As soon as the caller has room for them.
    #[default]
    Pushed,
    /// The first answer at once, the others when the reader waits for the second.
    Pulled,
}

/// Answers to one call, in order. An error is the last item. Dropping the stream cancels the call.
pub type Answers = BoxStream<'static, Result<Bytes, NetError>>;

/// The caller of a [`Service`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The address at which the caller claims to be reachable. With encryption the caller has shown
    /// a certificate of this cluster; the certificate does not contain the address.
    pub address: Address,
}

/// Answers the calls of other servers.
pub trait Service: Debug + Send + Sync {
    /// Answers a request. Each call is polled in its own task. A panic in it, or an error item,
    /// ends this call with [`NetError::Failed`] at the caller and affects no other call.
    ///
    /// This function should return at once: work belongs in the stream.
    fn serve(&self, from: Caller, request: Bytes) -> Answers;
}

/// Calls the services of other servers.
pub trait Network: Debug + Send + Sync {
    /// Calls a server. Nothing is sent before the answers are polled.
    ///
    /// The first answer, or the end, must arrive within `deadline` from the first poll, which
    /// includes connecting. Each further answer must arrive within `deadline` from the time its
    /// reader waits for it. With [`Delivery::Pulled`] the second answer is sent only when its
    /// reader waits for it.
    fn call(&self, to: &Address, request: Bytes, deadline: Duration, delivery: Delivery)
    -> Answers;
}

/// Makes a call that has exactly one answer.
///
/// # Errors
/// The errors of the call; [`NetError::Failed`] if there is no answer or more than one.
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
