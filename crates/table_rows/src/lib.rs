//! Rows as their tables define them: the values of columns that are not given, generated columns, and the conditions that
//! rows have to fulfil.
//!
//! [`expressions`] are planned over one row of a table, or over none. [`Constraints`] are those that each written row meets;
//! an [`Assembly`] makes whole rows of the columns that a statement gives.
//!
//! Not here: statements, privileges, and the writing of rows (`query`).

mod assembly;
mod constraints;
pub mod default_values;
pub mod expressions;
mod refused;
pub mod routines;
mod types;

pub use assembly::Assembly;
pub use constraints::{Constraints, describe_row};
pub use refused::{Refused, refused};
pub use types::{Types, table_of};
