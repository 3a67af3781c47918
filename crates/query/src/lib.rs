//! SQL over tables of splitting buckets.
//!
//! A [`Database`] has sessions; a [`Session`] executes statements. A statement is parsed ([`parse`]), planned by DataFusion
//! over our tables at a snapshot, and executed; its changes are one commit of the store. Prepared statements on one row by
//! its key take a short path without the planner ([`Prepared`]).
//!
//! From the bottom up: `context` is what statements run in; `dml`, `ddl`, `copy` and `roles` execute statements, one file a
//! kind, and `triggers` what they fire; `short` is the short path; `forwarding` sends calls of procedures to the owners of their rows; `session` is the interface; `receiver` executes other servers' requests.

mod analysis;
mod calls;
mod context;
mod copy;
mod database;
mod ddl;
mod dml;
mod foreign_functions;
mod foreign_keys;
mod forwarding;
mod indexes;
mod receiver;
mod repeated;
mod roles;
mod row_locks;
mod served;
mod session;
mod short;
mod triggers;

pub use crate::context::cancel::CancelHandle;
pub use crate::context::outcome::{Outcome, Progress, Rows, Tag};
pub use crate::context::session_context::Notice;
pub use crate::context::{ProgressCallback, parameter_of_text};
pub use catalog_views::session_context::TransactionStatus;
pub use catalog_views::settings::byte_size::bytes_of;
pub use copy::client::{CopyIn, CopyOut};
pub use database::{DataDirectory, Database, Options, TableSize};
pub use executor::{Control, Executors};
pub use indexes::index_expressions;
pub use notifications::Notification;
pub use parser::commands::Transaction;
pub use parser::connection::{ConnectionStatement, Declare, Direction, Execute, Fetch, Prepare};
pub use parser::{Statement, parse};
pub use session::{Description, Listing, Prepared, Session, SettingsSeen, activity_text};
pub use values::assign::as_texts;
pub use values::error::{Error, Result, SqlState, Subject};
pub use values::field::{Field, Origin};
pub use values::style::Style;
pub use values::types::{BPCHAR, CHAR, NAME, OID, REFCURSOR, is_record};
pub use values::{binary, numbers, text};

pub use datafusion::arrow;
pub use datafusion::common::ScalarValue;
pub use datafusion::execution::SendableRecordBatchStream;
pub use parser::statement_kind::StatementKind;
pub use store;
pub use store::catalog::{SqlType, SystemType};
pub use store::journal::Durability;

/// The object id of a type that a user has defined, or of the type of arrays of it.
pub fn type_oid(id: store::catalog::TypeId) -> u32 {
    u32::try_from(catalog_views::pg_catalog::oids::user_type(id)).unwrap_or_default()
}
