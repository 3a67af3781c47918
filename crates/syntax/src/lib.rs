//! What is done with SQL as the parser has read it: walks through it ([`visit`]), and the engine's way from there to plans
//! ([`plan_of`], [`expression_of`]).
//!
//! The parser's walks and the engine's planner are generic: each use with another type is compiled anew, with some fifteen hundred
//! functions for a walk alone. Here each is compiled once, for types that everything else hides behind, in a crate of its own, which
//! is compiled for its size: a statement spends microseconds in it.

mod names;
mod walk;

pub use names::{expression_of, plan_of};
pub use walk::{
    Syntax, visit, visit_expressions, visit_expressions_mut, visit_mut, visit_relations,
};
