//! Queries by way of PostgreSQL's grammar and the analyzer: parse tree, typed tree, logical plan.
//!
//! What the analyzer or the lowering does not know yet is planned as before, by the engine's own SQL planner.

pub(crate) mod changes;
pub(crate) mod over_rows;
mod parameters;
mod relations;
pub(crate) mod row;
pub(crate) mod targets;

use crate::context::Frame;
use analyzer::Bound;
use analyzer::system::SqlType;
use analyzer::tree::{CteId, Query};
use datafusion::catalog::view::ViewTable;
use datafusion::datasource::TableProvider;
use datafusion::logical_expr::{LogicalPlan, TableSource};
use futures::future::BoxFuture;
use grammar::tree::NodeEnum;
use lowering::{Refusal, Surroundings};
use parser::commands::{Command, Definition};
use parser::{Statement, errors, types};
use planner::relations::rename_columns;
use planner::{Planner, refuse_deep};
use relations::Relations;
use std::sync::Arc;
use store::catalog;
use values::error::{Error, Result};
use values::field::Field;

/// The setting that lets the analyzer plan queries.
const SETTING: &str = "pando.analyzer";

/// The types of a query's parameters, and the columns of its result.
pub(crate) type Described = (Vec<catalog::SqlType>, Vec<Field>);

/// The rows that a change in WITH has returned.
pub(crate) type Returned = (CteId, Arc<dyn TableSource>);

/// Why a query is not planned here.
enum Refused {
    /// A part of it is not known here.
    Missing(Error),
    /// It is wrong.
    Wrong(Error),
}

/// The query of a statement that is planned here; `None` if it has none, or the setting is off.
pub(crate) fn query_of<'a>(frame: &Frame<'_>, statement: &'a Statement) -> Option<&'a NodeEnum> {
    let query = || statement.query().or_else(|| statement.source());
    if is_on(frame) || statement.ast().is_none() { query() } else { None }
}

/// The plan of a query and the columns of its result. `None` if the analyzer does not know all of it.
///
/// # Errors
/// What is wrong with the query.
pub(crate) async fn plan(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    query: &NodeEnum,
) -> Result<Option<(LogicalPlan, Vec<Field>)>> {
    if !is_on(frame) {
        return Ok(None);
    }
    known(planned(frame, planner, query, frame.text).await)
}

/// The plan of a query that is no statement's. `None` if the analyzer does not know all of it.
///
/// # Errors
/// What is wrong with the query.
pub(crate) async fn plan_text(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    text: &str,
) -> Result<Option<LogicalPlan>> {
    let Ok(script) = grammar::parse(text) else { return Ok(None) };
    let statement = script.statements().first().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
    let Some(query) = statement.filter(|_| is_on(frame)) else { return Ok(None) };
    Ok(known(planned(frame, planner, query, text).await)?.map(|(plan, _)| plan))
}

/// The plan of the query of a frame's CREATE TABLE AS, CREATE VIEW or COPY, and the columns of its result. `None` if the
/// analyzer does not know all of it.
///
/// # Errors
/// What is wrong with the query.
pub(crate) async fn plan_source(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
) -> Result<Option<(LogicalPlan, Vec<Field>)>> {
    let statement = frame.statement;
    if statement.is_some_and(|statement| statement.has_changing_source() && is_view(statement)) {
        return Err(Error::unsupported("views must not contain data-modifying statements in WITH"));
    }
    match statement.and_then(Statement::source) {
        Some(query) => plan(frame, planner, query).await,
        None => Ok(None),
    }
}

fn is_view(statement: &Statement) -> bool {
    match statement.command() {
        Some(Command::Definition(definition)) => matches!(**definition, Definition::CreateView(_)),
        _ => false,
    }
}

/// As [`missing`], for the query of [`plan_source`].
pub(crate) async fn missing_source(frame: &Frame<'_>, planner: &Planner<'_>) -> Error {
    match frame.statement.and_then(Statement::source) {
        Some(query) => missing(frame, planner, query).await,
        None => Error::unsupported("this form of the statement is not supported"),
    }
}

/// The parameters and columns of a query. `None` if the analyzer does not know all of it.
///
/// # Errors
/// What is wrong with the query.
pub(crate) async fn describe(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    query: &NodeEnum,
    given: &[Option<catalog::SqlType>],
) -> Result<Option<Described>> {
    if !is_on(frame) {
        return Ok(None);
    }
    known(described(frame, planner, query, given).await)
}

/// The error for a query that only the analyzer can read: what it does not know.
pub(crate) async fn missing(frame: &Frame<'_>, planner: &Planner<'_>, query: &NodeEnum) -> Error {
    match planned(frame, planner, query, frame.text).await {
        Err(refused) => refused.into(),
        Ok(_) => Error::unsupported("this form of SELECT is not supported")
            .with_hint(format!("It is with SET {SETTING} = on.")),
    }
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        let (Refused::Missing(error) | Refused::Wrong(error)) = refused;
        error
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Wrong(error)
    }
}

