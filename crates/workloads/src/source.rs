//! A generated table: its definition and its rows.

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use std::fmt;

/// A table to create and load.
pub struct TableSource {
    /// Name of the table.
    pub name: String,
    /// CREATE TABLE statement with the primary key.
    pub create_sql: String,
    /// Number of rows; an estimate for TPC-H's lineitem, as an order has one to seven lines.
    pub rows: u64,
    /// Schema of the batches.
    pub schema: SchemaRef,
    /// The rows in key order, generated lazily.
    pub batches: Box<dyn Iterator<Item = RecordBatch> + Send>,
}

impl TableSource {
    /// The same table with this bucket size in bytes.
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
