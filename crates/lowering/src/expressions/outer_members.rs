//! IN and NOT IN for values of the rows around a query, and of subqueries.
//!
//! Such a value is the same for all rows of the query, so that the engine does not search for it with a join that knows NULL.
//! It is among the rows if one of them is equal. Otherwise it is certainly not if there are no rows, or if neither it nor one
//! of them is NULL.

use super::logic::negated;
use super::subqueries::{outputs_of, subquery_of};
use crate::functions::{self, Make};
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::tree::{Expr, Kind, Query, Subquery, SubqueryKind};
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::{AggregateFunction, Case, Exists};
use datafusion::logical_expr::{Expr as Engine, LogicalPlanBuilder, Operator, and, lit, when};

impl Lowering<'_> {
    /// Whether a value depends on the rows around the query alone, or on those of a subquery that is executed once for them.
    pub(super) fn is_outer(&self, value: &Engine) -> bool {
        let (mut has_outer, mut has_own) = (false, false);
        let looked = value.apply(|part| {
            match part {
                Engine::OuterReferenceColumn(..) => has_outer = true,
                Engine::Column(_) | Engine::Placeholder(_) => has_own = true,
                Engine::ScalarSubquery(subquery) => {
                    has_outer |= subquery.outer_ref_columns.is_empty();
                    for reference in &subquery.outer_ref_columns {
                        let is_around = self.is_around(reference);
                        has_outer |= is_around;
                        has_own |= !is_around;
                    }
                }
                _ => {}
            }
            Ok(TreeNodeRecursion::Continue)
        });
        looked.is_ok() && has_outer && !has_own
    }

    /// The condition that a value of the rows around is among the rows of a query, or is not, where NULL counts as false.
    /// `None` for other comparisons and values.
    pub(super) fn outer_filter(
        &mut self,
        subquery: &Subquery,
        is_negated: bool,
    ) -> Result<Option<Engine>> {
        let (comparison, is_all) = match &subquery.kind {
            SubqueryKind::Any(comparison) => (comparison, false),
            SubqueryKind::All(comparison) => (comparison, true),
            _ => return Ok(None),
        };
        let Kind::Call(call) = &comparison.kind else { return Ok(None) };
        let ([value, column], Some(Make::Compare(operator))) =
            (&call.arguments[..], functions::of(call.function))
        else {
            return Ok(None);
        };
        if !matches!((operator, is_all), (Operator::Eq, false) | (Operator::NotEq, true)) {
            return Ok(None);
        }
        let value = self.expr(value)?;
        if !self.is_outer(&value.expr) {
            return Ok(None);
        }
        if is_all == is_negated {
            return self.searched(&subquery.query, value, column).map(Some);
        }
        let absent = negated(self.equal_row(&subquery.query, comparison, is_all)?);
        let value_is_known = value.expr.is_not_null();
        let certain = self.by_unknown(&subquery.query, column, (lit(false), value_is_known))?;
        Ok(Some(and(absent, certain)))
    }

    /// Whether a value of the rows around is among the rows of a query; whether it is not, if `is_all`.
    pub(super) fn outer_member(
        &mut self,
        query: &Query,
        comparison: &Expr,
        value: &Engine,
        is_all: bool,
    ) -> Result<Typed> {
        let Kind::Call(call) = &comparison.kind else { return missing("this comparison") };
        let [_, column] = &call.arguments[..] else { return missing("this comparison") };
        let found = self.equal_row(query, comparison, is_all)?;
        let null = || lit(ScalarValue::Boolean(None));
        let of_known = when(value.clone().is_null(), null()).otherwise(lit(true))?;
        let is_absent = self.by_unknown(query, column, (null(), of_known))?;
        let absent = if is_all { is_absent } else { negated(is_absent) };
        Ok(Typed::boolean(when(found, lit(!is_all)).otherwise(absent)?))
    }

    /// Whether a row of a query is equal to a value; the comparison is `<>` if `is_all`.
    fn equal_row(&mut self, query: &Query, comparison: &Expr, is_all: bool) -> Result<Engine> {
        let (plan, outer) = self.in_subquery(|lowering| {
            let (plan, test) = lowering.tested(query, comparison)?;
            let test = if is_all { negated(test) } else { test };
            Ok(LogicalPlanBuilder::from(plan).filter(test)?.build()?)
        })?;
        let subquery = subquery_of(plan, &outer);
        Ok(Engine::Exists(Exists { subquery, negated: false }))
    }

    /// True if a query has no rows; else the first value if one of them is NULL, else the second.
    fn by_unknown(
        &mut self,
        query: &Query,
        column: &Expr,
        (unknown, known): (Engine, Engine),
    ) -> Result<Engine> {
        let Some(any) = self.aggregate_named("bool_or") else { return missing("bool_or") };
        let (plan, outer) = self.in_subquery(|lowering| {
            let plan = lowering.query(query)?;
            let outputs = outputs_of(&plan, query);
            let column = lowering.with_outputs(outputs, |lowering| lowering.expr(column))?;
            let is_null = vec![column.expr.is_null()];
            let any = AggregateFunction::new_udf(any, is_null, false, None, Vec::new(), None);
            let none: Vec<Engine> = Vec::new();
            let any = Engine::AggregateFunction(any);
            Ok(LogicalPlanBuilder::from(plan).aggregate(none, [any])?.build()?)
        })?;
        let has_null = self.undeclared(Engine::ScalarSubquery(subquery_of(plan, &outer)))?;
        let branches =
            vec![(Box::new(lit(true)), Box::new(unknown)), (Box::new(lit(false)), Box::new(known))];
        let case = Case::new(Some(Box::new(has_null)), branches, Some(Box::new(lit(true))));
        Ok(Engine::Case(case))
    }
}
