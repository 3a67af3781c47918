//! Filters to rows by an index: the leading keys that a filter fixes by `=`, then one that it bounds, give ranges of
//! entries, which name the rows.
//!
//! The index is read when the scan is planned, at the snapshot of the statement. The filter is
//! evaluated on the rows in any case. Too many entries are not read to the end: then the whole table
//! is scanned.

pub(crate) mod first;
pub mod implication;
pub mod meaning;
pub(crate) mod way;

use crate::key_ranges::{self, split_conjuncts};
use datafusion::common::Column;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{Expr, Operator};
use datafusion::prelude::SessionConfig;
use implication::implies;
use meaning::Meaning;
use sdds::KeyRange;
use std::sync::Arc;
use store::TableView;
use store::catalog::{Index, TableId};
use way::Way;

/// The most rows that are read by an index.
const ROWS_MAX: usize = 1024;

/// The most ways that OR combines.
const WAYS_MAX: usize = 64;

/// The rows of a scan by an index.
#[derive(Debug, Clone)]
pub struct Looked {
    /// The names of the indexes.
    pub(crate) index: Arc<str>,
    /// The keys of the rows, in order.
    pub(crate) rows: Vec<KeyRange>,
}

/// An index of a table with its meaning.
pub(crate) struct Known<'a> {
    pub(crate) index: &'a Arc<Index>,
    pub(crate) file: &'a TableView,
    pub(crate) meaning: Arc<Meaning>,
}

/// Looks rows up for which all of `filters` may be true. `None` if no index is of use.
///
/// # Errors
/// Those of the store.
pub(crate) async fn rows(
    view: &TableView,
    filters: &[Expr],
    config: &SessionConfig,
) -> Result<Option<Looked>, store::Error> {
    if view.indexes().is_empty() || filters.is_empty() {
        return Ok(None);
    }
    let filters: Vec<Expr> = filters.iter().map(|filter| unqualified(filter.clone())).collect();
    let mut conjuncts = Vec::new();
    filters.iter().for_each(|filter| split_conjuncts(filter, &mut conjuncts));
    let known = known(view, config);
    let mut looked = by_one(view, &known, &conjuncts, ROWS_MAX).await?;
    for number in 0..conjuncts.len() {
        if looked.is_some() {
            break;
        }
        looked = by_several(view, &known, &conjuncts, number).await?;
    }
    Ok(looked.map(Found::looked))
}

/// The indexes of a table whose meaning is known.
pub(crate) fn known<'a>(view: &'a TableView, config: &SessionConfig) -> Vec<Known<'a>> {
    let known = view.indexes().iter().filter_map(|(index, file)| {
        Some(Known { index, file, meaning: meaning::of(index, view.table(), config)? })
    });
    known.collect()
}

/// The partial indexes that have all rows which fulfil some filters. Filters with places for parameters do not count.
pub(crate) fn implied(
    view: &TableView,
    filters: &[Expr],
    config: &SessionConfig,
) -> Arc<[TableId]> {
    if view.indexes().iter().all(|(index, _)| index.predicate.is_none()) {
        return Arc::default();
    }
    let filters: Vec<Expr> = filters.iter().map(|filter| unqualified(filter.clone())).collect();
    let mut conjuncts = Vec::new();
    filters.iter().for_each(|filter| split_conjuncts(filter, &mut conjuncts));
    let has_all = |known: &Known<'_>| {
        let predicate = known.meaning.predicate.as_ref();
        predicate.is_some_and(|predicate| implies(&conjuncts, predicate))
    };
    let found = known(view, config).into_iter().filter(has_all);
    found.map(|known| known.index.file.id).collect()
}

/// Rows that were found, and by what.
struct Found<'a> {
    indexes: Vec<&'a str>,
    rows: Vec<KeyRange>,
}

impl Found<'_> {
    fn looked(mut self) -> Looked {
        self.indexes.dedup();
        Looked { index: self.indexes.join(" or ").into(), rows: disjoint(self.rows) }
    }
}

/// The keys of ranges as ranges in order, none of which overlaps another.
pub(crate) fn disjoint(mut ranges: Vec<KeyRange>) -> Vec<KeyRange> {
    ranges.sort_by(|a, b| a.low.cmp(&b.low));
    let mut all: Vec<KeyRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match all.last_mut() {
            Some(last) if range.low < last.high => {
                if last.high < range.high {
                    last.high = range.high;
                }
            }
            _ => all.push(range),
        }
    }
    all
}

