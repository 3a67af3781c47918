//! A table that is generated: its definition and its rows.

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use std::fmt;

/// A table to be created and loaded.
pub struct TableSource {
    /// The table's name.
    pub name: String,
    /// The statement that creates it, with its primary key.
    pub create_sql: String,
    /// How many rows there are; an estimate for TPC-H's lineitem, whose orders have one to seven lines.
    pub rows: u64,
    /// The type of the batches.
    pub schema: SchemaRef,
    /// The rows, in key order, made as they are taken.
    pub batches: Box<dyn Iterator<Item = RecordBatch> + Send>,
}

impl TableSource {
    /// The same table with buckets of so many bytes.
    pub fn with_bucket_size(mut self, bytes: u64) -> Self {
        self.create_sql.push_str(&format!(" WITH (bucket_size = {bytes})"));
        self
    }
}

impl fmt::Debug for TableSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableSource")
            .field("name", &self.name)
            .field("create_sql", &self.create_sql)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}
