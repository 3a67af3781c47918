//! Correlated subqueries that run once for each distinct set of outer values.
//!
//! DataFusion turns correlated subqueries into joins. It rejects those that it cannot: without an
//! aggregate, with conditions other than equality, most LATERAL joins. PostgreSQL accepts them all,
//! and catalog queries of clients have many (psql's `\d` has one in each select list).
//!
//! `by_row` turns every correlated subquery of a plan into a [`SubqueryFunction`] of its outer
//! columns. The function plans and runs the subquery for each distinct set of values, or for each
//! row if it calls volatile functions. Each set costs one planning, so this is used only for plans
//! that DataFusion rejects or misinterprets. If the outer columns are only compared by equality,
//! the subquery runs once for all values, and its rows are found by key (`index`). Else it runs for
//! all sets of a batch at once, if it can be joined with them (`domain`). A subquery without outer
//! columns runs once, too (`members`). Where an expression does not need the value for every row,
//! an error is a part of the value (`late`).
//!
//! DataFusion calls such functions in select lists and filters only. `below` moves them there from
//! other places. In ON of a full join a subquery over both sides is not supported.

mod below;
mod bind;
mod by_row;
mod constant;
mod domain;
mod function;
mod index;
mod keyed;
mod late;
mod lateral;
mod members;
mod outside;
mod three_valued;

pub use by_row::ByRow;
pub use function::SubqueryFunction;

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, DataFusionError, JoinType, Result};
use datafusion::execution::SessionState;
use datafusion::logical_expr::async_udf::AsyncScalarUDF;
use datafusion::logical_expr::expr::{
    Exists, InSubquery, ScalarFunction, SetComparison, SetQuantifier,
};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{
    BinaryExpr, Cast, Expr, ExprSchemable, Join, LogicalPlan, Operator, Subquery,
};
use function::Answer;
use std::sync::Arc;

