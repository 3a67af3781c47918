//! Rows as their tables define them: the values of columns that are not given, generated columns, and the conditions that
//! rows have to fulfil.
//!
//! [`expressions`] are planned over one row of a table, or over none. [`Constraints`] are those that each written row meets;
//! an [`Assembly`] makes whole rows of the columns that a statement gives, which [`constants`] has of VALUES. Of several rows
//! in error the first one counts, also where they are inserted ([`insert_in_order`]). [`columns`], [`generated`] and
//! [`typed`] are about columns as statements define them.
//!
//! Not here: statements, privileges, and other writes of rows (`query`).

mod assembler;
mod assembly;
pub mod columns;
pub mod constants;
mod constraints;
pub mod default_values;
pub mod expressions;
pub mod generated;
mod insertion;
mod refused;
pub mod reworded;
pub mod routines;
mod row_expression;
pub mod table_options;
pub mod typed;
mod types;

pub use assembler::Assembler;
pub use assembly::Assembly;
pub use constraints::{Constraints, describe_row};
pub use insertion::insert_in_order;
pub use refused::{Refused, refused};
pub use types::{Types, table_of};
