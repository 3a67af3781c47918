//! The data of one bucket of a table: keys and rows as bytes, recent versions, immutable runs.
//!
//! A [`Bucket`] is a range of keys with a [`BucketState`]: a [`Delta`] of recent row versions over
//! [`Run`]s of immutable, sorted Arrow columns with zone maps. A [`Source`] is what a reader sees
//! of it at a snapshot, and a [`Morsel`] is a part of that. [`compaction`] folds the delta into a
//! run.
//!
//! Not here: tables of many buckets, snapshots, transactions and the log (`store`).

mod accesses;
pub mod arrays;
mod assembly;

mod bucket;
mod chunk;
pub mod compaction;
mod delta;
mod ends;
mod error;
mod index_changes;
mod indexed_rows;
pub mod key;
mod layout;
mod load;
mod morsel;
mod nested;
mod row;
mod source;
mod stable_rows;
mod state;
#[cfg(test)]
mod test_tables;
mod write_set;
pub mod zone;

pub use accesses::Accesses;
pub use assembly::Assembly;
pub use bucket::Bucket;
pub use chunk::{CHUNK_ROWS, Chunk, Place, Run, take_rows};
pub use delta::{Delta, VERSION_OVERHEAD, Version};
pub use ends::End;
pub use error::Error;
pub use index_changes::{EntryChanges, IndexChanges};
pub use indexed_rows::IndexedRows;
pub use layout::{Layout, LayoutColumn};
pub use morsel::Morsel;
pub use row::{Row, RowEncoder, RowLayout, VALUE_BYTES_MAX, check_value_size, decode_column};
pub use source::{Located, Source, Trace};
pub use stable_rows::{Layouts, RowReader, RowWriter};
pub use state::BucketState;
pub use write_set::TableWrites;
