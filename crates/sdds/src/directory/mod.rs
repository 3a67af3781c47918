//! How a request finds the owner of its keys, wherever they are by now (A2, A3, C1, C2).
//!
//! ```text
//!  client's image       keeper of the page       owner
//!      |---- request ------> A, which has given the keys away
//!                            |---- forward ----> K, whose page says who has them
//!                                                |---- forward ----> B
//!      |<------------------- answer, and K's page --------------------|
//! ```
//!
//! The owners are the truth: a group serves the keys of its [`Territory`] and no others, and at every moment a
//! key is in one territory or on its way into one. Everything else is a belief about that, and a wrong belief
//! costs messages, never an answer.
//!
//! - An [`Image`] is what a client believes: it begins with one group for everything, and only learns.
//! - The directory is cut into pages. A page lists who owns what in one stretch of keys; one group keeps it,
//!   one that owned some of it. A page that is full divides, as a bucket does.
//! - The [`Root`] says who keeps which page. Every server has a copy of it, the root group the truth.
//!
//! This is the Fat-Btree (C1) with two levels: what is near the root is everywhere and changes rarely, what is
//! near the leaves is in one place. Once nothing moves and the root's copies are alike, a server that does not
//! own a key knows the keeper of its page, and the keeper the owner: no request is forwarded more than twice.
//!
//! Ranges change hands by one protocol on both levels (`server/transfer.rs`): released, adopted,
//! recorded on the level above, and only then forgotten by whoever had them. A split within one group changes no
//! hands; the directory need not hear of it.
//!
//! [`Server`] and [`Client`] are state machines: a message goes in, messages and things to do come out. Messages
//! are delivered at most once, in any order, as late as they like. One that cannot be delivered comes back
//! ([`Server::unreachable`], [`Client::unreachable`]).
//!
//! Not here: rows and what is done with them, time, choosing what moves where, and keeping all this through a
//! crash (the groups' logs).

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
