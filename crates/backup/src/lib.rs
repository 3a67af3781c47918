//! Backups of a database: a consistent snapshot in an object store, and the way back.
//!
//! ```text
//! URL/backups/000002-20261126T070015Z-HASH.json   a manifest: definitions, and which files have the rows
//!     data/HASH.parquet                           rows of one table in key order
//! ```
//!
//! A backup is its manifest, which is written last: one that is interrupted leaves nothing but data files that
//! nothing refers to. Data files are named by the SHA-256 of their bytes and never change, so backups share them: a
//! file is written only if no row in its part of the table has changed since the newest backup at the URL.
//!
//! The manifest and the files are independent of how this version keeps rows and definitions: names instead of ids,
//! types as SQL writes them, Parquet.
//!
//! [`write()`] makes a backup of a [`store::Store`]; [`Backup::open`] reads a manifest; [`restore()`] makes a data directory
//! of it, and [`restore_table`] one table in a running store. Not here: SQL and the command line.

mod cutter;
mod definitions;
mod digest;
mod directory;
mod error;
mod fingerprint;
mod foreign_keys;
mod freeze;
mod indexes;
mod intervals;
mod load;
mod manifest;
mod open;
mod progress;
mod restore;
mod rows;
mod single;
mod sql_types;
mod target;
mod triggers;
mod type_ids;
mod user_types;
mod write;

pub use error::Error;
pub use open::Backup;
pub use progress::Progress;
pub use restore::{Restored, restore};
pub use single::{NewTable, restore_table};
pub use target::Target;
pub use write::{Report, write};