/// Whether a plan, or a subquery in it, has a subquery that DataFusion may reject.
pub(super) fn is_in(plan: &LogicalPlan) -> bool {
    let in_expression = |expr: &Expr| {
        expr.exists(|expr| {
            let correlated = subquery_of(expr).is_some_and(|s| !s.outer_ref_columns.is_empty());
            Ok(correlated || is_condition(expr))
        })
    };
    let mut found = false;
    let walked = plan.apply_with_subqueries(|node| {
        found = found
            || matches!(node, LogicalPlan::Subquery(s) if !s.outer_ref_columns.is_empty())
            || node.expressions().iter().any(|expr| in_expression(expr).unwrap_or(true));
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    found || walked.is_err()
}

/// Whether a plan has a subquery that DataFusion misinterprets: an IN where NULL and false differ, an EXISTS whose LIMIT or
/// OFFSET DataFusion would drop when it turns it into a join (an outermost LIMIT without OFFSET is handled correctly), groups
/// that DataFusion would make of more columns, the only group of no rows, which it would lose, windows that it would not keep
/// apart, an outer join that would lose rows, volatile functions that it would call once, or an expression in CASE or OR that
/// may fail for rows that do not need it.
pub(super) fn is_misread(plan: &LogicalPlan) -> bool {
    let is_limit = |node: &LogicalPlan| Ok(matches!(node, LogicalPlan::Limit(_)));
    let forgets = |expr: &Expr| {
        if let Some(subquery) = subquery_of(expr)
            && (is_regrouped(subquery)?
                || is_condition(expr) && has_only_group(&subquery.subquery)?
                || is_repeated(subquery)?)
        {
            return Ok(true);
        }
        let Expr::Exists(Exists { subquery, .. }) = expr else { return Ok(false) };
        let rows = match &*subquery.subquery {
            LogicalPlan::Limit(limit) if limit.skip.is_none() => &limit.input,
            _ => &subquery.subquery,
        };
        Ok(!subquery.outer_ref_columns.is_empty() && rows.exists(is_limit)?)
    };
    let mut found = three_valued::is_in(plan);
    let walked = plan.apply_with_subqueries(|node| {
        if let LogicalPlan::Subquery(subquery) = node {
            found = found
                || is_regrouped(subquery)?
                || leaves_out_group(&subquery.subquery)?
                || is_repeated(subquery)?;
        }
        let is_filter = matches!(node, LogicalPlan::Filter(_));
        node.apply_expressions(|expr| {
            found = found || expr.exists(forgets)? || late::is_in(expr, is_filter)?;
            Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })
    });
    found || walked.is_err()
}

/// Whether a subquery has groups that DataFusion makes otherwise when it takes conditions on outer columns out of it: by the
/// columns of those that are no equalities with columns, too, and without the group that an empty grouping set has of no rows, or an
/// aggregation below another one. Or whether it has window functions, of which DataFusion would compute one over the rows of all
/// outer rows, or joins of which it would lose rows without a partner.
fn is_regrouped(subquery: &Subquery) -> Result<bool> {
    if subquery.outer_ref_columns.is_empty() {
        return Ok(false);
    }
    let is_set = |key: &Expr| matches!(key, Expr::GroupingSet(_));
    subquery.subquery.exists(|node| match node {
        LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.iter().any(is_set) => Ok(true),
        LogicalPlan::Aggregate(aggregate) => {
            let has_groups = !aggregate.group_expr.is_empty();
            Ok(has_groups && compares(&aggregate.input)? || has_only_group(&aggregate.input)?)
        }
        LogicalPlan::Distinct(distinct) => {
            Ok(compares(distinct.input())? || has_only_group(distinct.input())?)
        }
        LogicalPlan::Window(_) => Ok(!node.all_out_ref_exprs().is_empty()),
        LogicalPlan::Join(join) => Ok(may_lack_partners(join)),
        _ => Ok(false),
    })
}

/// Whether a subquery runs for each outer row even if the values of its outer columns are the same: it calls volatile functions.
/// A join computes them once.
fn is_repeated(subquery: &Subquery) -> Result<bool> {
    Ok(!subquery.outer_ref_columns.is_empty() && outside::is_volatile(&subquery.subquery)?)
}

/// Whether it depends on the outer row which rows of a join have no partner, or whether they have one where only that counts: a
/// condition on outer columns is below the side that may lack. Above the join it would apply to the joined rows. The right side
/// of a LATERAL join keeps its conditions.
fn may_lack_partners(join: &Join) -> bool {
    use JoinType as J;
    let (left, right) = match join.join_type {
        J::Inner => (false, false),
        J::Left | J::LeftSemi | J::LeftAnti | J::LeftMark => (false, true),
        J::Right | J::RightSemi | J::RightAnti | J::RightMark => (true, false),
        J::Full => (true, true),
    };
    let is_outer = |side: &LogicalPlan| !side.all_out_ref_exprs().is_empty();
    let depends = |side: &LogicalPlan| !bind::is_lateral(side) && is_outer(side);
    left && depends(&join.left) || right && depends(&join.right)
}

/// Whether a plan makes one group of rows that depend on the outer row. The group is there without rows, too: `EXISTS (SELECT
/// count(*) ...)` is true.
fn has_only_group(plan: &LogicalPlan) -> Result<bool> {
    plan.exists(|node| match node {
        LogicalPlan::Aggregate(aggregate) => {
            let is_only = aggregate.group_expr.is_empty();
            Ok(is_only && !aggregate.input.all_out_ref_exprs().is_empty())
        }
        _ => Ok(false),
    })
}

/// Whether the rows of a LATERAL query depend on more than the values of such a group: `HAVING count(*) > 0` leaves it out.
fn leaves_out_group(plan: &LogicalPlan) -> Result<bool> {
    match plan {
        LogicalPlan::Projection(projection) => leaves_out_group(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => leaves_out_group(&alias.input),
        LogicalPlan::Aggregate(_) => Ok(false),
        other => has_only_group(other),
    }
}

/// Whether a plan has conditions on outer columns that do not give a column of its own one value for each outer row.
fn compares(plan: &LogicalPlan) -> Result<bool> {
    let is_outer = |part: &Expr| Ok(matches!(part, Expr::OuterReferenceColumn(..)));
    plan.exists(|node| {
        let LogicalPlan::Filter(filter) = node else { return Ok(false) };
        for condition in split_conjunction(&filter.predicate) {
            if condition.exists(is_outer)? && !is_key(condition, filter.input.schema())? {
                return Ok(true);
            }
        }
        Ok(false)
    })
}

/// Whether a condition is the equality of a column and an expression without columns of the same plan. Columns in other
/// expressions have several values: -1 and 1 in `abs(b.y) = a.x`.
fn is_key(condition: &Expr, schema: &DFSchema) -> Result<bool> {
    let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = condition else {
        return Ok(false);
    };
    let is_column = |expr: &Expr| -> Result<bool> {
        match expr {
            Expr::Column(_) => Ok(true),
            Expr::Cast(Cast { expr: inner, field }) if matches!(**inner, Expr::Column(_)) => {
                let from = inner.get_type(schema)?;
                Ok(from.is_signed_integer() && field.data_type().is_signed_integer())
            }
            _ => Ok(false),
        }
    };
    Ok(is_column(left)? && !right.any_column_refs() || is_column(right)? && !left.any_column_refs())
}

/// The subquery of an expression, if it is one.
pub(super) fn subquery_of(expr: &Expr) -> Option<&Subquery> {
    match expr {
        Expr::ScalarSubquery(subquery) => Some(subquery),
        Expr::Exists(exists) => Some(&exists.subquery),
        Expr::InSubquery(within) => Some(&within.subquery),
        Expr::SetComparison(comparison) => Some(&comparison.subquery),
        _ => None,
    }
}

/// Whether an expression is a subquery that DataFusion accepts only as a condition of a filter.
fn is_condition(expr: &Expr) -> bool {
    matches!(expr, Expr::Exists(_) | Expr::InSubquery(_) | Expr::SetComparison(_))
}

/// Turns the correlated subqueries of a plan into functions.
pub(super) fn by_row(plan: LogicalPlan, engine: &SessionState) -> Result<LogicalPlan> {
    of_plan(plan, &Arc::new(engine.clone()))
}

fn of_plan(plan: LogicalPlan, engine: &Arc<SessionState>) -> Result<LogicalPlan> {
    // The right side of a LATERAL join is planned when its outer columns have values. What it holds may refer to them, too.
    let down = |node: LogicalPlan| {
        let is_lateral =
            matches!(&node, LogicalPlan::Subquery(s) if !s.outer_ref_columns.is_empty());
        let next = if is_lateral { TreeNodeRecursion::Jump } else { TreeNodeRecursion::Continue };
        Ok(Transformed::new(node, false, next))
    };
    plan.transform_down_up(down, |node| of_node(node, engine)).data()
}

fn of_node(node: LogicalPlan, engine: &Arc<SessionState>) -> Result<Transformed<LogicalPlan>> {
    if let LogicalPlan::Join(join) = &node {
        if let Some(plan) = lateral::of_join(join, engine)? {
            return Ok(Transformed::yes(plan));
        }
        if let Some(plan) = lateral::of_outer_join(join, engine)? {
            return Ok(Transformed::yes(plan));
        }
    }
    let mut schema = DFSchema::empty();
    node.inputs().into_iter().for_each(|input| schema.merge(input.schema()));
    let is_filter = matches!(node, LogicalPlan::Filter(_));
    let mut place = Place { schema, is_filter, chooses: false };
    let names = NamePreserver::new(&node);
    let replaced = node.map_expressions(|expr| {
        let name = names.save(&expr);
        place.chooses = late::chooses(&expr, is_filter)?;
        let exact = match is_filter {
            true => three_valued::of_filter(expr, &place, engine)?,
            false => Transformed::no(expr),
        };
        let (changed, expr) = (exact.transformed, exact.data);
        let mut replaced = expr.transform_down(|expr| of_expression(expr, &place, engine))?;
        replaced.transformed |= changed;
        Ok(replaced.update_data(|expr| name.restore(expr)))
    })?;
    if !replaced.transformed {
        return Ok(replaced);
    }
    let plan = replaced.data.recompute_schema()?;
    below::of_node(plan).map(Transformed::yes)
}

/// The context of an expression.
struct Place {
    /// The columns in scope.
    schema: DFSchema,
    /// Whether the expression is a filter, in which DataFusion accepts subqueries as conditions.
    is_filter: bool,
    /// Whether not all parts of the expression are needed for every row.
    chooses: bool,
}

fn of_expression(
    expr: Expr,
    place: &Place,
    engine: &Arc<SessionState>,
) -> Result<Transformed<Expr>> {
    let schema = &place.schema;
    let Some(subquery) = subquery_of(&expr) else { return Ok(Transformed::no(expr)) };
    let correlated = !references(subquery, schema).is_empty();
    let refused = is_condition(&expr)
        && (!place.is_filter || place.chooses && late::may_fail(&subquery.subquery)?);
    if !correlated && !refused {
        return of_independent(expr, engine);
    }
    function_of(expr, place, engine)
}

/// The function that answers for a subquery.
fn function_of(expr: Expr, place: &Place, engine: &Arc<SessionState>) -> Result<Transformed<Expr>> {
    let schema = &place.schema;
    let is_any = |c: &SetComparison| c.op == Operator::Eq && c.quantifier == SetQuantifier::Any;
    let (subquery, answer, value) = match expr {
        Expr::ScalarSubquery(subquery) => (subquery, Answer::Value, None),
        Expr::Exists(exists) => (exists.subquery, Answer::Exists { negated: exists.negated }, None),
        Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
            (subquery, Answer::Contains { negated }, Some(*expr))
        }
        Expr::SetComparison(comparison) if is_any(&comparison) => {
            let SetComparison { expr, subquery, .. } = comparison;
            (subquery, Answer::Contains { negated: false }, Some(*expr))
        }
        other => return Ok(Transformed::no(other)),
    };
    if answer == Answer::Value
        && let Some(mut row) = constant::row(&subquery.subquery, schema)?
    {
        return Ok(Transformed::yes(row.swap_remove(0)));
    }
    let is_late = place.chooses && (answer == Answer::Value || late::may_fail(&subquery.subquery)?);
    let call = call(&subquery, answer, value, schema, is_late, engine)?;
    Ok(Transformed::yes(call))
}

/// Leaves an uncorrelated subquery to DataFusion, but turns the subqueries in it into functions.
fn of_independent(mut expr: Expr, engine: &Arc<SessionState>) -> Result<Transformed<Expr>> {
    let subquery = match &mut expr {
        Expr::ScalarSubquery(subquery) => subquery,
        Expr::Exists(exists) => &mut exists.subquery,
        Expr::InSubquery(within) => &mut within.subquery,
        Expr::SetComparison(comparison) => &mut comparison.subquery,
        _ => return Ok(Transformed::no(expr)),
    };
    if !subquery.outer_ref_columns.is_empty() || !is_in(&subquery.subquery) {
        return Ok(Transformed::no(expr));
    }
    let plan = of_plan(subquery.subquery.as_ref().clone(), engine)?;
    subquery.subquery = Arc::new(plan);
    Ok(Transformed::yes(expr))
}

/// The call of a subquery as a function of its outer columns. `value` is the left side of IN. If `is_late`, errors are raised
/// where rows need values.
fn call(
    subquery: &Subquery,
    answer: Answer,
    value: Option<Expr>,
    schema: &DFSchema,
    is_late: bool,
    engine: &Arc<SessionState>,
) -> Result<Expr> {
    let columns = references(subquery, schema);
    let plan = Arc::clone(&subquery.subquery);
    let function =
        SubqueryFunction::new(plan, columns.clone(), answer, is_late, Arc::clone(engine))?;
    let function = Arc::new(function);
    if let Some(by_row) = engine.config().get_extension::<ByRow>() {
        by_row.add(&function);
    }
    let keys = function.keys().cloned();
    let arguments = columns.into_iter().map(Expr::Column).chain(value).chain(keys).collect();
    let late = function.failures().cloned().zip(Some(function.field()));
    let function = Arc::new(AsyncScalarUDF::new(function).into_scalar_udf());
    let call = Expr::ScalarFunction(ScalarFunction::new_udf(function, arguments));
    Ok(match late {
        Some((failures, field)) => late::needed(call, &failures, field),
        None => call,
    })
}

/// The columns of a schema that a subquery refers to.
fn references(subquery: &Subquery, schema: &DFSchema) -> Vec<Column> {
    let mut columns = Vec::new();
    for reference in &subquery.outer_ref_columns {
        if let Expr::OuterReferenceColumn(_, column) = reference
            && schema.has_column(column)
            && !columns.contains(column)
        {
            columns.push(column.clone());
        }
    }
    columns
}

/// The error for a subquery that cannot run by row.
fn unsupported(what: &str) -> DataFusionError {
    DataFusionError::NotImplemented(format!("{what} is not supported"))
}
