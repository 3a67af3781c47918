//! Gives number literals PostgreSQL's types.
//!
//! DataFusion reads every integer literal as `bigint`. In PostgreSQL it is an `integer` if it fits,
//! and a `numeric` if it does not fit `bigint`. The pass runs directly after the SQL planner, while
//! every `bigint` literal is a number as written and casts to `bigint` are still casts.

use super::dates::date_below;
use super::floats;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, DFSchemaRef, DataFusionError, Result, ScalarValue};
use datafusion::functions::core::nullif;
use datafusion::logical_expr::expr::{Cast, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    Between, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, Subquery, cast, lit,
};
use functions::numbers::decimals;
use std::sync::Arc;

/// Functions that return a number of elements, which DataFusion makes unsigned.
const COUNTS: [&str; 4] = ["array_length", "cardinality", "array_position", "array_ndims"];

/// Those of [`COUNTS`] that are NULL for an empty array.
const OF_NONE_NULL: [&str; 1] = ["array_length"];

/// Window functions that return a value of their first argument.
const GIVES_ITS_FIRST: [&str; 5] = ["lag", "lead", "first_value", "last_value", "nth_value"];

/// Gives the number literals of a plan PostgreSQL's types.
pub(super) fn of_plan(plan: LogicalPlan) -> Result<LogicalPlan> {
    rewrite(plan, &mut Vec::new())
}

/// Gives the number literals of an expression PostgreSQL's types.
pub(super) fn of_expression(expr: Expr) -> Result<Expr> {
    narrow(expr, &mut Vec::new())
}

/// Like [`of_expression`], with the columns of `schema` in scope.
pub(super) fn over_columns(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    narrow(expr, &mut vec![Arc::new(schema.clone())])
}

/// `outer` are the schemas in scope around the plan, innermost last.
fn rewrite(plan: LogicalPlan, outer: &mut Vec<DFSchemaRef>) -> Result<LogicalPlan> {
    // The types of a recursive query are fixed already. LIMIT takes `bigint`.
    if matches!(plan, LogicalPlan::RecursiveQuery(_)) {
        return Ok(plan);
    }
    let mut changed = false;
    let plan = plan.map_children(|child| {
        let before = Arc::clone(child.schema());
        let child = rewrite(child, outer)?;
        changed |= before.fields() != child.schema().fields();
        Ok(Transformed::yes(child))
    })?;
    if matches!(plan.data, LogicalPlan::Limit(_)) {
        return Ok(plan.data);
    }
    let seen: Vec<DFSchemaRef> =
        plan.data.inputs().iter().map(|input| Arc::clone(input.schema())).collect();
    let depth = outer.len();
    outer.extend(seen);
    let names = NamePreserver::new(&plan.data);
    let plan = plan.data.map_expressions(|expr| {
        let name = names.save(&expr);
        let narrowed = narrow(expr.clone(), outer)?;
        let same = narrowed == expr;
        Ok(Transformed::new(name.restore(narrowed), !same, TreeNodeRecursion::Continue))
    });
    outer.truncate(depth);
    let plan = plan?;
    match plan.data {
        LogicalPlan::Values(mut values) => {
            if floats::of_values(&mut values)? || plan.transformed {
                of_values(values)
            } else {
                Ok(LogicalPlan::Values(values))
            }
        }
        LogicalPlan::Union(union) => floats::of_union(union, changed),
        data if plan.transformed || changed => data.recompute_schema(),
        data => Ok(data),
    }
}

fn of_values(values: datafusion::logical_expr::Values) -> Result<LogicalPlan> {
    let names: Vec<String> =
        values.schema.fields().iter().map(|field| field.name().clone()).collect();
    let plan = LogicalPlanBuilder::values(values.values)?.build()?;
    let same = plan.schema().fields().iter().zip(&names).all(|(field, name)| field.name() == name);
    if same {
        return Ok(plan);
    }
    let renamed = plan.schema().columns().into_iter().zip(names);
    let renamed: Vec<Expr> =
        renamed.map(|(column, name)| Expr::Column(column).alias(name)).collect();
    LogicalPlanBuilder::from(plan).project(renamed)?.build()
}

fn narrow(expr: Expr, outer: &mut Vec<DFSchemaRef>) -> Result<Expr> {
    floats::of_expression(narrowed(expr, outer)?, outer)
}

