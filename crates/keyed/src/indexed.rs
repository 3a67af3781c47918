//! Rows by an index: its leading columns are compared with values, and perhaps the key, too.

use crate::condition::Condition;
use crate::conjunct::Comparison;
use crate::filter::Is;
use crate::operand::{Converted, Operand, converted};
use crate::order::{Order, OrderKey};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::compute::SortOptions;
use datafusion::common::ScalarValue;
use sdds::{Bound, Key, KeyRange};
use store::catalog::{Column, ColumnId, Index, SqlType, Table, TableId};
use store::key::{EntryEncoder, of_entries_from, of_entry};
use store::{End, TableView};
use values::error::Result;

impl Condition {
    /// The keys in a range of the rows that an index names, in order, in a view whose rows are all on
    /// this server. They must fulfil the filters, too. `None` if no index is of use, or names more
    /// than `limit` rows. Ranges of an index whose first column has no value are read only with
    /// `by_range`. With the keys comes whether their rows fulfil all filters.
    ///
    /// # Errors
    /// Those of the store; 42P02 if a parameter does not exist.
    pub(crate) fn keys_by_index(
        &self,
        (view, within): (&TableView, &KeyRange),
        parameters: &[ScalarValue],
        limit: usize,
        by_range: bool,
    ) -> Result<Option<(Vec<Key>, bool)>> {
        if view.indexes().is_empty() || !self.admits_indexes() {
            return Ok(None);
        }
        if let Some((id, operand)) = &self.by_expression {
            let keys = keys_of_expression(view, (*id, operand), parameters, limit)?;
            return Ok(keys.map(|keys| (keys, self.filters.is_empty())));
        }
        let mut best: Option<(Entries, &Index, &TableView)> = None;
        for (index, file) in view.indexes() {
            let entries = self.entries_of(index, (view.table(), within), parameters)?;
            let Some(entries) = entries else { continue };
            let is_better = |(known, ..): &(Entries, _, _)| entries.is_better_than(known);
            let is_used = entries.found > 0
                || entries.listed.is_some()
                || by_range && entries.is_bounded && !self.has_key();
            if is_used && best.as_ref().is_none_or(is_better) {
                best = Some((entries, index, file));
            }
        }
        let Some((entries, index, file)) = best else { return Ok(None) };
        let is_exact = entries.is_exact;
        let mut keys = match &entries.listed {
            Some(last) => keys_of_list((index, file), &entries.values, last, limit)?,
            None => keys_within((index, file), entries, limit)?,
        };
        if let Some(keys) = keys.as_mut().filter(|_| self.has_key()) {
            keys.retain(|key| within.contains(key));
        }
        Ok(keys.map(|keys| (keys, is_exact)))
    }

    /// The entries of an index that are in the order of columns, and the end at which they begin: all entries whose leading
    /// columns have the values that the condition says. Those of rows whose keys are in a range are among them. With them
    /// comes whether their rows fulfil all filters. `None` if no index is of use.
    ///
    /// # Errors
    /// Those of the store; 42P02 if a parameter does not exist.
    pub(crate) fn ordered_entries<'v>(
        &self,
        (view, within): (&'v TableView, &KeyRange),
        parameters: &[ScalarValue],
        order: &Order,
    ) -> Result<Option<(&'v TableView, KeyRange, End, bool)>> {
        if !self.admits_indexes() || self.by_expression.is_some() {
            return Ok(None);
        }
        for (index, file) in view.indexes() {
            let entries = self.entries_of(index, (view.table(), within), parameters)?;
            let Some(entries) = entries else { continue };
            let (is_by_key, fixed) = (order.columns().is_empty(), entries.values.len());
            // The range is better.
            if is_by_key && entries.found == 0 || self.has_key() && fixed == 0 {
                continue;
            }
            if let Some(from) = self.end_of(index, view.table(), fixed, order) {
                let is_exact = entries.is_exact && entries.listed.is_none();
                return Ok(Some((file, entries.range, from, is_exact)));
            }
        }
        Ok(None)
    }

