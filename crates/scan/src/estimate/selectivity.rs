//! The selectivity of predicates.
//!
//! A range of numbers or dates keeps its share of the interval between minimum and maximum;
//! equality keeps one of the distinct values. If these are unknown, PostgreSQL's defaults apply.
//! Conjuncts count as independent, except for ranges of one column.

use super::column::{Column, number};
use super::guesses::{Guesses, percent};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{
    BinaryExpr, CastExpr, Column as Reference, InListExpr, IsNotNullExpr, IsNullExpr, LikeExpr,
    Literal, NotExpr,
};
use datafusion::physical_expr::{PhysicalExpr, split_conjunction};
use std::collections::BTreeMap;
use std::sync::Arc;

/// PostgreSQL's default for a comparison (DEFAULT_INEQ_SEL), and for functions.
const COMPARED: f64 = 1.0 / 3.0;
/// Its default for a range with two ends (DEFAULT_RANGE_INEQ_SEL).
const BETWEEN: f64 = 0.005;
/// Its default for a pattern (DEFAULT_MATCH_SEL).
const MATCHED: f64 = 0.005;
/// Its default for a boolean column.
const FLAG: f64 = 0.5;
/// Its default for IS NULL (DEFAULT_UNK_SEL).
const NULL: f64 = 0.005;
/// The reason shown with these defaults.
const SUPPOSED: &str = "as PostgreSQL supposes without statistics";

/// The rows on which a predicate is evaluated.
pub struct Input<'a> {
    /// Number of rows.
    pub rows: f64,
    /// Their columns.
    pub columns: &'a [Column],
}

/// The range of a column's values that a conjunction keeps.
#[derive(Default)]
struct Range {
    low: Option<f64>,
    high: Option<f64>,
    ends: usize,
    texts: Vec<String>,
}

/// The position of the column that an expression is, with or without casts.
pub fn column_of(expr: &Arc<dyn PhysicalExpr>) -> Option<usize> {
    match expr.downcast_ref::<CastExpr>() {
        Some(cast) => column_of(cast.expr()),
        None => expr.downcast_ref::<Reference>().map(Reference::index),
    }
}

/// The columns that a conjunction compares with constants or lists of constants.
pub fn compared(predicate: &Arc<dyn PhysicalExpr>) -> Vec<usize> {
    split_conjunction(predicate).into_iter().filter_map(compared_with_some).collect()
}

/// The column that a conjunct compares with constants; of OR, if both sides compare the same
/// column.
fn compared_with_some(part: &Arc<dyn PhysicalExpr>) -> Option<usize> {
    if let Some(list) = part.downcast_ref::<InListExpr>() {
        return column_of(list.expr());
    }
    match part.downcast_ref::<BinaryExpr>() {
        Some(either) if *either.op() == Operator::Or => {
            let [left, right] = [either.left(), either.right()].map(compared_with_some);
            left.filter(|column| right == Some(*column))
        }
        _ => comparison(part).map(|(column, ..)| column),
    }
}

