//! The plans of a statement that changes rows, for EXPLAIN.

use super::change::Ready;
use super::statement::node_of;
use crate::analysis::changes::{self, Planned, rows_of};
use crate::analysis::targets;
use crate::context::Frame;
use analyzer::tree::Main;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use planner::Planner;
use std::sync::Arc;
use store::Reading;
use values::error::Result;

/// The plan of a part of a statement.
pub(crate) struct Part {
    /// What is done to which table; `None` for a query.
    pub(crate) deed: Option<String>,
    pub(crate) logical: LogicalPlan,
    /// The query of the rows; of a change that the owners of the rows execute, the query that each runs.
    pub(crate) physical: Option<Arc<dyn ExecutionPlan>>,
}

/// The plan of a statement, and those of the changes in its WITH with their names.
///
/// # Errors
/// What is wrong with the statement.
pub(crate) async fn parts(
    frame: &Frame<'_>,
    reading: &Reading,
) -> Result<(Part, Vec<(String, Part)>)> {
    let mut planner = frame.planner(reading);
    let node = node_of(frame)?;
    planner.shown = targets::shown(reading.catalog(), node);
    let statement = changes::bind(frame, &planner, node).await?;
    let is_alone = statement.tree.changes.is_empty();
    let (mut named, mut returned) = (Vec::new(), Vec::new());
    for change in &statement.tree.changes {
        let planned = statement.planned(&change.change, &returned, true)?;
        if let Some(returning) = &planned.returning {
            let schema = Arc::clone(returning.values.schema());
            returned.push((change.id, rows_of(schema, Vec::new())?));
        }
        named.push((change.name.clone(), part(frame, &planner, planned, false).await?));
    }
    let main = match &statement.tree.main {
        Main::Query(query) => {
            let logical = statement.query(query, &returned)?.0;
            let physical = Some(planner.physical(&logical).await?);
            Part { deed: None, logical, physical }
        }
        Main::Change(change) => {
            let planned = statement.planned(change, &returned, false)?;
            part(frame, &planner, planned, is_alone && reading.peers().is_some()).await?
        }
    };
    Ok((main, named))
}

async fn part(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    planned: Planned,
    may_be_there: bool,
) -> Result<Part> {
    let (logical, table) = (planned.rows.clone(), planned.target.table().name.clone());
    let ready = Ready::new(frame, planner, planned, None, &frame.site).await?;
    let there = if may_be_there { ready.at_owners(frame)? } else { None };
    let verb = match ready.command() {
        "INSERT" => "Insert",
        "UPDATE" => "Update",
        "DELETE" => "Delete",
        _ => "Merge",
    };
    let place = if there.is_some() { ", by the owners of its rows" } else { "" };
    let physical = there.map(|there| there.query).or_else(|| ready.query().cloned());
    Ok(Part { deed: Some(format!("{verb} on {table}{place}")), logical, physical })
}
