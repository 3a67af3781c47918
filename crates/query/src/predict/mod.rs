//! `EXPLAIN (PREDICT 'smart-disk') SELECT ...`: what a query over the user's own tables would cost on hardware that nobody
//! here owns.
//!
//! The query is planned as one server alone would plan it, whoever has the rows ([`one_server`]). What is known of the
//! tables ([`tables`]) and the usual guesses where nothing is ([`crate::scan::estimate`]) make of the operators a plan of [`dbsim`]
//! ([`operators`]), which is simulated; [`report`] tells of it in lines of text. With ANALYZE it is run here once, and its
//! rows are counted; else nothing is run.

mod joins;
mod one_server;
mod operators;
mod options;
mod report;
mod subqueries;
mod tables;
mod terms;
#[cfg(test)]
mod tests;
mod texts;

pub(crate) use options::{Options, Request};

use crate::scan::estimate::Guesses;
use crate::scan::tables::Tables;
use crate::session::Frame;
use crate::values::error::{Error, Result, SqlState};
use datafusion::physical_plan::execute_stream;
use datafusion::sql::sqlparser::ast::Statement as Ast;
use dbsim::plan::{Scheme, bundle};
use futures::TryStreamExt;
use std::iter;
use std::sync::Arc;

/// The seed of every simulation: the same statement over the same rows has the same answer.
const SEED: u64 = 1;

/// The answer for a query, line by line.
///
/// # Errors
/// 0A000 for what is no query or has an operator that the simulator has not; 22023 where the hardware cannot hold the tables.
pub(crate) async fn lines(
    frame: &Frame<'_>,
    tables: &dyn Tables,
    statement: &Ast,
    request: &Request,
) -> Result<Vec<String>> {
    let (plan, guesses) = plan_of(frame, tables, statement, request.scale, request.run).await?;
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

/// The simulator's plan of a query over tables whose rows are each there `scale` times, and what was supposed of it. It is
/// run once, if that is asked for, and its rows are counted.
///
/// # Errors
/// 0A000 for what is no query or has an operator that the simulator has not; what running it fails with.
pub(crate) async fn plan_of(
    frame: &Frame<'_>,
    tables: &dyn Tables,
    statement: &Ast,
    scale: f64,
    run: bool,
) -> Result<(dbsim::Plan, Guesses)> {
    let Ast::Query(_) = statement else {
        return Err(Error::unsupported("EXPLAIN (PREDICT) is for queries"));
    };
    let engine = one_server::of(frame.engine());
    let mut planner = frame.planner(tables);
    planner.engine = &engine;
    let logical = planner.plan_statement(statement.clone()).await?;
    let (logical, _) = planner.shown(logical)?;
    let physical = planner.physical(&logical).await?;
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

/// What the simulator does not take.
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
