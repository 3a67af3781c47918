//! Columns of subqueries in FROM that may stay unread.
//!
//! PostgreSQL takes such columns out of a subquery before it computes constants: `SELECT a FROM (SELECT a, 1 / 0 AS b FROM t) x`
//! is no error. The error of a constant in the select list is kept with its column, and counts when the column is read. Keys of
//! ORDER BY, and the columns of DISTINCT and of set operations, are needed in any case.

use crate::refusal::Result;
use crate::scope::Lowering;
use crate::typed::Typed;
use crate::unread::Errors;
use analyzer::tree::{Body, Cte, Kind, Query, Select, SortKey};
use datafusion::logical_expr::LogicalPlan;

impl Lowering<'_> {
    /// The plan of a query of which some columns may stay unread, and the errors of its columns.
    pub(crate) fn readable(&mut self, query: &Query) -> Result<(LogicalPlan, Errors)> {
        let select = match &query.body {
            Body::Select(select) if select.distinct.is_none() => select.id,
            _ => return Ok((self.query(query)?, Errors::new())),
        };
        self.unread.selects.insert(select, Errors::new());
        let plan = self.query(query);
        let errors = self.unread.selects.remove(&select).unwrap_or_default();
        Ok((plan?, errors))
    }

    /// As [`readable`](Self::readable), for a query in WITH. One that PostgreSQL does not move to its reader has no such columns.
    pub(crate) fn readable_cte(&mut self, cte: &Cte) -> Result<(LogicalPlan, Errors)> {
        match (cte.materialized, cte.references) {
            (Some(false), 1..) | (None, 1) => self.readable(&cte.query),
            _ => Ok((self.query(&cte.query)?, Errors::new())),
        }
    }

    /// Whether columns of a SELECT may stay unread.
    pub(crate) fn may_stay_unread(&self, select: &Select) -> bool {
        self.unread.selects.contains_key(&select.id)
    }

    /// A value of a select list.
    pub(crate) fn output(
        &mut self,
        select: &Select,
        place: usize,
        keys: &[SortKey],
    ) -> Result<Typed> {
        let expr = &select.output[place].expr;
        let is_key = |key: &SortKey| key.expr.kind == Kind::Output(place) || key.expr == *expr;
        if !self.may_stay_unread(select) || keys.iter().any(is_key) {
            return self.expr(expr);
        }
        let before = self.constant_error.take();
        let value = self.expr(expr);
        let error = std::mem::replace(&mut self.constant_error, before);
        let errors = self.unread.selects.entry(select.id).or_default();
        errors.extend(error.map(|error| (place, error)));
        value
    }
}
