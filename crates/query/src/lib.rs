//! SQL over tables of splitting buckets.
//!
//! A [`Database`] has sessions; a [`Session`] runs statements. A statement is parsed ([`parse`]), planned
//! by DataFusion over our tables at a snapshot, and run; what it changes is one commit of the store.
//! Statements on one row by its key go a shorter way ([`Prepared`]).
//!
//! The ways in the house: `planner` gives names their meaning, `scan` reads buckets, `dml`, `ddl` and
//! `copy` change them, `short` is the way without a planner, `system` are the tables about tables.

mod copy;
mod database;
mod ddl;
mod dml;
mod engine;
mod memory_pool;
mod outcome;
mod receiver;
mod roles;
mod session;
mod short;

pub use catalog_views::session_context::TransactionStatus;
pub use copy::client::{CopyIn, CopyOut};
pub use database::{Database, Options, TableSize};
pub use outcome::{Outcome, Progress, Rows, Tag};
pub use parser::connection::{ConnectionStatement, Declare, Direction, Execute, Fetch};
pub use parser::{Statement, parse};
pub use session::{
    CancelHandle, Control, Description, Listing, Notice, Prepared, ProgressCallback, Session,
    SettingsSeen, activity_text, parameter_of_text,
};
pub use values::byte_size::bytes_of;
pub use values::error::{Error, Result, SqlState, Subject};
pub use values::field::{Field, Origin};
pub use values::types::{CHAR, NAME, OID, is_record};
pub use values::{binary, text};

pub use datafusion::arrow;
pub use datafusion::common::ScalarValue;
pub use datafusion::execution::SendableRecordBatchStream;
pub use parser::statement_kind::StatementKind;
pub use store;
pub use store::catalog::SqlType;
