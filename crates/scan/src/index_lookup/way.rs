//! A way to rows by an index: the entries that conditions leave.

use super::implication::implies;
use super::meaning::Meaning;
use crate::key_ranges::{Bounded, array_of, bound_of};
use datafusion::arrow::array::{ArrayRef, new_null_array};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator};
use sdds::{Bound, KeyRange};
use store::catalog::{Index, SqlType, Table};
use store::key::{EntryEncoder, of_entries_from, of_entry};

/// The ranges of entries in an index for conditions.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    /// In the order of the index, disjoint.
    pub(crate) ranges: Vec<KeyRange>,
    /// The number of columns that have one value each.
    pub(crate) fixed: usize,
    /// Whether the ranges have the entries of just the rows that fulfil all conditions.
    pub(crate) is_exact: bool,
    /// Whether the ranges, or the index, have only some of the rows.
    pub(crate) is_useful: bool,
    /// Higher for fewer rows: whether all columns of a unique index are fixed, the number of fixed columns, how the next one
    /// is bounded, and whether the index has only some rows.
    pub(crate) rank: (bool, usize, u8, bool),
}

/// A condition on a key: it fixes it, or leaves ranges.
struct Step<'a> {
    index: &'a Index,
    /// The number of the key.
    number: usize,
    sql_type: &'a SqlType,
}

impl Way {
    /// The way that conditions leave; `None` if the index does not have all their rows.
    pub(crate) fn of(
        index: &Index,
        table: &Table,
        meaning: &Meaning,
        conditions: &[&Expr],
    ) -> Option<Self> {
        let is_partial = meaning.predicate.is_some();
        // Blanks at the end of a char(n) do not count.
        let is_plain = |of: Option<&SqlType>| !matches!(of, Some(SqlType::Char(_)));
        let is_plain = index.types(table).all(is_plain);
        if meaning.predicate.as_ref().is_some_and(|predicate| !implies(conditions, predicate)) {
            return None;
        }
        let is_predicate = |condition: &&&Expr| meaning.predicate.as_ref() != Some(**condition);
        let mut left: Vec<&Expr> = conditions.iter().filter(is_predicate).copied().collect();
        let mut fixed: Vec<ArrayRef> = Vec::new();
        for (number, (key, sql_type)) in meaning.keys.iter().zip(index.types(table)).enumerate() {
            let step = Step { index, number, sql_type: sql_type? };
            let is_key = |expr: &Expr| expr == key;
            let value = left.iter().enumerate().find_map(|(at, condition)| {
                match bound_of(condition, &is_key)? {
                    Bounded::Compared(Operator::Eq, value) => {
                        Some((at, array_of(value, &step.sql_type.arrow())?))
                    }
                    _ => None,
                }
            });
            match value {
                Some((at, value)) => {
                    left.remove(at);
                    fixed.push(value);
                }
                None => {
                    let way = step.bounded(&fixed, &is_key, &left, is_partial)?;
                    return Some(Self { is_exact: way.is_exact && is_plain, ..way });
                }
            }
        }
        let beginning = beginning(index, &fixed)?;
        let ranges = match index.is_enforced() {
            true => vec![KeyRange::point(&of_entry(&beginning))],
            false => vec![of_entries_from(&beginning)],
        };
        let (fixed, is_exact) = (fixed.len(), left.is_empty() && is_plain);
        let rank = (index.is_enforced(), fixed, 0, is_partial);
        Some(Self { ranges, fixed, is_exact, is_useful: true, rank })
    }
}

