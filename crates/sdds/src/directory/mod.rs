//! How a request finds the current owner of its keys (A2, A3, C1, C2).
//!
//! ```text
//!  client's image       keeper of the page       owner
//!      |---- request ------> A, which has given the keys away
//!                            |---- forward ----> K, whose page lists the owner
//!                                                |---- forward ----> B
//!      |<------------------- answer, and K's page --------------------|
//! ```
//!
//! The owners are authoritative: a group serves exactly the keys of its [`Territory`]. At every
//! moment a key is in one territory or being transferred into one. Everything else is a belief
//! about that, and a wrong belief costs messages but never a wrong answer.
//!
//! - An [`Image`] is what a client believes: it begins with one group for everything, and only
//!   learns.
//! - The directory is divided into pages. A page lists the owners of a range of keys. It is kept by
//!   one group, which owned some of the range. A full page splits like a bucket.
//! - The [`Root`] lists the keepers of pages. Every server has a copy of it; the root group has the
//!   authoritative version.
//!
//! This is the Fat-Btree (C1) with two levels: nodes near the root are replicated everywhere and
//! rarely change, nodes near the leaves have one copy. When nothing moves and the root's copies are
//! equal, a server that does not own a key knows the keeper of its page, and the keeper the owner:
//! a request is forwarded at most twice.
//!
//! Ownership changes by one protocol on both levels (`server/transfer.rs`): keys are released,
//! adopted, recorded on the level above, and only then forgotten by the previous owner. A split
//! within one group changes no owner, and the directory is not informed of it.
//!
//! [`Server`] and [`Client`] are state machines: messages in, messages and actions out. Messages
//! are delivered at most once, in any order and with any delay. An undeliverable message is
//! returned ([`Server::unreachable`], [`Client::unreachable`]).
//!
//! Not here: rows and operations on them, time, the choice of moves, and durability (the groups'
//! logs).

mod client;
mod counters;
mod coverage;
mod image;
mod message;
mod root;
mod server;
mod territory;

pub use client::{Client, ClientEffect, Termination};
pub use counters::Counters;
pub use coverage::Coverage;
pub use image::{Entry, Image, Owner};
pub use message::{Answer, Content, Level, Message, Reply, Request};
pub use root::Root;
pub use server::{Effect, ReleaseError, Server, Settings, Way};
pub use territory::{Standing, Territory};
