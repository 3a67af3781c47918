//! Plans of queries.

use crate::Statement;
use crate::analysis;
use crate::context::Frame;
use datafusion::logical_expr::LogicalPlan;
use planner::Planner;
use values::error::{Error, Result};
use values::field::Field;

/// The plan of a query, by the analyzer or else by the engine's planner.
pub(super) async fn plan_of_query(
    frame: &Frame<'_>,
    planner: &mut Planner<'_>,
    statement: &Statement,
) -> Result<(LogicalPlan, Vec<Field>)> {
    if let Some(query) = analysis::query_of(frame, statement)
        && let Some(analyzed) = analysis::plan(frame, planner, query).await?
    {
        return Ok(analyzed);
    }
    match (statement.ast(), statement.query().or_else(|| statement.source())) {
        (Some(ast), _) => {
            let plan = planner.plan_statement(ast.clone()).await?;
            planner.shown(plan)
        }
        (None, Some(query)) => Err(analysis::missing(frame, planner, query).await),
        (None, None) => Err(unplanned()),
    }
}

/// The error for a statement without a plan.
pub(super) fn unplanned() -> Error {
    Error::unsupported("this form of the statement is not supported")
}
