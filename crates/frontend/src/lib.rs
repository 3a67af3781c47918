//! What PostgreSQL's clients send, from bytes to messages.
//!
//! ```text
//! bytes -> Frames -> First (before a session), Message (in one)
//! ```
//!
//! A client can send anything. Nothing is allocated from a declared length, texts must be UTF-8, every byte of a
//! message must mean something, and no bytes make a decoder panic. [`judge`] says so of any bytes: the fuzzer and
//! the tests ask it.
//!
//! Not here: sockets, what messages do, and what is answered (`server`).

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