    /// The end at which rows in the order of columns begin in an index of which the first `fixed` columns have one value.
    fn end_of(&self, index: &Index, table: &Table, fixed: usize, order: &Order) -> Option<End> {
        let key = table.key_indices();
        let by_key = |column: &usize| OrderKey {
            column: *column,
            options: SortOptions { descending: order.from() == End::Last, nulls_first: false },
        };
        let order: Vec<OrderKey> = match order {
            Order::Columns(columns) => columns.clone(),
            Order::Key(_) => key.iter().map(by_key).collect(),
        };
        let of_index = index.positions(table).into_iter().zip(&index.columns).skip(fixed);
        let of_index = of_index.map(|(at, column)| {
            let (descending, nulls_first) = (column.descending, column.nulls_first);
            at.map(|at| (at, SortOptions { descending, nulls_first }))
        });
        // Entries with the same values are in the order of the keys of their rows.
        let ascending = SortOptions { descending: false, nulls_first: false };
        let is_fixed = |column: usize| {
            self.for_indexes().any(|of| of.column == column && of.equal_to().is_some())
        };
        let of_keys = key.into_iter().filter(|at| !is_fixed(*at)).map(|at| Some((at, ascending)));
        let mut ordered = of_index.chain(of_keys);
        let mut from = None;
        for wanted in order.into_iter().filter(|wanted| !is_fixed(wanted.column)) {
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

    /// The values that leading columns of an index have.
    fn leading(&self, index: &Index, table: &Table, parameters: &[ScalarValue]) -> Result<Leading> {
        let prefix = &table.key_indices()[..self.prefix.len()];
        let mut leading = Leading::default();
        for column in index.positions(table) {
            let Some(column) = column else { break };
            let mut filters = self.for_indexes().enumerate();
            let equal = filters.find_map(|(at, filter)| {
                let equal = filter.equal_to().filter(|_| filter.column == column);
                equal.map(|equal| (at, equal))
            });
            leading.next = Some(column);
            let Some((at, equal)) = equal else { break };
            match converted(equal, &table.columns[column], parameters)? {
                Some(Converted::Value(value)) => leading.values.push(value),
                Some(Converted::Null) => return Ok(Leading { is_null: true, ..leading }),
                None => break,
            }
            leading.next = None;
            // An index may have a column twice.
            if at < self.filters.len() && !leading.used.contains(&at) {
                leading.used.push(at);
                leading.found += usize::from(!prefix.contains(&column));
            }
        }
        Ok(leading)
    }

    /// The entries of an index that the condition admits; `None` if the index may lack rows of it, or none is admitted.
    fn entries_of(
        &self,
        index: &Index,
        (table, within): (&Table, &KeyRange),
        parameters: &[ScalarValue],
    ) -> Result<Option<Entries>> {
        if !self.is_covered_by(index) {
            return Ok(None);
        }
        let Leading { values, next, found, used, is_null } =
            self.leading(index, table, parameters)?;
        if is_null {
            let (range, listed, is_bounded, is_exact) =
                (KeyRange::all(), Some(Vec::new()), false, true);
            return Ok(Some(Entries { values, found, range, is_bounded, listed, is_exact }));
        }
        let (own, mut used) = (self.filters.len(), used.len());
        let mut range = range_of(index, &values)?;
        let list = self
            .for_indexes()
            .find(|of| Some(of.column) == next && matches!(of.is, Is::OneOf(_) | Is::AnyOf(_)));
        if let Some(list) = list {
            let listed = list.values(table, parameters)?;
            let (is_bounded, is_exact) = (false, listed.is_some() && used + 1 == own);
            return Ok(Some(Entries { values, found, range, is_bounded, listed, is_exact }));
        }
        let is_compared = next.is_some_and(|next| {
            self.for_indexes().any(|of| of.column == next && matches!(of.is, Is::Compared(..)))
        });
        let mut is_bounded = false;
        if self.has_key() && values.len() == index.columns.len() && !index.is_enforced() {
            range = entries_within(index, &values, within)?;
        }
        if let Some(next) = next.filter(|_| is_compared) {
            let descends = index.columns[values.len()].descending;
            let has_nulls = table.columns[next].nullable;
            let of_next = self.for_indexes().enumerate().filter(|(_, of)| of.column == next);
            for (at, filter) in of_next {
                let Is::Compared(comparison, operand) = &filter.is else { continue };
                let Some(Converted::Value(limit)) =
                    converted(operand, &table.columns[next], parameters)?
                else {
                    continue;
                };
                let with_limit = [&values[..], &[limit]].concat();
                let equal = range_of(index, &with_limit)?;
                let Some(bounded) = bounded(&range, &equal, *comparison, descends) else {
                    return Ok(None);
                };
                is_bounded |= bounded != range;
                range = bounded;
                let is_all = at < own && !has_nulls && *comparison != Comparison::NotEqual;
                used += usize::from(is_all);
            }
        }
        let (listed, is_exact) = (None, used == own);
        Ok(Some(Entries { values, found, range, is_bounded, listed, is_exact }))
    }
}

/// The values that leading columns of an index have.
#[derive(Default)]
struct Leading {
    values: Vec<ArrayRef>,
    /// The column after these.
    next: Option<usize>,
    /// The number of these columns that do not lead the key.
    found: usize,
    /// The filters that say these values.
    used: Vec<usize>,
    /// Whether a column is compared with NULL: no row fulfils the condition.
    is_null: bool,
}

/// Entries of an index.
struct Entries {
    /// The values of its leading columns.
    values: Vec<ArrayRef>,
    /// The number of these columns that do not lead the key.
    found: usize,
    /// The keys of the entries.
    range: KeyRange,
    /// Whether the column after these is compared with values.
    is_bounded: bool,
    /// The values that the column after these may have.
    listed: Option<Vec<ArrayRef>>,
    /// Whether their rows fulfil all filters.
    is_exact: bool,
}

impl Entries {
    fn is_better_than(&self, other: &Self) -> bool {
        let rank = |of: &Self| (of.found, of.values.len(), of.listed.is_some(), of.is_bounded);
        rank(self) > rank(other)
    }
}

/// The entries whose leading columns have values.
fn range_of(index: &Index, values: &[ArrayRef]) -> Result<KeyRange> {
    if values.is_empty() {
        return Ok(KeyRange::all());
    }
    let entries = EntryEncoder::new(index, values).map_err(store::Error::from)?.values(0);
    Ok(of_entries_from(&entries))
}

/// The entries of rows of which all columns of an index have values and the keys are in a range.
fn entries_within(index: &Index, values: &[ArrayRef], keys: &KeyRange) -> Result<KeyRange> {
    let entries = EntryEncoder::new(index, values).map_err(store::Error::from)?.values(0);
    let all = of_entries_from(&entries);
    let from = |bound: &Bound| match bound {
        Bound::At(key) => Some(of_entries_from(&[&entries, key.as_bytes()].concat()).low),
        Bound::NegInf | Bound::PosInf => None,
    };
    let low = from(&keys.low).unwrap_or(all.low);
    let high = from(&keys.high).unwrap_or(all.high);
    Ok(KeyRange { low, high })
}

/// The part of a range of entries in which a column fulfils a comparison with a value, given the entries that have this
/// value. `None` if it is empty. Entries with NULL may be in it.
fn bounded(
    range: &KeyRange,
    equal: &KeyRange,
    comparison: Comparison,
    descends: bool,
) -> Option<KeyRange> {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    let (from_value, after_value) = (&equal.low, &equal.high);
    let (low, high) = match (comparison, descends) {
        (NotEqual, _) => (None, None),
        (Equal, _) => (Some(from_value), Some(after_value)),
        (Greater, false) | (Less, true) => (Some(after_value), None),
        (GreaterOrEqual, false) | (LessOrEqual, true) => (Some(from_value), None),
        (Less, false) | (Greater, true) => (None, Some(from_value)),
        (LessOrEqual, false) | (GreaterOrEqual, true) => (None, Some(after_value)),
    };
    let low = low.unwrap_or(&range.low).max(&range.low);
    let high = high.unwrap_or(&range.high).min(&range.high);
    KeyRange::new(low.clone(), high.clone())
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
        Some(Converted::Value(value)) => {
            let values = vec![value];
            let range = range_of(index, &values)?;
            let (found, is_bounded, listed, is_exact) = (1, false, None, true);
            let entries = Entries { values, found, range, is_bounded, listed, is_exact };
            keys_within((index, file), entries, limit)
        }
        Some(Converted::Null) => Ok(Some(Vec::new())),
        None => Ok(None),
    }
}

/// The keys of the rows with entries of an index that have leading values and one of a list, in order; `None` if there are
/// more than `limit`.
fn keys_of_list(
    (index, file): (&Index, &TableView),
    leading: &[ArrayRef],
    list: &[ArrayRef],
    limit: usize,
) -> Result<Option<Vec<Key>>> {
    let mut keys = Vec::new();
    for last in list {
        let range = range_of(index, &[leading, std::slice::from_ref(last)].concat())?;
        keys.extend(file.entries_here(&range, limit + 1 - keys.len())?);
        if keys.len() > limit {
            return Ok(None);
        }
    }
    keys.sort_unstable();
    keys.dedup();
    Ok(Some(keys))
}

/// The keys of the rows with some entries of an index, in order; `None` if there are more than `limit`.
fn keys_within(
    (index, file): (&Index, &TableView),
    Entries { values, range, .. }: Entries,
    limit: usize,
) -> Result<Option<Vec<Key>>> {
    let range = match index.is_enforced() && values.len() == index.columns.len() {
        true => {
            let entry = EntryEncoder::new(index, &values).map_err(store::Error::from)?.values(0);
            KeyRange::point(&of_entry(&entry))
        }
        false => range,
    };
    let mut keys = file.entries_here(&range, limit + 1)?;
    keys.sort_unstable();
    Ok(Some(keys).filter(|keys| keys.len() <= limit))
}
