//! How many rows there will be: what is known of columns ([`column`]), and the usual guesses where nothing is ([`selectivity`]).

mod column;
mod guesses;
mod selectivity;

pub(crate) use column::{
    Column, DISTINCT, chosen_row_bytes, copied_row_bytes, fixed_bytes, row_bytes,
};
pub(crate) use guesses::{Guesses, percent};
pub(crate) use selectivity::{Input, column_of, compared};
