//! LISTEN and NOTIFY.
//!
//! A transaction collects what it notifies and which channels it begins and ceases to listen to ([`Staged`]). When it has
//! committed, the session publishes that to the sessions of its server ([`Hub`]), and sends it to the other servers as
//! bytes ([`encode`]). Each session that listens has a [`Mailbox`], which the server of its connection empties between
//! statements.
//!
//! Not here: sending to other servers, and the messages of the protocol.

mod encoding;
mod hub;
mod mailbox;
mod staged;

pub use encoding::{decode, encode};
pub use hub::Hub;
pub use mailbox::Mailbox;
pub use staged::{Listening, Mark, Refused, Staged};

/// What NOTIFY sends.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Notification {
    /// The process id of the session that has sent it.
    pub process: u32,
    /// The channel.
    pub channel: String,
    /// The text; empty if there is none.
    pub payload: String,
}