fn known<T>(result: Result<T, Refused>) -> Result<Option<T>> {
    match result {
        Ok(known) => Ok(Some(known)),
        Err(Refused::Missing(_)) => Ok(None),
        Err(Refused::Wrong(error)) => Err(error),
    }
}

fn is_on(frame: &Frame<'_>) -> bool {
    frame.settings.get(SETTING).is_none_or(|value| value == "on")
}

/// The rows of a view. `None` if the name is not that of a view.
fn view<'a>(
    frame: &'a Frame<'_>,
    planner: &'a Planner<'_>,
    schema: Option<&'a str>,
    name: &'a str,
) -> BoxFuture<'a, Result<Option<Arc<dyn TableProvider>>, Refused>> {
    Box::pin(async move {
        let Some((view, inner)) = planner.named_view(schema, name)? else { return Ok(None) };
        let missing = || Refused::Missing(Error::unsupported(format!("view {name}")));
        let script = grammar::parse(&view.sql).map_err(|_| missing())?;
        let statement =
            script.statements().first().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
        let (plan, fields) =
            planned(frame, &inner, statement.ok_or_else(missing)?, &view.sql).await?;
        let names = fields.iter().map(|field| field.name.clone());
        let names: Vec<String> = names
            .enumerate()
            .map(|(at, name)| view.columns.get(at).cloned().unwrap_or(name))
            .collect();
        let plan = rename_columns(plan, &names)?;
        let table: Arc<dyn TableProvider> = Arc::new(ViewTable::new(plan, Some(view.sql.clone())));
        Ok(Some(table))
    })
}

/// The plan of a query with a text of its own, such as a view's.
async fn planned(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    query: &NodeEnum,
    text: &str,
) -> Result<(LogicalPlan, Vec<Field>), Refused> {
    let declared: Vec<Option<SqlType>> =
        frame.parameters.iter().map(parameters::type_of_value).collect();
    let (bound, relations) = bind(frame, planner, query, &declared, text).await?;
    if bound.parameters.len() > frame.parameters.len() {
        return Err(Refused::Wrong(parameters::undefined(frame.parameters.len() + 1)));
    }
    let (plan, fields) = lower(frame, planner, &bound.query, &relations, &[], text)?;
    Ok((refuse_deep(plan).map_err(Error::from)?, fields))
}

async fn described(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    query: &NodeEnum,
    given: &[Option<catalog::SqlType>],
) -> Result<Described, Refused> {
    let declared: Vec<Option<SqlType>> =
        given.iter().map(|given| given.as_ref().and_then(types::of_held)).collect();
    let (bound, relations) = bind(frame, planner, query, &declared, frame.text).await?;
    let (_, fields) = lower(frame, planner, &bound.query, &relations, &[], frame.text)?;
    let parameters = parameters::described(given, &bound.parameters)?;
    Ok((parameters, fields))
}

async fn bind(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    query: &NodeEnum,
    declared: &[Option<SqlType>],
    text: &str,
) -> Result<(Bound, Relations), Refused> {
    let mut relations = Relations::of(frame, planner, query).await?;
    loop {
        let bound = grammar::growing(|| analyzer::bind(query, &relations, declared));
        match bound {
            Ok(bound) => return Ok((bound, relations)),
            // The parse tree did not show this name.
            Err(_) if relations.look_up_more(frame, planner).await? => {}
            Err(error) => return Err(refused(error, text)),
        }
    }
}

fn refused(error: analyzer::Error, text: &str) -> Refused {
    let is_missing = error.is_missing;
    let error = errors::of_analyzer(error, text);
    if is_missing { Refused::Missing(error) } else { Refused::Wrong(error) }
}

/// What trees refer to while they are lowered.
fn lowered<'a>(
    frame: &'a Frame<'_>,
    planner: &'a Planner<'_>,
    relations: &'a Relations,
    returned: &'a [Returned],
    text: &'a str,
) -> Surroundings<'a> {
    Surroundings {
        engine: planner.engine,
        functions: planner.functions,
        sources: relations.sources(),
        returned,
        parameters: frame.parameters,
        text,
    }
}

fn lower(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    query: &Query,
    relations: &Relations,
    returned: &[Returned],
    text: &str,
) -> Result<(LogicalPlan, Vec<Field>), Refused> {
    let surroundings = lowered(frame, planner, relations, returned, text);
    Ok(grammar::growing(|| lowering::lower(query, &surroundings))?)
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Missing(what) => {
                Self::Missing(Error::unsupported(format!("{what} is not supported")))
            }
            Refusal::Error(error) => Self::Wrong(error),
        }
    }
}