fn narrowed(expr: Expr, outer: &mut Vec<DFSchemaRef>) -> Result<Expr> {
    match expr {
        Expr::Literal(ScalarValue::Int64(Some(value)), metadata) if fits_integer(value) => {
            Ok(Expr::Literal(ScalarValue::Int32(i32::try_from(value).ok()), metadata))
        }
        Expr::Literal(ScalarValue::UInt64(Some(value)), metadata) => {
            let value = ScalarValue::Decimal128(Some(value.into()), 20, 0);
            Ok(Expr::Literal(value, metadata))
        }
        Expr::Cast(ref cast) if is_integer_as_such(cast) => narrow(Expr::clone(&cast.expr), outer),
        Expr::ScalarFunction(call) if call.name() == decimals::SUMMAND && !outer.is_empty() => {
            let call = call.args.into_iter().map(|arg| narrow(arg, outer));
            let args = call.collect::<Result<Vec<_>>>()?;
            of_summand(args, outer)
        }
        Expr::Between(between) => {
            let part = |expr: Box<Expr>, outer: &mut _| {
                Ok::<_, DataFusionError>(Box::new(date_below(narrow(*expr, outer)?)))
            };
            Ok(Expr::Between(Between {
                expr: part(between.expr, outer)?,
                low: part(between.low, outer)?,
                high: part(between.high, outer)?,
                ..between
            }))
        }
        Expr::ScalarFunction(call) if COUNTS.contains(&call.name()) => of_count(call, outer),
        // DataFusion must recognize `count(1)` as `count(*)`. Offsets of windows are `bigint`.
        Expr::AggregateFunction(ref call) if call.func.name() == "count" => Ok(expr),
        Expr::WindowFunction(mut call) => {
            if GIVES_ITS_FIRST.contains(&call.fun.name())
                && let Some(first) = call.params.args.first_mut()
            {
                *first = narrow(first.clone(), outer)?;
            }
            Ok(Expr::WindowFunction(call))
        }
        Expr::ScalarSubquery(subquery) => Ok(Expr::ScalarSubquery(of_subquery(subquery, outer)?)),
        Expr::Exists(mut exists) => {
            exists.subquery = of_subquery(exists.subquery, outer)?;
            Ok(Expr::Exists(exists))
        }
        Expr::InSubquery(mut within) => {
            within.expr = Box::new(narrow(*within.expr, outer)?);
            within.subquery = of_subquery(within.subquery, outer)?;
            Ok(Expr::InSubquery(within))
        }
        Expr::SetComparison(mut comparison) => {
            comparison.expr = Box::new(narrow(*comparison.expr, outer)?);
            comparison.subquery = of_subquery(comparison.subquery, outer)?;
            Ok(Expr::SetComparison(comparison))
        }
        Expr::OuterReferenceColumn(field, column) => {
            let known = outer.iter().rev().find_map(|schema| {
                let index = schema.maybe_index_of_column(&column)?;
                Some(Arc::clone(&schema.fields()[index]))
            });
            Ok(Expr::OuterReferenceColumn(known.unwrap_or(field), column))
        }
        other => Ok(other.map_children(|child| Ok(Transformed::yes(narrow(child, outer)?)))?.data),
    }
}

/// Casts a number of elements to `integer`.
fn of_count(call: ScalarFunction, outer: &mut Vec<DFSchemaRef>) -> Result<Expr> {
    let is_null_of_none = OF_NONE_NULL.contains(&call.name());
    let args = call.args.into_iter().map(|arg| narrow(arg, outer));
    let args = args.collect::<Result<Vec<_>>>()?;
    let call = Expr::ScalarFunction(ScalarFunction { func: call.func, args });
    let count = cast(call, DataType::Int32);
    Ok(if is_null_of_none { nullif().call(vec![count, lit(0)]) } else { count })
}

fn of_subquery(subquery: Subquery, outer: &mut Vec<DFSchemaRef>) -> Result<Subquery> {
    let plan = rewrite(Arc::unwrap_or_clone(subquery.subquery.clone()), outer)?;
    let columns = subquery.outer_ref_columns.iter().map(|c| narrow(c.clone(), outer));
    let outer_ref_columns = columns.collect::<Result<Vec<_>>>()?;
    Ok(Subquery { subquery: Arc::new(plan), outer_ref_columns, ..subquery })
}

/// Whether a cast to `integer` is redundant because the number becomes an `integer` anyway.
fn is_integer_as_such(cast: &Cast) -> bool {
    let fits = match &*cast.expr {
        Expr::Literal(ScalarValue::Int64(Some(value)), None) => fits_integer(*value),
        Expr::Literal(ScalarValue::Int32(Some(_)), None) => true,
        _ => false,
    };
    fits && *cast.field.data_type() == DataType::Int32 && cast.field.metadata().is_empty()
}

/// Converts the argument of a sum to the type in which sums are computed.
fn of_summand(args: Vec<Expr>, inputs: &[DFSchemaRef]) -> Result<Expr> {
    let mut schema = DFSchema::empty();
    inputs.iter().rev().for_each(|input| schema.merge(input));
    let [arg] = <[Expr; 1]>::try_from(args)
        .map_err(|_| DataFusionError::Internal("sum takes one argument".to_owned()))?;
    let is_converted = decimals::summed(&arg.get_type(&schema)?).is_some();
    Ok(if is_converted { decimals::summand().call(vec![arg]) } else { arg })
}

fn fits_integer(value: i64) -> bool {
    i32::try_from(value).is_ok()
}
