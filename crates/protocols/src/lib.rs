//! What servers of a cluster agree on, as state machines.
//!
//! Each takes one event at a time and returns what is to be done, in order. What is done, and how long it takes, is up to
//! its driver: crate `cluster`, which simulations run as well.
//!
//! - [`coordinator`]: the commit of a transaction on several servers. [`participant`]: its part on one of them.
//! - [`source`] and [`destination`] of a move of keys.
//! - [`oracle`]: timestamps of the root, and outcomes of transactions. [`numbers`]: which requests for advisory locks the root obeys.
//! - [`membership`]: who is a member, as the root decides, and as every server knows.
//! - [`routing`]: who owns which keys, as every server knows it, and how that is told.
//! - [`planted`]: bugs that simulations plant.
//!
//! Not here: messages, time limits, and what a transaction has written.

pub mod coordinator;
pub mod destination;
pub mod membership;
pub mod numbers;
pub mod oracle;
pub mod participant;
pub mod planted;
pub mod routing;
pub mod source;
