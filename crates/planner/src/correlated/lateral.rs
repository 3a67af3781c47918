//! `FROM a, LATERAL (SELECT ... a.x ...)`: joins with a subquery that runs once per row. A side of an outer join is made one if
//! the condition has a subquery over both sides.

use super::function::{Answer, row_field};
use super::{call, constant, references, subquery_of, unsupported};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{
    Column, DFSchema, JoinType, NullEquality, NullHandling, Result, Spans, TableReference,
    UnnestOptions,
};
use datafusion::execution::SessionState;
use datafusion::functions::core::expr_ext::FieldAccessor;
use datafusion::logical_expr::{
    Expr, Filter, Join, LogicalPlan, LogicalPlanBuilder, Subquery, lit,
};
use std::sync::Arc;

/// The column that holds the rows of the subquery before they are unnested.
const ROWS: &str = "?rows";

/// The join as an unnested subquery function; `None` if its right side is not a subquery.
pub(super) fn of_join(join: &Join, engine: &Arc<SessionState>) -> Result<Option<LogicalPlan>> {
    let Some((subquery, alias)) = lateral(&join.right) else { return Ok(None) };
    let condition = condition(join);
    let always = condition.as_ref().is_none_or(|condition| *condition == lit(true));
    let null_handling = match join.join_type {
        JoinType::Inner => NullHandling::Drop,
        JoinType::Left if always => NullHandling::Preserve,
        _ => return Err(unsupported("LATERAL with this join type")),
    };
    let plan = match constant::row(&subquery.subquery, join.left.schema())? {
        Some(row) => with_row(join, subquery, row, &alias)?,
        None => with_rows(&join.left, subquery, &alias, null_handling, engine)?,
    };
    let plan = match condition.filter(|_| !always) {
        Some(condition) => plan.filter(condition)?,
        None => plan,
    };
    plan.build().map(Some)
}

/// An outer join whose condition has a subquery over both sides: its rows of one side, with those of the other that meet the
/// condition. `None` for other joins.
pub(super) fn of_outer_join(
    join: &Join,
    engine: &Arc<SessionState>,
) -> Result<Option<LogicalPlan>> {
    let (kept, other) = match join.join_type {
        JoinType::Left => (&join.left, &join.right),
        JoinType::Right => (&join.right, &join.left),
        _ => return Ok(None),
    };
    let is_split = |part: &Expr| Ok(is_over(part, kept.schema()) && is_over(part, other.schema()));
    let Some(condition) = condition(join) else { return Ok(None) };
    if join.null_equality != NullEquality::NullEqualsNothing || !condition.exists(is_split)? {
        return Ok(None);
    }
    let (condition, outer_ref_columns) = from_outside(condition, kept.schema())?;
    let rows = LogicalPlan::Filter(Filter::try_new(condition, Arc::clone(other))?);
    let spans = Spans::default();
    let subquery = Subquery { subquery: Arc::new(rows), outer_ref_columns, spans };
    let joined = with_rows(kept, &subquery, &None, NullHandling::Preserve, engine)?;
    joined.project(join.schema.columns().into_iter().map(Expr::Column))?.build().map(Some)
}

/// Whether an expression is a subquery over columns of a schema.
fn is_over(expr: &Expr, schema: &DFSchema) -> bool {
    subquery_of(expr).is_some_and(|subquery| {
        let mut own = expr.column_refs().into_iter();
        !references(subquery, schema).is_empty() || own.any(|column| schema.has_column(column))
    })
}

/// A condition for which the columns of a schema are outer ones, and these columns.
fn from_outside(condition: Expr, schema: &DFSchema) -> Result<(Expr, Vec<Expr>)> {
    let mut outer: Vec<Expr> = Vec::new();
    let inside = condition.transform_down(|part| {
        let within = subquery_of(&part).map(|subquery| subquery.outer_ref_columns.clone());
        outer.extend(within.into_iter().flatten().filter(|reference| {
            matches!(reference, Expr::OuterReferenceColumn(_, column) if schema.has_column(column))
        }));
        let Expr::Column(column) = part else { return Ok(Transformed::no(part)) };
        if !schema.has_column(&column) {
            return Ok(Transformed::no(Expr::Column(column)));
        }
        let (_, field) = schema.qualified_field_from_column(&column)?;
        outer.push(Expr::OuterReferenceColumn(Arc::clone(field), column.clone()));
        Ok(Transformed::yes(Expr::OuterReferenceColumn(Arc::clone(field), column)))
    })?;
    Ok((inside.data, outer))
}

/// The condition of a join; `None` if all rows meet.
fn condition(join: &Join) -> Option<Expr> {
    let conditions = join.on.iter().map(|(left, right)| left.clone().eq(right.clone()));
    conditions.chain(join.filter.clone()).reduce(Expr::and)
}

/// The left side with the only row of the subquery.
fn with_row(
    join: &Join,
    subquery: &Subquery,
    row: Vec<Expr>,
    alias: &Option<TableReference>,
) -> Result<LogicalPlanBuilder> {
    let left = join.left.schema().columns().into_iter().map(Expr::Column);
    let right = row.into_iter().zip(names(subquery, alias));
    let right = right.map(|(value, (relation, name))| value.alias_qualified(relation, name));
    LogicalPlanBuilder::from(join.left.as_ref().clone()).project(left.chain(right))
}

/// The left side with the rows of the subquery.
fn with_rows(
    plan: &LogicalPlan,
    subquery: &Subquery,
    alias: &Option<TableReference>,
    null_handling: NullHandling,
    engine: &Arc<SessionState>,
) -> Result<LogicalPlanBuilder> {
    let left = plan.schema();
    let rows = call(subquery, Answer::Rows, None, left, false, engine)?.alias(ROWS);
    let left_columns: Vec<Expr> = left.columns().into_iter().map(Expr::Column).collect();
    let with_rows: Vec<Expr> = left_columns.iter().cloned().chain([rows]).collect();
    let options = UnnestOptions { null_handling, ..UnnestOptions::default() };
    let right_columns = names(subquery, alias).enumerate().map(|(index, (relation, name))| {
        let value = Expr::Column(Column::from_name(ROWS)).field(row_field(index));
        value.alias_qualified(relation, name)
    });
    let all = left_columns.into_iter().chain(right_columns);
    LogicalPlanBuilder::from(plan.clone())
        .project(with_rows)?
        .unnest_column_with_options(Column::from_name(ROWS), options)?
        .project(all)
}

/// The names of the subquery's columns outside.
fn names<'a>(
    subquery: &'a Subquery,
    alias: &'a Option<TableReference>,
) -> impl Iterator<Item = (Option<TableReference>, &'a String)> {
    let fields = subquery.subquery.schema().iter();
    fields.map(|(relation, field)| (alias.clone().or_else(|| relation.cloned()), field.name()))
}

/// The subquery on the right side of a join, with its alias.
fn lateral(plan: &LogicalPlan) -> Option<(&Subquery, Option<TableReference>)> {
    match plan {
        LogicalPlan::Subquery(subquery) => Some((subquery, None)),
        LogicalPlan::SubqueryAlias(alias) => match &*alias.input {
            LogicalPlan::Subquery(subquery) => Some((subquery, Some(alias.alias.clone()))),
            _ => None,
        },
        _ => None,
    }
}
