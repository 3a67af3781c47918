//! Subqueries as values.

use super::{folding, logic::negated};
use crate::functions::{self, Make, comparisons};
use crate::long::Logic;
use crate::refusal::{Result, missing};
use crate::scope::{Lowering, OuterReferences};
use crate::typed::Typed;
use ::functions::casts::conversion::UNDECLARED;
use analyzer::system::{Oid, SqlType};
use analyzer::tree::{Expr, Kind, Query, Subquery, SubqueryKind, existence};
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Column, ScalarValue, Spans};
use datafusion::logical_expr::expr::{AggregateFunction, Exists, InSubquery, SetQuantifier};
use datafusion::logical_expr::{
    Expr as Engine, LogicalPlan, LogicalPlanBuilder, Operator, Subquery as Planned, col, lit, when,
};
use std::sync::Arc;

impl Lowering<'_> {
    pub(super) fn subquery(&mut self, subquery: &Subquery, sql_type: SqlType) -> Result<Typed> {
        let query = &subquery.query;
        match &subquery.kind {
            SubqueryKind::Scalar => {
                let planned = self.planned(query)?;
                let field = Arc::clone(&planned.subquery.schema().fields()[0]);
                let is_nullable = field.is_nullable() && !folding::may_fold(&planned.subquery, 0)?;
                let value = Engine::ScalarSubquery(planned);
                // Comparisons in joins do not depend on it, and look for the bare subquery.
                let is_plain = is_nullable || self.is_joining;
                let value = if is_plain { value } else { self.undeclared(value)? };
                Typed::of(value, field.data_type().clone(), sql_type)
            }
            SubqueryKind::Exists => {
                let rows = existence::of_rows(query);
                let subquery = self.planned(rows.as_ref().unwrap_or(query))?;
                Ok(Typed::boolean(Engine::Exists(Exists { subquery, negated: false })))
            }
            SubqueryKind::Array => self.gathered(query, sql_type),
            SubqueryKind::Any(comparison) => self.compared(query, comparison, SetQuantifier::Any),
            SubqueryKind::All(comparison) => self.compared(query, comparison, SetQuantifier::All),
        }
    }

    /// A value of which nothing is declared, and which the engine takes for one that may be NULL: it does not take into account
    /// that a subquery without rows is.
    pub(crate) fn undeclared(&self, value: Engine) -> Result<Engine> {
        match self.around.functions.scalar(UNDECLARED) {
            Some(function) => Ok(function.call(vec![value])),
            None => missing("a subquery"),
        }
    }

    fn planned(&mut self, query: &Query) -> Result<Planned> {
        let is_unknown = self.around.is_of_view || !self.around.folds;
        let is_filtered = std::mem::replace(&mut self.is_filtered, is_unknown);
        let planned = self.in_subquery(|lowering| lowering.query(query));
        self.is_filtered = is_filtered;
        let (plan, outer) = planned?;
        Ok(subquery_of(plan, &outer))
    }

    /// A comparison of a value with the rows of a query.
    fn compared(
        &mut self,
        query: &Query,
        comparison: &Expr,
        quantifier: SetQuantifier,
    ) -> Result<Typed> {
        let Kind::Call(call) = &comparison.kind else {
            return self.rows_compared(query, comparison, quantifier == SetQuantifier::All);
        };
        let ([value, column], Some(Make::Compare(operator))) =
            (&call.arguments[..], functions::of(call.function))
        else {
            return missing("this comparison with a subquery");
        };
        let value = self.expr(value)?;
        let is_all = quantifier == SetQuantifier::All;
        let is_membership =
            matches!((operator, is_all), (Operator::Eq, false) | (Operator::NotEq, true));
        if is_membership && self.is_outer(&value.expr) {
            return self.outer_member(query, comparison, &value.expr, is_all);
        }
        // The engine does not search for a constant among rows with NULL.
        if !is_membership || is_constant(&value.expr) {
            // Arrays, of which there are no arrays.
            if column.sql_type.oid.array().is_none() {
                return self.rows_compared(query, comparison, is_all);
            }
            return self.compared_with_rows(query, value, column, *operator, is_all);
        }
        let within = self.searched(query, value, column)?;
        Ok(Typed::boolean(if is_all { negated(within) } else { within }))
    }

    /// A search for a value among the rows of a query.
    pub(super) fn searched(
        &mut self,
        query: &Query,
        value: Typed,
        column: &Expr,
    ) -> Result<Engine> {
        let mut compared = Err(crate::Refusal::Missing("a subquery".to_owned()));
        let (plan, outer) = self.in_subquery(|lowering| {
            let plan = lowering.query(query)?;
            let outputs = outputs_of(&plan, query);
            let column = lowering.with_outputs(outputs, |lowering| lowering.expr(column))?;
            let (left, right) = comparisons::sides(lowering, value, column)?;
            compared = Ok(left);
            let plan = with_column(plan, right.expr)?;
            lowering.qualified(plan)
        })?;
        let (expr, subquery) = (Box::new(compared?.expr), subquery_of(plan, &outer));
        Ok(Engine::InSubquery(InSubquery { expr, subquery, negated: false }))
    }

    /// A comparison of rows: whether it is true for any row of the query, NULL if it is for none and NULL for some.
    fn rows_compared(&mut self, query: &Query, test: &Expr, is_all: bool) -> Result<Typed> {
        let Some(any) = self.aggregate_named("bool_or") else { return missing("bool_or") };
        let (plan, outer) = self.in_subquery(|lowering| {
            let (plan, test) = lowering.tested(query, test)?;
            let test = if is_all { negated(test) } else { test };
            let any = |value: Engine| {
                let call = vec![value];
                let any = Arc::clone(&any);
                let call = AggregateFunction::new_udf(any, call, false, None, Vec::new(), None);
                Engine::AggregateFunction(call)
            };
            let none: Vec<Engine> = Vec::new();
            let counted = [any(test.clone()).alias("found"), any(test.is_null()).alias("unknown")];
            let plan = LogicalPlanBuilder::from(plan).aggregate(none, counted)?;
            let null = lit(ScalarValue::Boolean(None));
            let value = when(col("found").is_true(), lit(true))
                .when(col("unknown").is_true(), null)
                .otherwise(lit(false))?;
            Ok(plan.project([value.alias("found")])?.build()?)
        })?;
        let value = self.undeclared(Engine::ScalarSubquery(subquery_of(plan, &outer)))?;
        Ok(Typed::boolean(if is_all { negated(value) } else { value }))
    }

    /// The parts of an AND. Constants behind a part that is false may have no value.
    pub(crate) fn all_of(
        &mut self,
        parts: &[Expr],
        lower: impl Fn(&mut Self, &Expr) -> Result<Engine>,
    ) -> Result<Vec<Engine>> {
        let (mut is_false, mut conditions) = (false, Vec::with_capacity(parts.len()));
        for part in parts {
            let part = self.skipping(is_false, |lowering| lower(lowering, part))?;
            is_false |= part == lit(false);
            conditions.push(part);
        }
        Ok(conditions)
    }

    /// A condition of WHERE, where NULL counts as false: rows IN a query are looked for in a join.
    pub(crate) fn filter(&mut self, condition: &Expr) -> Result<Engine> {
        match &condition.kind {
            Kind::And(parts) => {
                let conditions = self.all_of(parts, Self::filter)?;
                self.logic(conditions, Logic::And)
            }
            Kind::Not(inner) => match &inner.kind {
                Kind::Subquery(subquery) => match self.outer_filter(subquery, true)? {
                    Some(filter) => Ok(filter),
                    None => self.condition(condition),
                },
                _ => self.condition(condition),
            },
            Kind::Subquery(subquery) => match &subquery.kind {
                SubqueryKind::Any(test) | SubqueryKind::All(test)
                    if matches!(test.kind, Kind::Call(_)) =>
                {
                    match self.outer_filter(subquery, false)? {
                        Some(filter) => Ok(filter),
                        None => self.condition(condition),
                    }
                }
                SubqueryKind::Any(test) if !matches!(test.kind, Kind::Call(_)) => {
                    let (plan, outer) = self.in_subquery(|lowering| {
                        let (plan, test) = lowering.tested(&subquery.query, test)?;
                        Ok(LogicalPlanBuilder::from(plan).filter(test)?.build()?)
                    })?;
                    let subquery = subquery_of(plan, &outer);
                    Ok(Engine::Exists(Exists { subquery, negated: false }))
                }
                _ => self.condition(condition),
            },
            _ => self.condition(condition),
        }
    }

    /// The rows of a query, and a test over its columns and those around the query.
    pub(super) fn tested(&mut self, query: &Query, test: &Expr) -> Result<(LogicalPlan, Engine)> {
        let plan = self.query(query)?;
        let alias = self.qualifiers.add("rows");
        let plan = LogicalPlanBuilder::from(plan).alias(alias)?.build()?;
        let outputs = outputs_of(&plan, query);
        let test = self.in_frame(|lowering| {
            lowering.with_outputs(outputs, |lowering| lowering.condition(test))
        })?;
        Ok((plan, test))
    }

    /// A plan whose column has a qualifier. Where IN is no condition of its own, the engine asks for a column without one twice:
    /// as it is in the plan, and as it is under the name of the subquery.
    fn qualified(&mut self, plan: LogicalPlan) -> Result<LogicalPlan> {
        if plan.schema().iter().all(|(qualifier, _)| qualifier.is_some()) {
            return Ok(plan);
        }
        let alias = self.qualifiers.add("members");
        Ok(LogicalPlanBuilder::from(plan).alias(alias)?.build()?)
    }

    /// A comparison with the rows of a query that is no search among them: by their array.
    fn compared_with_rows(
        &mut self,
        query: &Query,
        value: Typed,
        column: &Expr,
        operator: Operator,
        is_all: bool,
    ) -> Result<Typed> {
        let is_padded = column.sql_type.oid == Oid::BPCHAR;
        let item = if is_padded { Oid::TEXT.into() } else { column.sql_type };
        let bare = |value: Typed| match is_padded {
            true => comparisons::without_blanks(value).named(Oid::TEXT.into()),
            false => value,
        };
        let value = bare(value);
        let name = "array_agg";
        let Some(function) = self.aggregate_named(name) else { return missing(name) };
        let (plan, outer) = self.in_subquery(|lowering| {
            let plan = lowering.query(query)?;
            let outputs = outputs_of(&plan, query);
            let column = lowering.with_outputs(outputs, |lowering| lowering.expr(column))?;
            let call = vec![bare(column).expr];
            let call = AggregateFunction::new_udf(function, call, false, None, Vec::new(), None);
            let none: Vec<Engine> = Vec::new();
            let call = Engine::AggregateFunction(call);
            Ok(LogicalPlanBuilder::from(plan).aggregate(none, [call])?.build()?)
        })?;
        let Some(array) = item.oid.array() else {
            return missing(format!("a comparison with rows of {item}"));
        };
        let sql_type = SqlType { oid: array, modifier: item.modifier };
        let data_type = plan.schema().field(0).data_type().clone();
        let rows = Engine::ScalarSubquery(subquery_of(plan, &outer));
        let rows = Typed::of(rows, data_type, sql_type)?;
        let none = self.empty_array(sql_type)?.converted(&rows.data_type);
        let data_type = rows.data_type.clone();
        let (expr, _) = self.engine_function("coalesce", vec![rows, none])?;
        let rows = Typed { expr, sql_type, data_type };
        self.compared_with(value, operator, rows, is_all)
    }

    /// ARRAY(...): an aggregate of the query's rows, in their order.
    fn gathered(&mut self, query: &Query, sql_type: SqlType) -> Result<Typed> {
        let name = "array_agg";
        let Some(function) = self.aggregate_named(name) else { return missing(name) };
        let (plan, outer) = self.in_subquery(|lowering| {
            let (plan, order) = lowering.ordered_query(query)?;
            let Some(column) = plan.schema().columns().into_iter().next() else {
                return missing("ARRAY of a query without columns");
            };
            let column = Engine::Column(column);
            let call = AggregateFunction::new_udf(function, vec![column], false, None, order, None);
            let call = Engine::AggregateFunction(call);
            let none: Vec<Engine> = Vec::new();
            Ok(LogicalPlanBuilder::from(plan).aggregate(none, [call])?.build()?)
        })?;
        let data_type = plan.schema().field(0).data_type().clone();
        let rows = Engine::ScalarSubquery(subquery_of(plan, &outer));
        let rows = Typed::of(rows, data_type, sql_type)?;
        let none = self.empty_array(sql_type)?.converted(&rows.data_type);
        let data_type = rows.data_type.clone();
        let (expr, _) = self.engine_function("coalesce", vec![rows, none])?;
        Typed::of(expr, data_type, sql_type)
    }
}

