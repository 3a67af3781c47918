//! `EXPLAIN (PREDICT 'smart-disk') SELECT ...`: the predicted cost of a query over the user's
//! tables on simulated hardware.
//!
//! The query is planned as for one server, wherever its rows are (`one_server`). The `operators`
//! become a plan of [`dbsim`], with statistics of the tables (`tables`) and estimates
//! ([`scan::estimate`]). That plan is simulated, and `report` describes the result as text. With
//! ANALYZE the query is run here once to count its rows.

mod flow;
mod joins;
mod one_server;
mod operators;
mod options;
mod report;
mod subqueries;
mod tables;
mod terms;
mod texts;

pub use options::{Options, Request};

use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::execute_stream;
use dbsim::plan::{Scheme, bundle};
use futures::TryStreamExt;
use planner::Planner;
use scan::estimate::Guesses;
use scan::tables::Tables;
use std::iter;
use std::sync::Arc;
use values::{Error, Result, SqlState};

/// The seed of every simulation: the same statement over the same rows has the same prediction.
const SEED: u64 = 1;

/// The prediction for a query, line by line.
///
/// # Errors
/// 0A000 for operators that the simulator does not have; 22023
/// if the hardware cannot hold the tables; those of running the query.
pub async fn lines(
    planner: Planner<'_>,
    tables: &dyn Tables,
    query: &LogicalPlan,
    request: &Request,
) -> Result<Vec<String>> {
    let (plan, guesses) = plan_of(planner, tables, query, request.scale, request.run).await?;
    let simulated = |scheme| {
        let Request { architecture, coefficients, .. } = request;
        dbsim::simulate(&plan, architecture, coefficients, scheme, SEED).map_err(refused)
    };
    let whole = simulated(request.bundling)?;
    let apart = simulated(Scheme::None)?;
    let alone = bundle::cut(&plan, Scheme::None).into_iter().zip(&apart.bundles);
    let mut seconds = vec![0.0; plan.operators().len()];
    for (operators, bundle) in alone {
        operators.0.iter().for_each(|operator| seconds[*operator] = bundle.seconds);
    }
    Ok(report::lines(request, &plan, &whole, &seconds, &guesses))
}

/// The simulator's plan of a query over tables of `scale` times their rows, and the assumptions. If
/// `run` is true, the query is run once to count its rows.
///
/// # Errors
/// 0A000 for operators that the simulator does not have; those
/// of running the query.
pub async fn plan_of(
    planner: Planner<'_>,
    tables: &dyn Tables,
    query: &LogicalPlan,
    scale: f64,
    run: bool,
) -> Result<(dbsim::Plan, Guesses)> {
    let engine = one_server::of(planner.engine);
    let mut planner = planner;
    planner.engine = &engine;
    let physical = planner.physical(query).await?;
    if run {
        let mut rows = execute_stream(Arc::clone(&physical), engine.task_ctx())?;
        while rows.try_next().await?.is_some() {}
    }
    let subqueries = subqueries::of_plan(&physical, &engine).await?;
    let plans = iter::once(&physical).chain(subqueries.iter().map(|subquery| &subquery.plan));
    let known = tables::of_plans(plans, tables, &engine, scale).await?;
    let batch_rows = engine.config().batch_size() as f64;
    let known = operators::Known { tables: &known, subqueries: &subqueries, batch_rows };
    operators::of_plan(&physical, &known, run)
}

/// The error for input that the simulator refuses.
fn refused(error: dbsim::Error) -> Error {
    let state = match &error {
        dbsim::Error::Unknown { .. }
        | dbsim::Error::Setting { .. }
        | dbsim::Error::TooLarge { .. } => SqlState::InvalidParameterValue,
        dbsim::Error::Operator { .. } => SqlState::FeatureNotSupported,
        dbsim::Error::File { .. } => SqlState::InternalError,
    };
    Error::new(state, error.to_string())
}
