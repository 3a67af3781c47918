//! The rows of a query that calls functions of users.

use super::{Serves, served};
use crate::context::call_site::{CallSite, Requests};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};
use datafusion::physical_plan::collect;
use planner::Planner;
use values::error::Result;

/// The rows of a plan whose functions are called at a place, of which `server` executes the statements.
///
/// # Errors
/// Those of the plan.
pub(crate) async fn collected(
    planner: &Planner<'_>,
    plan: LogicalPlan,
    limit: Option<usize>,
    (site, requests): (&CallSite, &mut Requests),
    server: &mut impl Serves,
) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    if !site.needs_driver()
        && limit != Some(0)
        && let Some(row) = planner.only_row(&plan)?
    {
        return Ok((row.schema(), vec![row]));
    }
    let plan = match limit {
        Some(limit) => LogicalPlanBuilder::from(plan).limit(0, Some(limit))?.build()?,
        None => plan,
    };
    if !site.needs_driver() {
        let physical = planner.physical(&plan).await?;
        let schema = physical.schema();
        return Ok((schema, collect(physical, planner.engine.task_ctx()).await?));
    }
    let (physical, task) = planner.physical_in_turn(&plan).await?;
    let schema = physical.schema();
    let rows = async move { Ok(collect(physical, task).await?) };
    Ok((schema, served(requests, server, rows).await?))
}