impl Input<'_> {
    /// The selectivity of a predicate, from 0 to 1. Adds the assumptions to `guesses`.
    pub fn kept(&self, predicate: &Arc<dyn PhysicalExpr>, guesses: &mut Guesses) -> f64 {
        let mut ranges = BTreeMap::<usize, Range>::new();
        let mut kept = 1.0;
        for part in split_conjunction(predicate) {
            match comparison(part) {
                Some((column, operator, value)) if is_range(operator) => {
                    let whole = self.columns.get(column).is_some_and(|column| column.whole);
                    let range = ranges.entry(column).or_default();
                    range.narrow(operator, number(value), whole);
                    range.texts.push(part.to_string());
                }
                _ => {
                    let (part_kept, why) = self.kept_by(part);
                    guesses.note(format!("{part} keeps {} of rows ({why})", percent(part_kept)));
                    kept *= part_kept;
                }
            }
        }
        for (column, range) in &ranges {
            let (part_kept, why) = self.kept_in(*column, range);
            let texts = range.texts.join(" AND ");
            guesses.note(format!("{texts} keeps {} of rows ({why})", percent(part_kept)));
            kept *= part_kept;
        }
        kept
    }

    fn kept_in(&self, column: usize, range: &Range) -> (f64, &'static str) {
        let column = self.columns.get(column);
        let known = column.and_then(|column| column.bounds.map(|bounds| (column, bounds)));
        let ends = usize::from(range.low.is_some()) + usize::from(range.high.is_some());
        match known {
            Some((column, (min, max))) if ends > 0 => {
                let step = if column.whole { 1.0 } else { 0.0 };
                let low = range.low.map_or(min, |low| low.max(min));
                let high = range.high.map_or(max, |high| high.min(max));
                let part = match max - min + step {
                    0.0 => f64::from(u8::from(low <= high)),
                    width => ((high - low + step) / width).clamp(0.0, 1.0),
                };
                (part * column.present(), "its share between least and greatest value")
            }
            _ if range.ends > 1 => (BETWEEN, SUPPOSED),
            _ => (COMPARED, SUPPOSED),
        }
    }

    /// The selectivity of one predicate, and the reason.
    fn kept_by(&self, part: &Arc<dyn PhysicalExpr>) -> (f64, &'static str) {
        if let Some((column, operator, _)) = comparison(part) {
            let (equal, why) = self.equal(Some(column));
            return match operator {
                Operator::Eq | Operator::IsNotDistinctFrom => (equal, why),
                Operator::NotEq | Operator::IsDistinctFrom => (1.0 - equal, why),
                _ => (MATCHED, SUPPOSED),
            };
        }
        if let Some(binary) = part.downcast_ref::<BinaryExpr>() {
            return self.kept_by_binary(binary);
        }
        if let Some(not) = part.downcast_ref::<NotExpr>() {
            let (kept, why) = self.kept_by(not.arg());
            return (1.0 - kept, why);
        }
        if let Some(list) = part.downcast_ref::<InListExpr>() {
            let (equal, why) = self.equal(column_of(list.expr()));
            let kept = (equal * list.len() as f64).min(1.0);
            return (if list.negated() { 1.0 - kept } else { kept }, why);
        }
        if let Some(like) = part.downcast_ref::<LikeExpr>() {
            return (if like.negated() { 1.0 - MATCHED } else { MATCHED }, SUPPOSED);
        }
        if let Some(null) = part.downcast_ref::<IsNullExpr>() {
            return self.nulls(null.arg());
        }
        if let Some(null) = part.downcast_ref::<IsNotNullExpr>() {
            let (nulls, why) = self.nulls(null.arg());
            return (1.0 - nulls, why);
        }
        match part.downcast_ref::<Literal>().map(Literal::value) {
            Some(ScalarValue::Boolean(value)) => {
                (f64::from(u8::from(*value == Some(true))), "it is constant")
            }
            _ if column_of(part).is_some() => (FLAG, SUPPOSED),
            _ => (COMPARED, SUPPOSED),
        }
    }

    fn kept_by_binary(&self, binary: &BinaryExpr) -> (f64, &'static str) {
        // The whole is noted, not its sides.
        let sides =
            || [binary.left(), binary.right()].map(|side| self.kept(side, &mut Guesses::default()));
        match binary.op() {
            Operator::Or => {
                let [left, right] = sides();
                (left + right - left * right, "either of its parts")
            }
            Operator::And => (sides().iter().product(), "both of its parts"),
            Operator::Eq => {
                let [left, right] = [binary.left(), binary.right()].map(column_of);
                let (one, other) = (self.equal(left), self.equal(right));
                if one.0 <= other.0 { one } else { other }
            }
            _ => (COMPARED, SUPPOSED),
        }
    }

    /// The share of rows with one value of a column.
    fn equal(&self, column: Option<usize>) -> (f64, &'static str) {
        let column = column.and_then(|column| self.columns.get(column));
        let kept = |column: &Column| column.present() / column.distinct_of(self.rows);
        match column {
            Some(column) if column.distinct.is_some() => {
                (kept(column), "one of its different values")
            }
            _ => (1.0 / super::column::DISTINCT, SUPPOSED),
        }
    }

    fn nulls(&self, expr: &Arc<dyn PhysicalExpr>) -> (f64, &'static str) {
        let column = column_of(expr).and_then(|column| self.columns.get(column));
        match column.and_then(|column| column.nulls) {
            Some(nulls) => (nulls, "NULLs are counted"),
            None => (NULL, SUPPOSED),
        }
    }
}

impl Range {
    fn narrow(&mut self, operator: Operator, value: Option<f64>, whole: bool) {
        self.ends += 1;
        let Some(value) = value else { return };
        let step = if whole { 1.0 } else { 0.0 };
        let (low, high) = match operator {
            Operator::Gt => (Some(value + step), None),
            Operator::GtEq => (Some(value), None),
            Operator::Lt => (None, Some(value - step)),
            _ => (None, Some(value)),
        };
        let one_of = |one: Option<f64>, other: Option<f64>, best: fn(f64, f64) -> f64| match one {
            Some(one) => Some(other.map_or(one, |other| best(one, other))),
            None => other,
        };
        self.low = one_of(self.low, low, f64::max);
        self.high = one_of(self.high, high, f64::min);
    }
}

fn is_range(operator: Operator) -> bool {
    matches!(operator, Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq)
}

/// A comparison as column, operator and constant.
fn comparison(part: &Arc<dyn PhysicalExpr>) -> Option<(usize, Operator, &ScalarValue)> {
    let binary = part.downcast_ref::<BinaryExpr>()?;
    let constant = |side: &Arc<dyn PhysicalExpr>| side.downcast_ref::<Literal>().is_some();
    let (column, operator, value) = if constant(binary.left()) {
        (binary.right(), binary.op().swap()?, binary.left())
    } else {
        (binary.left(), *binary.op(), binary.right())
    };
    Some((column_of(column)?, operator, value.downcast_ref::<Literal>()?.value()))
}
