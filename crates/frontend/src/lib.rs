//! Messages of PostgreSQL clients, decoded from bytes.
//!
//! ```text
//! bytes -> Frames -> First (before a session), Message (in a session)
//! ```
//!
//! Input is untrusted: nothing is allocated from a declared length, texts must be UTF-8, unused
//! bytes are an error, and no input makes a decoder panic. [`judge`] checks this for any bytes; it
//! is used by the fuzzer and the tests.
//!
//! Not here: sockets, the execution of messages, and replies (`server`).

#[doc(hidden)]
pub mod damage;
mod error;
mod frames;
#[doc(hidden)]
pub mod judge;
mod message;
mod startup;

pub use error::{ProtocolError, violation};
pub use frames::{Frame, Frames, STARTUP_BYTES_MAX};
pub use message::{Bind, Body, Format, Message, Target};
pub use startup::{First, Startup};
