//! Rows by an index: its leading columns are compared with values, and the key is not.

use crate::condition::{Condition, Next};
use crate::conjunct::Comparison;
use crate::operand::{Converted, Operand, converted};
use crate::order::OrderKey;
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::compute::SortOptions;
use datafusion::common::ScalarValue;
use sdds::{Key, KeyRange};
use store::catalog::{Column, ColumnId, Index, SqlType, Table, TableId};
use store::key::{EntryEncoder, of_entries_from, of_entry};
use store::{End, TableView};
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
        if let Some((id, operand)) = &self.by_expression {
            return keys_of_expression(view, (*id, operand), parameters, limit);
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
        keys_of_values((index, file), &values, limit)
    }

    /// The entries of an index that are in the order of columns, and the end at which they begin: all entries whose leading
    /// columns have the values that the condition says. `None` if no index is of use.
    ///
    /// # Errors
    /// Those of the store; 42P02 if a parameter does not exist.
    pub(crate) fn ordered_entries<'v>(
        &self,
        view: &'v TableView,
        parameters: &[ScalarValue],
        order: &[OrderKey],
    ) -> Result<Option<(&'v TableView, KeyRange, End)>> {
        let has_key = !self.prefix.is_empty() || !matches!(self.next, Next::Any);
        if has_key || self.by_expression.is_some() {
            return Ok(None);
        }
        for (index, file) in view.indexes() {
            let values = self.values_of(index, view.table(), parameters)?;
            let Some(from) = self.end_of(index, view.table(), values.len(), order) else {
                continue;
            };
            if values.is_empty() {
                return Ok(index.predicate.is_none().then(|| (file, KeyRange::all(), from)));
            }
            let entries = EntryEncoder::new(index, &values).map_err(store::Error::from)?.values(0);
            return Ok(Some((file, of_entries_from(&entries), from)));
        }
        Ok(None)
    }

    /// The end at which rows in the order of columns begin in an index of which the first `fixed` columns have one value.
    fn end_of(
        &self,
        index: &Index,
        table: &Table,
        fixed: usize,
        order: &[OrderKey],
    ) -> Option<End> {
        if index.predicate.is_some() {
            return None;
        }
        let key = table.key_indices();
        let of_index = index.positions(table).into_iter().zip(&index.columns).skip(fixed);
        let of_index = of_index.map(|(at, column)| {
            let (descending, nulls_first) = (column.descending, column.nulls_first);
            at.map(|at| (at, SortOptions { descending, nulls_first }))
        });
        // Entries with the same values are in the order of the keys of their rows.
        let ascending = SortOptions { descending: false, nulls_first: false };
        let mut ordered = of_index.chain(key.into_iter().map(|at| Some((at, ascending))));
        let is_fixed = |column: usize| {
            let mut filters = self.filters.iter();
            filters.any(|of| of.column == column && matches!(of.comparison, Comparison::Equal))
        };
        let mut from = None;
        for wanted in order.iter().filter(|wanted| !is_fixed(wanted.column)) {
            let (at, is) = ordered.next()??;
            let has_nulls = table.columns[at].nullable;
            let end = match wanted.options {
                _ if at != wanted.column => return None,
                options if options.descending == is.descending => End::First,
                _ => End::Last,
            };
            let fits_nulls = wanted.options.nulls_first == (is.nulls_first == (end == End::First));
            if has_nulls && !fits_nulls || from.is_some_and(|from| from != end) {
                return None;
            }
            from = Some(end);
        }
        Some(from.unwrap_or(End::First))
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

/// The keys of the rows of which an expression that an index has is equal to a text.
fn keys_of_expression(
    view: &TableView,
    (id, operand): (TableId, &Operand),
    parameters: &[ScalarValue],
    limit: usize,
) -> Result<Option<Vec<Key>>> {
    let Some((index, file)) = view.indexes().iter().find(|(index, _)| index.file.id == id) else {
        return Ok(None);
    };
    let text = Column { sql_type: SqlType::Text, ..Column::row_id(ColumnId(0)) };
    match converted(operand, &text, parameters)? {
        Some(Converted::Value(value)) => keys_of_values((index, file), &[value], limit),
        Some(Converted::Null) => Ok(Some(Vec::new())),
        None => Ok(None),
    }
}

/// The keys of the rows whose leading columns of an index have these values, in order; `None` if there are more than
/// `limit`.
fn keys_of_values(
    (index, file): (&Index, &TableView),
    values: &[ArrayRef],
    limit: usize,
) -> Result<Option<Vec<Key>>> {
    let entries = EntryEncoder::new(index, values).map_err(store::Error::from)?.values(0);
    let range = match index.is_enforced() && values.len() == index.columns.len() {
        true => KeyRange::point(&of_entry(&entries)),
        false => of_entries_from(&entries),
    };
    let mut keys = file.entries_here(&range, limit + 1)?;
    keys.sort_unstable();
    Ok(Some(keys).filter(|keys| keys.len() <= limit))
}
