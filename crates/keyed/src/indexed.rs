//! Rows by an index: its leading columns are compared with values, and the key is not.

use crate::condition::{Condition, Next};
use crate::conjunct::Comparison;
use crate::operand::{Converted, converted};
use datafusion::arrow::array::ArrayRef;
use datafusion::common::ScalarValue;
use sdds::{Key, KeyRange};
use store::TableView;
use store::catalog::{Index, Table};
use store::key::{EntryEncoder, of_entries_from, of_entry};
use values::error::Result;

impl Condition {
    /// The keys of the rows that an index names, in order, in a view whose rows are all on this
    /// server. They must fulfil the filters, too. `None` if no index is of use, or names more than
    /// `limit` rows.
    ///
    /// # Errors
    /// Those of the store; 42P02 if a parameter does not exist.
    pub(crate) fn keys_by_index(
        &self,
        view: &TableView,
        parameters: &[ScalarValue],
        limit: usize,
    ) -> Result<Option<Vec<Key>>> {
        let has_key = !self.prefix.is_empty() || !matches!(self.next, Next::Any);
        if view.indexes().is_empty() || has_key {
            return Ok(None);
        }
        let mut best: Option<(Vec<ArrayRef>, &Index, &TableView)> = None;
        for (index, file) in view.indexes() {
            let values = self.values_of(index, view.table(), parameters)?;
            let is_better = |(known, ..): &(Vec<ArrayRef>, _, _)| values.len() > known.len();
            if !values.is_empty() && best.as_ref().is_none_or(is_better) {
                best = Some((values, index, file));
            }
        }
        let Some((values, index, file)) = best else { return Ok(None) };
        let entries = EntryEncoder::new(index, &values).map_err(store::Error::from)?.values(0);
        let range = match index.is_enforced() && values.len() == index.columns.len() {
            true => KeyRange::point(&of_entry(&entries)),
            false => of_entries_from(&entries),
        };
        let mut keys = file.entries_here(&range, limit + 1)?;
        keys.sort_unstable();
        Ok(Some(keys).filter(|keys| keys.len() <= limit))
    }

    /// The values that leading columns of an index must have.
    fn values_of(
        &self,
        index: &Index,
        table: &Table,
        parameters: &[ScalarValue],
    ) -> Result<Vec<ArrayRef>> {
        let mut values = Vec::new();
        if index.predicate.is_some() {
            return Ok(values);
        }
        for column in index.positions(table) {
            let Some(column) = column else { break };
            let mut filters = self.filters.iter();
            let equal = filters.find(|filter| {
                filter.column == column && matches!(filter.comparison, Comparison::Equal)
            });
            let Some(equal) = equal else { break };
            match converted(&equal.operand, &table.columns[column], parameters)? {
                Some(Converted::Value(value)) => values.push(value),
                Some(Converted::Null) | None => break,
            }
        }
        Ok(values)
    }
}