/// Rows by the best index, at most `limit`.
async fn by_one<'a>(
    view: &TableView,
    known: &[Known<'a>],
    conditions: &[&Expr],
    limit: usize,
) -> Result<Option<Found<'a>>, store::Error> {
    let ways = known.iter().filter_map(|known| {
        let way = Way::of(known.index, view.table(), &known.meaning, conditions)?;
        way.is_useful.then_some((way, known))
    });
    let mut ways: Vec<(Way, &Known<'a>)> = ways.collect();
    // The best one first; of equal ones the oldest.
    ways.sort_by_key(|(way, _)| std::cmp::Reverse(way.rank));
    for (way, known) in ways {
        let Some(keys) = known.file.rows_of_entries(&way.ranges, limit).await? else { continue };
        let rows = keys.iter().map(KeyRange::point).collect();
        return Ok(Some(Found { indexes: vec![&known.index.file.name], rows }));
    }
    Ok(None)
}

/// Rows for a disjunction among the conditions, each part of which has an index or bounds the primary key.
async fn by_several<'a>(
    view: &TableView,
    known: &[Known<'a>],
    conditions: &[&Expr],
    number: usize,
) -> Result<Option<Found<'a>>, store::Error> {
    let mut parts = Vec::new();
    disjuncts(conditions[number], &mut parts);
    if parts.len() < 2 || parts.len() > WAYS_MAX {
        return Ok(None);
    }
    let mut all = Found { indexes: Vec::new(), rows: Vec::new() };
    for part in parts {
        let mut conditions: Vec<&Expr> = conditions.to_vec();
        conditions.remove(number);
        split_conjuncts(part, &mut conditions);
        let owned: Vec<Expr> = conditions.iter().copied().cloned().collect();
        let ranges = key_ranges::of_filters(view.table(), &owned);
        let has_short_key = view.table().key.len() == 1;
        if has_short_key && ranges.len() <= ROWS_MAX && ranges.iter().all(is_point) {
            all.rows.extend(ranges);
        } else {
            let left = ROWS_MAX.saturating_sub(all.rows.len());
            let Some(found) = by_one(view, known, &conditions, left).await? else {
                return Ok(None);
            };
            all.indexes.extend(found.indexes);
            all.rows.extend(found.rows);
        }
        if all.rows.len() > ROWS_MAX {
            return Ok(None);
        }
    }
    Ok(Some(all))
}

/// Whether a range of a key of one column is that of one value.
fn is_point(range: &KeyRange) -> bool {
    match &range.low {
        sdds::Bound::At(low) => key_ranges::of_key(low.as_bytes()).as_ref() == Some(range),
        _ => false,
    }
}

/// Divides a condition into its disjuncts.
fn disjuncts<'a>(expr: &'a Expr, out: &mut Vec<&'a Expr>) {
    let mut rest = vec![expr];
    while let Some(expr) = rest.pop() {
        match expr {
            Expr::BinaryExpr(binary) if binary.op == Operator::Or => {
                rest.extend([&*binary.right, &*binary.left]);
            }
            other => out.push(other),
        }
    }
}

/// An expression with its columns named without their table.
pub fn unqualified(expr: Expr) -> Expr {
    let bare = |expr: Expr| match expr {
        Expr::Column(column) => {
            Ok(Transformed::yes(Expr::Column(Column::new_unqualified(column.name))))
        }
        other => Ok(Transformed::no(other)),
    };
    let transformed = expr.clone().transform(bare).map(|transformed| transformed.data);
    transformed.unwrap_or(expr)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sdds::{Bound, Key};

    /// A row that two parts of an OR named, one by the range of its key, was read twice.
    #[test]
    fn ranges_do_not_overlap() {
        let key = Key::from(vec![1, 2]);
        let wide = KeyRange { low: Bound::At(key.clone()), high: Bound::At(Key::from(vec![1, 3])) };
        let other = KeyRange::point(&Key::from(vec![1, 3]));
        let ranges = vec![other.clone(), KeyRange::point(&key), wide.clone(), other.clone()];
        assert_eq!(disjoint(ranges), [wide, other]);
    }
}
