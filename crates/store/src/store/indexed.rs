//! What indexes have of rows. Expressions and conditions are computed by who knows SQL.

use super::Store;
use crate::Error;
use crate::error::Failure;
use arrow::array::ArrayRef;
use bucket::IndexedRows;
use catalog::{Index, Table};
use std::fmt::Debug;
use std::sync::Arc;

/// Computes the expressions and conditions of indexes.
pub trait IndexExpressions: Debug + Send + Sync {
    /// Returns what an index has of rows. `inputs` are the columns that it reads
    /// ([`Index::input_positions`]).
    ///
    /// # Errors
    /// [`Error::Failed`] if an expression has no value for a row.
    fn indexed(
        &self,
        index: &Arc<Index>,
        table: &Arc<Table>,
        inputs: &[ArrayRef],
        rows: usize,
    ) -> Result<IndexedRows, Error>;
}

impl Store {
    /// Sets what computes the expressions of indexes. Only the first call has an effect.
    pub fn compute_indexes_by(&self, expressions: Arc<dyn IndexExpressions>) {
        let _ = self.index_expressions.set(expressions);
    }

    /// Returns what an index has of rows of its table.
    ///
    /// # Errors
    /// As [`IndexExpressions::indexed`].
    pub fn indexed(
        &self,
        index: &Arc<Index>,
        table: &Arc<Table>,
        inputs: &[ArrayRef],
        rows: usize,
    ) -> Result<IndexedRows, Error> {
        if !index.is_computed(table) {
            return Ok(IndexedRows::plain(index, table, inputs));
        }
        match self.index_expressions.get() {
            Some(expressions) => expressions.indexed(index, table, inputs, rows),
            None => {
                let name = &index.file.name;
                let message = format!("nothing computes the expressions of index \"{name}\" here");
                let (sql_state, rest) = ("XX000".to_owned(), Failure::default());
                Err(Error::Failed(Box::new(Failure { sql_state, message, ..rest })))
            }
        }
    }
}
