//! SQL over tables of splitting buckets.
//!
//! A [`Database`] has sessions; a [`Session`] runs statements. A statement is parsed ([`parse`]), planned
//! by DataFusion over our tables at a snapshot, and run; what it changes is one commit of the store.
//! Statements on one row by its key go a shorter way ([`Prepared`]).
//!
//! The ways in the house: `planner` gives names their meaning, `scan` reads buckets, `dml`, `ddl` and
//! `copy` change them, `short` is the way without a planner, `system` are the tables about tables.

mod access;
pub mod binary;
mod bundling;
mod bytes;
mod connection_statements;
mod copy;
mod database;
mod ddl;
mod dml;
mod engine;
mod error;
mod estimate;
mod functions;
mod input;
mod json;
mod kinds;
mod memory_pool;
mod outcome;
mod parse;
mod planner;
mod predict;
mod roles;
mod scan;
mod session;
mod ship;
mod short;
mod sql_state;
mod statement_kind;
mod system;
pub mod text;
mod translate;
mod types;

pub use bytes::bytes_of;
pub use connection_statements::{ConnectionStatement, Declare, Direction, Execute, Fetch};
pub use copy::client::{CopyIn, CopyOut};
pub use database::{Database, Options, TableSize};
pub use error::{Error, Result, SqlState, Subject};
pub use outcome::{Field, Origin, Outcome, Progress, Rows, Tag};
pub use parse::{Statement, parse};
pub use session::{
    CancelHandle, Control, Description, Listing, Notice, Prepared, ProgressCallback, Session,
    SettingsSeen, TransactionStatus, activity_text, parameter_of_text,
};
pub use types::{CHAR, NAME, OID, is_record};

pub use datafusion::arrow;
pub use datafusion::common::ScalarValue;
pub use datafusion::execution::SendableRecordBatchStream;
pub use statement_kind::StatementKind;
pub use store;
pub use store::catalog::SqlType;
