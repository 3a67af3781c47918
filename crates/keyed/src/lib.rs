//! Queries of one table by its primary key, without the engine's planner.
//!
//! A [`Read`] is recognised in a parse tree once, and executed often: `SELECT columns FROM t WHERE
//! condition ORDER BY key LIMIT n OFFSET m`, or `SELECT count(*)` with such a condition. Its condition (`condition`) is one row by its key, a
//! list of keys (`IN`, `= ANY`), or a range of keys below a fixed prefix, and comparisons of other
//! columns with constants and parameters. Rows are read in key order, or against it.
//!
//! Only what needs no conversion is recognised: values of a column's own type, and integers of any
//! width. All else, and what would read many rows, is left to the planner: the answer is `None`.
//!
//! A [`Join`] of two tables reads few rows of one, and those of the other by its key or an index.
//!
//! Queries without a table, of [`Constants`], are here for the same reason: they need no planner.
//!
//! Not here: privileges, names of tables, transactions, and statements that change rows (`query`).

mod condition;
mod conjunct;
mod constants;
mod filter;
mod indexed;
mod join;
mod keys;
mod limits;
mod lists;
mod names;
mod operand;
mod order;
mod outputs;
mod partial;
mod plain;
mod read;
mod sides;
#[cfg(test)]
mod tests;

pub use condition::point_of;
pub use constants::Constants;
pub use join::Join;
pub use keys::point;
pub use names::is_column;
pub use operand::{Operand, one_value};
pub use outputs::{Output, outputs_of};
pub use plain::is_plain;
pub use read::{Read, has_one_type_each};
pub use sides::{Joined, Side, joined};
