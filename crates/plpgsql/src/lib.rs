//! PL/pgSQL: the language of functions, procedures and DO blocks with control structures.
//!
//! [`parse()`] reads a source into a [`tree`], of which expressions and SQL statements stay texts. [`run()`] interprets it
//! over a [`Host`], which evaluates the texts. So the crate has no clock, socket, file or thread.
//!
//! Not here: what expressions and statements mean, and transactions (`query`).

mod bound;
mod check;
mod parse;
mod run;
mod tokens;
pub mod tree;

pub use check::{Checked, Lookup, check};
pub use parse::{WrittenRows, parse, with_usual_subscripts};
pub use run::{
    Answer, Called, Compute, CursorQuery, Ended, Form, Given, Host, ItemPlace, Move, Programs,
    Raised, Register, RegisterKind, Row, Severity, TriggerRow, Triggered, Variable, call, run,
    run_trigger, value,
};
