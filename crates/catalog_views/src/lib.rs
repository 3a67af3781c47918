//! System tables, the functions that read the catalog, settings, privileges and name resolution.
//!
//! - `system_tables`: [`table`] and [`cluster_table`] compute a system table when a statement reads
//!   it.
//!   - [`pg_catalog`] and `information_schema` have the relations and columns of PostgreSQL 15
//!     ([`shape`]).
//!   - `pando` has Pando's own system tables; `all_servers` collects the rows of those that every
//!     server contributes to.
//!   - `view_context` is the input of all of them. `rows` and `columns` build their record batches.
//! - [`functions`]: the functions that read the catalog or depend on the session.
//! - [`session_context`]: the traits [`SessionContext`](session_context::SessionContext) and
//!   [`DatabaseContext`](session_context::DatabaseContext), through which functions and system
//!   tables see the session and the database. `origin` attaches them to a statement.
//! - [`mod@settings`]: the settings that exist and the values that a session has for them, of the crate
//!   `session_settings`.
//! - [`access`]: privileges. [`search_path`] and [`relation_names`]: name resolution.
//! - [`catalog_tables`] numbers the columns of tables, [`names`] has fixed names, `errors` has
//!   shared errors.

pub mod access;
mod all_servers;
pub mod catalog_tables;
mod columns;
mod errors;
pub mod functions;
mod information_schema;
pub mod names;
mod origin;
pub mod other_kinds;
mod pando;
pub mod pg_catalog;
pub mod relation_names;
mod rows;
pub mod search_path;
pub mod session_context;
pub mod shape;
pub mod shared_comments;
mod system_tables;
pub mod updatable_views;
mod view_context;

pub use all_servers::own_part;
pub use errors::not_in_cluster;
pub use origin::{Origin, install, named_settings, setting};
pub use session_settings as settings;
pub use system_tables::{cluster_table, is_implicit, lists_view_columns, sequence_table, table};
pub use view_context::ViewColumns;
