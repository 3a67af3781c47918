//! Filters to rows by an index: the leading columns that a filter fixes by `=`, then a column that it
//! bounds, give ranges of entries, which name the rows.
//!
//! The index is read when the scan is planned, at the snapshot of the statement. The filter is
//! evaluated on the rows in any case. Too many entries are not read to the end: then the whole table
//! is scanned.

use crate::key_ranges::{Bounded, array_of, bound_on, split_conjuncts};
use datafusion::arrow::array::ArrayRef;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator};
use sdds::{Bound, KeyRange};
use std::sync::Arc;
use store::TableView;
use store::catalog::{Column, Index, IndexColumn, Table};
use store::key::{EntryEncoder, of_entries_from, of_entry};

/// The most rows that are read by an index.
const ROWS_MAX: usize = 1024;

/// The rows of a scan by an index.
pub(crate) struct Looked {
    /// The name of the index.
    pub(crate) index: Arc<str>,
    /// The keys of the rows, in order.
    pub(crate) rows: Vec<KeyRange>,
}

/// Looks rows up for which all of `filters` may be true. `None` if no index is of use.
///
/// # Errors
/// Those of the store.
pub(crate) async fn rows(
    view: &TableView,
    filters: &[Expr],
) -> Result<Option<Looked>, store::Error> {
    if view.indexes().is_empty() || filters.is_empty() {
        return Ok(None);
    }
    let mut conjuncts = Vec::new();
    filters.iter().for_each(|filter| split_conjuncts(filter, &mut conjuncts));
    let ways = view
        .indexes()
        .iter()
        .filter_map(|(index, file)| Some((Way::of(index, view.table(), &conjuncts)?, index, file)));
    let mut ways: Vec<_> = ways.collect();
    // The best one first; of equal ones the oldest.
    ways.sort_by_key(|(way, ..)| std::cmp::Reverse(way.rank));
    for (way, index, file) in ways {
        let Some(mut keys) = file.rows_of_entries(&way.ranges, ROWS_MAX).await? else { continue };
        keys.sort_unstable();
        keys.dedup();
        let rows = keys.iter().map(KeyRange::point).collect();
        return Ok(Some(Looked { index: index.file.name.as_str().into(), rows }));
    }
    Ok(None)
}

/// The ranges of entries in an index.
struct Way {
    ranges: Vec<KeyRange>,
    /// Higher for fewer rows: whether all columns of a unique index are fixed, the number of fixed
    /// columns, and how the next one is bounded.
    rank: (bool, usize, u8),
}

impl Way {
    fn of(index: &Index, table: &Table, conjuncts: &[&Expr]) -> Option<Self> {
        let mut fixed: Vec<ArrayRef> = Vec::new();
        for (order, at) in index.columns.iter().zip(index.positions(table)) {
            let column = &table.columns[at];
            let bounds: Vec<_> =
                conjuncts.iter().filter_map(|expr| bound_on(expr, &column.name)).collect();
            let equal = bounds.iter().find_map(|bound| match bound {
                Bounded::Compared(Operator::Eq, value) => array_of(value, &column.sql_type.arrow()),
                _ => None,
            });
            match equal {
                Some(value) => fixed.push(value),
                None => return Self::below(index, &fixed, (order, column), &bounds),
            }
        }
        let beginning = beginning(index, &fixed)?;
        let ranges = match index.is_unique {
            true => vec![KeyRange::point(&of_entry(&beginning))],
            false => vec![of_entries_from(&beginning)],
        };
        Some(Self { ranges, rank: (index.is_unique, fixed.len(), 0) })
    }

    /// Ranges for fixed columns, of which the next one is bounded.
    fn below(
        index: &Index,
        fixed: &[ArrayRef],
        (order, column): (&IndexColumn, &Column),
        bounds: &[Bounded<'_>],
    ) -> Option<Self> {
        let with = |value: &ScalarValue| {
            let value = array_of(value, &column.sql_type.arrow())?;
            beginning(index, &[fixed, &[value]].concat())
        };
        let one_of: Option<Vec<KeyRange>> = bounds.iter().find_map(|bound| match bound {
            Bounded::OneOf(values) => {
                let values = values.iter().filter(|value| !value.is_null());
                values.map(|value| Some(of_entries_from(&with(value)?))).collect()
            }
            Bounded::Compared(..) => None,
        });
        let compared: Vec<KeyRange> = bounds
            .iter()
            .filter_map(|bound| match bound {
                Bounded::Compared(operator, value) => {
                    entries_compared(*operator, order.descending, &with(value)?)
                }
                Bounded::OneOf(_) => None,
            })
            .collect();
        let kind = match (&one_of, compared.len()) {
            (Some(_), _) => 3,
            (None, 0) if fixed.is_empty() => return None,
            (None, bounds) => bounds.min(2) as u8,
        };
        let mut ranges = match one_of {
            Some(ranges) => ranges,
            None => vec![of_entries_from(&beginning(index, fixed)?)],
        };
        // Values only: NULL fulfils no comparison.
        if let (false, Some(values)) = (compared.is_empty(), values_below(index, fixed)) {
            ranges = ranges.iter().filter_map(|range| range.intersect(&values)).collect();
        }
        for limit in &compared {
            ranges = ranges.iter().filter_map(|range| range.intersect(limit)).collect();
        }
        ranges.sort_by(|a, b| a.low.cmp(&b.low));
        ranges.dedup();
        Some(Self { ranges, rank: (false, fixed.len(), kind) })
    }
}

/// The beginning of entries with these values of the first columns.
fn beginning(index: &Index, values: &[ArrayRef]) -> Option<Vec<u8>> {
    Some(EntryEncoder::new(index, values).ok()?.values(0))
}

/// The entries whose next column compares with a value, which ends `beginning`.
fn entries_compared(operator: Operator, descending: bool, beginning: &[u8]) -> Option<KeyRange> {
    let operator = match (operator, descending) {
        (Operator::Lt, true) => Operator::Gt,
        (Operator::LtEq, true) => Operator::GtEq,
        (Operator::Gt, true) => Operator::Lt,
        (Operator::GtEq, true) => Operator::LtEq,
        (operator, _) => operator,
    };
    let all = of_entries_from(beginning);
    match operator {
        Operator::Lt => KeyRange::new(Bound::NegInf, all.low),
        Operator::LtEq => KeyRange::new(Bound::NegInf, all.high),
        Operator::Gt => KeyRange::new(all.high, Bound::PosInf),
        Operator::GtEq => KeyRange::new(all.low, Bound::PosInf),
        _ => None,
    }
}

/// The entries with some values of the first columns, and any value but NULL of the next one.
fn values_below(index: &Index, fixed: &[ArrayRef]) -> Option<KeyRange> {
    let mut bytes = beginning(index, fixed)?;
    bytes.push(store::key::VALUE);
    Some(of_entries_from(&bytes))
}
