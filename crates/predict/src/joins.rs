//! Estimates of a join: its rows, columns and computations.

use crate::flow::Flow;
use crate::terms::Rows;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::{JoinSide, JoinType};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::joins::utils::JoinFilter;
use dbsim::plan::Term;
use scan::estimate::{Column, DISTINCT, Guesses, Input, column_of};
use std::sync::Arc;

/// The engine uses an array instead of a hash table if the rows are more than this share of the
/// range of their keys, or the range is at most this. These are its defaults.
const CLOSE_PART: f64 = 0.15;
const CLOSE_RANGE: f64 = 1024.0;

/// Pairs of expressions of both sides that a join compares by `=`.
pub(super) type Keys<'a> = &'a [(Arc<dyn PhysicalExpr>, Arc<dyn PhysicalExpr>)];

/// A join of two inputs.
pub(super) struct Join<'a> {
    pub(super) sides: [&'a Flow; 2],
    pub(super) keys: Keys<'a>,
    pub(super) filter: Option<&'a JoinFilter>,
    pub(super) join_type: JoinType,
    /// The columns that it returns; `None` for all.
    pub(super) projection: Option<&'a [usize]>,
}

impl Join<'_> {
    /// The number of result rows. The probability that a pair of rows matches is one divided by the
    /// distinct keys of the side that has more of them.
    pub(super) fn rows(&self, guesses: &mut Guesses) -> f64 {
        let [left, right] = self.sides.map(|side| side.rows);
        let filtered = self.filter.map_or(1.0, |filter| self.kept(filter, guesses));
        // The share of pairs that match, and the share of each side's rows that find a match.
        let (mut matched, mut found) = (filtered, [filtered; 2]);
        for (one, other) in self.keys {
            let distinct = [self.distinct(0, one), self.distinct(1, other)];
            matched /= distinct[0].max(distinct[1]);
            found[0] *= (distinct[1] / distinct[0]).min(1.0);
            found[1] *= (distinct[0] / distinct[1]).min(1.0);
        }
        let inner = left * right * matched;
        let rows = match self.join_type {
            JoinType::Inner => inner,
            JoinType::Left => inner.max(left),
            JoinType::Right => inner.max(right),
            JoinType::Full => inner.max(left).max(right),
            JoinType::LeftSemi => left * found[0],
            JoinType::RightSemi => right * found[1],
            JoinType::LeftAnti => left * (1.0 - found[0]),
            JoinType::RightAnti => right * (1.0 - found[1]),
            JoinType::LeftMark => left,
            JoinType::RightMark => right,
        };
        rows.round().max(1.0).min(left * right)
    }

    /// The result columns.
    pub(super) fn columns(&self) -> Vec<Column> {
        let [left, right] = self.sides.map(|side| &side.columns[..]);
        let mark = [Column::of_type(&DataType::Boolean)];
        let all = match self.join_type {
            JoinType::LeftSemi | JoinType::LeftAnti => left.to_vec(),
            JoinType::RightSemi | JoinType::RightAnti => right.to_vec(),
            JoinType::LeftMark => [left, &mark].concat(),
            JoinType::RightMark => [right, &mark].concat(),
            _ => [left, right].concat(),
        };
        match self.projection {
            Some(chosen) => chosen.iter().filter_map(|column| all.get(*column).copied()).collect(),
            None => all,
        }
    }

    /// The result columns of the left side, whose rows are in a hash join's table.
    pub(super) fn columns_of_table(&self) -> Vec<Column> {
        use JoinType::{RightAnti, RightMark, RightSemi};
        let left = &self.sides[0].columns;
        match (self.join_type, self.projection) {
            (RightSemi | RightAnti | RightMark, _) => Vec::new(),
            (_, Some(chosen)) => {
                chosen.iter().filter_map(|column| left.get(*column).copied()).collect()
            }
            (_, None) => left.clone(),
        }
    }

    /// Whether the table of a hash join is probably an array: the keys are integers in a dense
    /// range.
    pub(super) fn has_close_keys(&self, left: &SchemaRef) -> bool {
        let [(key, _)] = self.keys else { return false };
        if !key.data_type(left).is_ok_and(|data_type| data_type.is_integer()) {
            return false;
        }
        let column = column_of(key).and_then(|column| self.sides[0].columns.get(column));
        let known = column.and_then(|column| Some((column.bounds?, column.reach)));
        known.is_some_and(|((least, greatest), reach)| {
            let range = reach * (greatest - least) + 1.0;
            range <= CLOSE_RANGE || self.sides[0].rows > CLOSE_PART * range
        })
    }

    /// The computations of its keys, and of its filter on the `rows` that match.
    pub(super) fn terms(&self, rows: f64, schemas: &[SchemaRef; 2]) -> Vec<Term> {
        let mut terms = Vec::new();
        for (side, schema) in schemas.iter().enumerate() {
            let keys = self.keys.iter().map(|keys| [&keys.0, &keys.1][side]);
            terms.extend(self.sides[side].over(schema).keys(keys));
        }
        if let Some(filter) = self.filter {
            let columns = self.filtered(filter);
            let met = Rows { rows, columns: &columns, schema: filter.schema() };
            terms.extend(met.terms([filter.expression()]));
        }
        terms
    }

    fn distinct(&self, side: usize, key: &Arc<dyn PhysicalExpr>) -> f64 {
        let side = self.sides[side];
        let column = column_of(key).and_then(|column| side.columns.get(column));
        column.map_or(DISTINCT.min(side.rows).max(1.0), |column| column.distinct_of(side.rows))
    }

    /// The selectivity of the filter.
    fn kept(&self, filter: &JoinFilter, guesses: &mut Guesses) -> f64 {
        let columns = self.filtered(filter);
        let rows = self.sides[0].rows.max(self.sides[1].rows);
        Input { rows, columns: &columns }.kept(filter.expression(), guesses)
    }

    /// The columns of the filter.
    fn filtered(&self, filter: &JoinFilter) -> Vec<Column> {
        let schema = filter.schema();
        let columns = filter.column_indices().iter().zip(schema.fields()).map(|(at, field)| {
            let side = match at.side {
                JoinSide::Left => Some(self.sides[0]),
                JoinSide::Right => Some(self.sides[1]),
                JoinSide::None => None,
            };
            let known = side.and_then(|side| side.columns.get(at.index).copied());
            known.unwrap_or_else(|| Column::of_type(field.data_type()))
        });
        columns.collect()
    }
}
