//! What a statement returns to the function that has run it.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use values::field::Field;

/// What a statement has done.
pub struct Done {
    /// The columns of its rows; `None` if it returns none.
    pub fields: Option<Vec<Field>>,
    /// The columns of the batches, if they are known.
    pub schema: Option<SchemaRef>,
    /// The rows.
    pub batches: Vec<RecordBatch>,
    /// The number of rows that it has changed.
    pub count: u64,
}
