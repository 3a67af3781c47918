//! Calls of procedures that the owner of their rows executes, as a transaction of its own, with one message.
//!
//! `sent`: calls of clients of this server. `wire`: calls and their results as bytes. What executes calls for clients of
//! other servers are sessions ([`crate::session`]).

mod sent;
pub(crate) mod wire;

pub(crate) use sent::call;
