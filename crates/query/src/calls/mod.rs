//! Functions of users that are executed where a statement calls them, row by row.
//!
//! The engine calls a [`function`] for batches of rows, of one row each if its statements go to the session, on a thread of
//! the statement. It runs the body with an interpreter, whose expressions are evaluated on the same thread. What it asks of
//! tables is one of two:
//!
//! - A function that is not volatile, or is called where nobody serves it, reads the snapshot of the statement.
//! - The statements of a volatile function go to the session ([`Driver`](crate::context::call_site::Driver)), which executes them in the open
//!   transaction while the query runs in a task ([`served`](crate::served)).
//!
//! A function that only computes (`procedural`) needs no session, whatever its volatility. Expressions of functions call it
//! without the engine.
//!
//! Not here: what a body means (`plpgsql`, `procedural`), and which calls are executed (`analyzer`).

mod environment;
mod function;
mod identity;
mod statements;

pub(crate) use function::{functions, user_functions};
pub(crate) use identity::identity;