impl Step<'_> {
    /// The way for fixed columns, of which this is the next one.
    fn bounded(
        &self,
        fixed: &[ArrayRef],
        is_key: &dyn Fn(&Expr) -> bool,
        conditions: &[&Expr],
        is_partial: bool,
    ) -> Option<Way> {
        let mut ranges = vec![of_entries_from(&beginning(self.index, fixed)?)];
        let (mut kind, mut used) = (0, 0);
        for condition in conditions {
            let Some(bound) = self.bound(fixed, condition, is_key) else { continue };
            used += 1;
            kind =
                if kind > 0 && bound.kind > 0 { bound.kind.max(2) } else { bound.kind.max(kind) };
            let both = |range: &KeyRange| {
                let with = |other: &KeyRange| range.intersect(other);
                bound.ranges.iter().filter_map(with).collect::<Vec<_>>()
            };
            ranges = ranges.iter().flat_map(both).collect();
        }
        ranges.sort_by(|a, b| a.low.cmp(&b.low));
        ranges.dedup();
        let (fixed, is_exact) = (fixed.len(), used == conditions.len());
        let is_useful = kind > 0 || fixed > 0 || is_partial;
        Some(Way { ranges, fixed, is_exact, is_useful, rank: (false, fixed, kind, is_partial) })
    }

    /// The entries that a condition on the column leaves. They have a value of it.
    fn bound(
        &self,
        fixed: &[ArrayRef],
        condition: &Expr,
        is_key: &dyn Fn(&Expr) -> bool,
    ) -> Option<StepBound> {
        let descends = self.index.columns[self.number].descending;
        let with = |value: &ScalarValue| {
            let value = array_of(value, &self.sql_type.arrow())?;
            beginning(self.index, &[fixed, &[value]].concat())
        };
        let values = || values_below(self.index, fixed);
        if let Some(prefix) = prefix_of(condition, is_key, self.sql_type) {
            let mut entries = with(&ScalarValue::Utf8View(Some(prefix)))?;
            entries.truncate(entries.len() - TERMINATOR);
            return Some(StepBound { ranges: vec![of_entries_from(&entries)], kind: 2 });
        }
        match condition {
            Expr::IsNull(of) if is_key(of) => {
                let null = new_null_array(&self.sql_type.arrow(), 1);
                let entries = beginning(self.index, &[fixed, &[null]].concat())?;
                return Some(StepBound { ranges: vec![of_entries_from(&entries)], kind: 2 });
            }
            Expr::IsNotNull(of) if is_key(of) => {
                return Some(StepBound { ranges: vec![values()?], kind: 0 });
            }
            _ => {}
        }
        match bound_of(condition, is_key)? {
            Bounded::OneOf(values) => {
                let values = values.iter().filter(|value| !value.is_null());
                let ranges = values.map(|value| Some(of_entries_from(&with(value)?)));
                Some(StepBound { ranges: ranges.collect::<Option<_>>()?, kind: 3 })
            }
            Bounded::Compared(operator, value) => {
                let range = entries_compared(operator, descends, &with(value)?)?;
                // NULL fulfils no comparison.
                let range = range.intersect(&values()?);
                Some(StepBound { ranges: range.into_iter().collect(), kind: 1 })
            }
        }
    }
}

/// The entries that one condition leaves.
struct StepBound {
    ranges: Vec<KeyRange>,
    /// Higher for fewer rows; 0 for all that have a value.
    kind: u8,
}

/// The bytes that end a text in an entry.
const TERMINATOR: usize = 2;

/// The text with which the values begin that are LIKE a pattern; `None` for a pattern that asks for more than that.
fn prefix_of(
    condition: &Expr,
    is_key: &dyn Fn(&Expr) -> bool,
    sql_type: &SqlType,
) -> Option<String> {
    let Expr::Like(like) = condition else { return None };
    let is_text = matches!(sql_type, SqlType::Text | SqlType::Varchar(_));
    let is_plain = !like.negated && !like.case_insensitive && like.escape_char.is_none();
    let Expr::Literal(pattern, _) = &*like.pattern else { return None };
    let prefix = pattern.try_as_str()??.strip_suffix('%')?;
    let is_prefix = !prefix.is_empty() && !prefix.contains(['%', '_', '\\']);
    (is_text && is_plain && is_prefix && is_key(&like.expr)).then(|| prefix.to_owned())
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
