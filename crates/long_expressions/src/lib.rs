//! Long expressions: what they consist of, and the function that computes one step by step.
//!
//! A long expression is one call of a function ([`Computed`]) in a plan, so that the engine's passes do not go through its
//! parts. Its arguments are what the expression reads ([`is_argument`]). Each [`Step`] may read the value of the one before.
//!
//! Not here: which expressions are long, and how they are analysed (`lowering`).

mod computed;
mod logic;
mod parts;

pub use computed::{Computed, Step};
pub use logic::Logic;
pub use parts::{is_argument, is_callable, is_of_join, is_plain, listed};