/// Whether a value is the same for all rows.
fn is_constant(value: &Engine) -> bool {
    let is_open = |part: &Engine| {
        matches!(
            part,
            Engine::Column(_)
                | Engine::OuterReferenceColumn(..)
                | Engine::ScalarSubquery(_)
                | Engine::Placeholder(_)
        )
    };
    !value.exists(|part| Ok(is_open(part))).unwrap_or(true)
}

/// A plan as a subquery.
pub(crate) fn subquery_of(plan: LogicalPlan, outer: &OuterReferences) -> Planned {
    Planned {
        subquery: Arc::new(plan),
        outer_ref_columns: outer.expressions(),
        spans: Spans::new(),
    }
}

/// The columns of a query's plan.
pub(crate) fn outputs_of(plan: &LogicalPlan, query: &Query) -> Vec<Typed> {
    let columns = plan.schema().columns().into_iter().zip(plan.schema().fields());
    let outputs = columns.zip(&query.columns).map(|((column, field), known)| Typed {
        expr: Engine::Column(column),
        sql_type: known.sql_type,
        data_type: field.data_type().clone(),
    });
    outputs.collect()
}

/// A plan whose only column is a value over its columns.
fn with_column(plan: LogicalPlan, value: Engine) -> Result<LogicalPlan> {
    // The engine does not know by which expression rows of VALUES make their column.
    let is_known = plan.head_output_expr()?.is_some();
    let columns = plan.schema().columns();
    if matches!((&value, &columns[..]), (Engine::Column(column), [only]) if column == only && is_known)
    {
        return Ok(plan);
    }
    let name = columns.into_iter().next().filter(|_| is_known);
    let name = name.map_or_else(|| "value".to_owned(), |Column { name, .. }| name);
    Ok(LogicalPlanBuilder::from(plan).project([value.alias(name)])?.build()?)
}
