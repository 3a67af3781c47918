//! Subqueries as values.

use super::logic::negated;
use crate::functions::{self, Make, comparisons};
use crate::refusal::{Result, missing};
use crate::scope::{Lowering, OuterReferences};
use crate::typed::Typed;
use analyzer::system::SqlType;
use analyzer::tree::{Expr, Kind, Query, Subquery, SubqueryKind};
use datafusion::common::{Column, Spans};
use datafusion::logical_expr::expr::{
    AggregateFunction, Exists, InSubquery, SetComparison, SetQuantifier,
};
use datafusion::logical_expr::{
    Expr as Engine, LogicalPlan, LogicalPlanBuilder, Operator, Subquery as Planned,
};
use std::sync::Arc;

impl Lowering<'_> {
    pub(super) fn subquery(&mut self, subquery: &Subquery, sql_type: SqlType) -> Result<Typed> {
        let query = &subquery.query;
        match &subquery.kind {
            SubqueryKind::Scalar => {
                let planned = self.planned(query)?;
                let data_type = planned.subquery.schema().field(0).data_type().clone();
                Typed::of(Engine::ScalarSubquery(planned), data_type, sql_type)
            }
            SubqueryKind::Exists => {
                let subquery = self.planned(query)?;
                Ok(Typed::boolean(Engine::Exists(Exists { subquery, negated: false })))
            }
            SubqueryKind::Array => self.gathered(query, sql_type),
            SubqueryKind::Any(comparison) => self.compared(query, comparison, SetQuantifier::Any),
            SubqueryKind::All(comparison) => self.compared(query, comparison, SetQuantifier::All),
        }
    }

    fn planned(&mut self, query: &Query) -> Result<Planned> {
        let (plan, outer) = self.in_subquery(|lowering| lowering.query(query))?;
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
            return missing("a comparison of rows with a subquery");
        };
        let ([value, column], Some(Make::Compare(operator))) =
            (&call.arguments[..], functions::of(call.function))
        else {
            return missing("this comparison with a subquery");
        };
        let value = self.expr(value)?;
        let mut compared = Err(crate::Refusal::Missing("a subquery".to_owned()));
        let (plan, outer) = self.in_subquery(|lowering| {
            let plan = lowering.query(query)?;
            let outputs = outputs_of(&plan, query);
            let column = lowering.with_outputs(outputs, |lowering| lowering.expr(column))?;
            let (left, right) = comparisons::sides(lowering, value, column)?;
            compared = Ok(left);
            with_column(plan, right.expr)
        })?;
        let (expr, subquery) = (Box::new(compared?.expr), subquery_of(plan, &outer));
        let within =
            |expr, subquery| Engine::InSubquery(InSubquery { expr, subquery, negated: false });
        Ok(Typed::boolean(match (operator, quantifier) {
            (Operator::Eq, SetQuantifier::Any) => within(expr, subquery),
            (Operator::NotEq, SetQuantifier::All) => negated(within(expr, subquery)),
            (op, quantifier) => {
                Engine::SetComparison(SetComparison { expr, subquery, op: *op, quantifier })
            }
        }))
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
    let columns = plan.schema().columns();
    if matches!((&value, &columns[..]), (Engine::Column(column), [only]) if column == only) {
        return Ok(plan);
    }
    let name =
        columns.into_iter().next().map_or_else(|| "value".to_owned(), |Column { name, .. }| name);
    Ok(LogicalPlanBuilder::from(plan).project([value.alias(name)])?.build()?)
}
