//! `FROM a, LATERAL (SELECT ... a.x ...)`: joins with a subquery that runs once per row.

use super::function::{Answer, row_field};
use super::{call, constant, unsupported};
use datafusion::common::{Column, JoinType, NullHandling, Result, TableReference, UnnestOptions};
use datafusion::execution::SessionState;
use datafusion::functions::core::expr_ext::FieldAccessor;
use datafusion::logical_expr::{Expr, Join, LogicalPlan, LogicalPlanBuilder, Subquery, lit};
use std::sync::Arc;

/// The column that holds the rows of the subquery before they are unnested.
const ROWS: &str = "?rows";

/// The join as an unnested subquery function; `None` if its right side is not a subquery.
pub(super) fn of_join(join: &Join, engine: &Arc<SessionState>) -> Result<Option<LogicalPlan>> {
    let Some((subquery, alias)) = lateral(&join.right) else { return Ok(None) };
    let conditions = join.on.iter().map(|(left, right)| left.clone().eq(right.clone()));
    let condition = conditions.chain(join.filter.clone()).reduce(Expr::and);
    let always = condition.as_ref().is_none_or(|condition| *condition == lit(true));
    let null_handling = match join.join_type {
        JoinType::Inner => NullHandling::Drop,
        JoinType::Left if always => NullHandling::Preserve,
        _ => return Err(unsupported("LATERAL with this join type")),
    };
    let plan = match constant::row(&subquery.subquery, join.left.schema())? {
        Some(row) => with_row(join, subquery, row, &alias)?,
        None => with_rows(join, subquery, &alias, null_handling, engine)?,
    };
    let plan = match condition.filter(|_| !always) {
        Some(condition) => plan.filter(condition)?,
        None => plan,
    };
    plan.build().map(Some)
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
    join: &Join,
    subquery: &Subquery,
    alias: &Option<TableReference>,
    null_handling: NullHandling,
    engine: &Arc<SessionState>,
) -> Result<LogicalPlanBuilder> {
    let left = join.left.schema();
    let rows = call(subquery, Answer::Rows, None, left, false, engine)?.alias(ROWS);
    let left_columns: Vec<Expr> = left.columns().into_iter().map(Expr::Column).collect();
    let with_rows: Vec<Expr> = left_columns.iter().cloned().chain([rows]).collect();
    let options = UnnestOptions { null_handling, ..UnnestOptions::default() };
    let right_columns = names(subquery, alias).enumerate().map(|(index, (relation, name))| {
        let value = Expr::Column(Column::from_name(ROWS)).field(row_field(index));
        value.alias_qualified(relation, name)
    });
    let all = left_columns.into_iter().chain(right_columns);
    LogicalPlanBuilder::from(join.left.as_ref().clone())
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
