//! Estimates: what is known of columns (`column`), and the `selectivity` of predicates.

mod column;
mod guesses;
mod selectivity;

pub use column::{Column, DISTINCT, chosen_row_bytes, copied_row_bytes, fixed_bytes, row_bytes};
pub use guesses::{Guesses, percent};
pub use selectivity::{Input, column_of, compared};
