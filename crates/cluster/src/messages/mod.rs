//! Messages between servers. Plain data and its encoding; depends on `membership` only.
//!
//! - `request`, `answer`: what is asked and answered. `envelope`: sender and receiver of a request.
//! - `codec`: messages as bytes. `batches`: rows as bytes. `blob`: bytes within messages.
//! - `report`: the state of a server.

mod answer;
pub(crate) mod batches;
mod blob;
mod codec;
mod envelope;
mod report;
mod request;

pub(crate) use answer::{
    Adjustment, Answer, HeartbeatAnswer, MoveOrder, Reply, encode_reply, unexpected,
};
pub(crate) use blob::Blob;
pub(crate) use codec::{decode, encode, invalid_message};
pub use envelope::name_of_call;
pub(crate) use envelope::{Envelope, is_background};
pub use report::{ImageInfo, MoveInfo, ServerReport};
pub(crate) use request::{COMMITS_MAX, Heartbeat, Request, Target, WireReader, WireWrite};
