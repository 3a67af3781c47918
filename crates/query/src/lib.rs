//! SQL over tables of splitting buckets.
//!
//! A [`Database`] has sessions; a [`Session`] runs statements. A statement is parsed ([`parse`]), planned
//! by DataFusion over our tables at a snapshot, and run; what it changes is one commit of the store.
//! Statements on one row by its key go a shorter way ([`Prepared`]).
//!
//! The ways in the house: `planner` gives names their meaning, `scan` reads buckets, `dml`, `ddl` and
//! `copy` change them, `short` is the way without a planner, `system` are the tables about tables.

pub(crate) mod catalog_views;
pub(crate) mod distributed;
pub(crate) mod parser;

mod copy;
mod database;
mod ddl;
mod dml;
mod engine;
mod functions;
mod memory_pool;
mod outcome;
mod planner;
mod predict;
mod receiver;
mod roles;
mod scan;
mod session;
mod short;
mod values;

pub use crate::catalog_views::session_context::TransactionStatus;
pub use crate::parser::{Statement, parse};
pub use crate::values::bytes::bytes_of;
pub use crate::values::error::{Error, Result, SqlState, Subject};
pub use crate::values::field::{Field, Origin};
pub use crate::values::types::{CHAR, NAME, OID, is_record};
pub use copy::client::{CopyIn, CopyOut};
pub use database::{Database, Options, TableSize};
pub use outcome::{Outcome, Progress, Rows, Tag};
pub use parser::connection::{ConnectionStatement, Declare, Direction, Execute, Fetch};
pub use session::{
    CancelHandle, Control, Description, Listing, Notice, Prepared, ProgressCallback, Session,
    SettingsSeen, activity_text, parameter_of_text,
};

pub use datafusion::arrow;
pub use datafusion::common::ScalarValue;
pub use datafusion::execution::SendableRecordBatchStream;
pub use parser::statement_kind::StatementKind;
pub use store;
pub use store::catalog::SqlType;
