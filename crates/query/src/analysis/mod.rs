//! Statements by way of PostgreSQL's grammar and the analyzer: parse tree, typed tree, logical plan.

pub(crate) mod calls;
pub(crate) mod changes;
mod columns_read;
mod named;
mod parameters;
mod relations;
mod stars;
pub(crate) mod targets;

pub(crate) use columns_read::reads_column;
pub(crate) use relations::{ChangeTarget, columns_of};

use crate::context::Frame;
use analyzer::Bound;
use analyzer::system::SqlType;
use analyzer::tree::{CteId, Query};
use datafusion::logical_expr::{LogicalPlan, TableSource};
use futures::future::BoxFuture;
use grammar::tree::NodeEnum;
use lowering::Surroundings;
use parser::commands::{Command, Definition};
use parser::{Statement, nesting, types};
use planner::relations::rename_columns;
use planner::results::{for_clients, with_types};
use planner::{Planner, refuse_deep};
use relations::Relations;
use std::sync::Arc;
use store::catalog::{self, View};
use table_rows::{Refused, refused};
use values::error::{Error, Result, SqlState};
use values::field::Field;

/// The types of a query's parameters, and the columns of its result.
pub(crate) type Described = (Vec<catalog::SqlType>, Vec<Field>);

/// The rows that a change in WITH has returned.
pub(crate) type Returned = (CteId, Arc<dyn TableSource>);

/// The query of a statement.
///
/// # Errors
/// The statement is none of PostgreSQL's grammar.
pub(crate) fn query_of(statement: &Statement) -> Result<&NodeEnum> {
    let query = statement.query().or_else(|| statement.source());
    query.ok_or_else(|| unread(&statement.text))
}

/// The error for a text that is no query of PostgreSQL's grammar.
fn unread(text: &str) -> Error {
    match grammar::parse(text) {
        Ok(_) => Error::new(SqlState::SyntaxError, "the statement is no query"),
        Err(error) if error.is_depth() => nesting::exceeded("Its expressions nest too deep."),
        Err(error) => {
            let refused = Error::new(SqlState::SyntaxError, error.message);
            match error.position {
                Some(position) => refused.at(position),
                None => refused,
            }
        }
    }
}

/// The plan of a query and the columns of its result.
///
/// # Errors
/// What is wrong with the query, or not supported.
pub(crate) async fn plan(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    query: &NodeEnum,
) -> Result<(LogicalPlan, Vec<Field>)> {
    let (plan, fields) = planned(planner, query, frame.text, true).await?;
    Ok((for_clients(plan, &fields, planner.functions)?, fields))
}

/// The plan of a query with places for the parameters, whose values are a frame's, and the columns of its result.
/// The planner has no values.
///
/// # Errors
/// As of [`plan`]; also where a value is needed.
pub(crate) async fn plan_without_values(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    query: &NodeEnum,
) -> Result<(LogicalPlan, Vec<Field>)> {
    let declared = parameters::declared(frame.parameters, frame.parameter_types());
    let (bound, relations) = bind(planner, query, &declared, frame.text, false).await?;
    let (plan, fields) = lower(planner, &bound.query, &relations, &[], frame.text, true)?;
    let plan = for_clients(plan, &fields, planner.functions)?;
    Ok((refuse_deep(plan).map_err(Error::from)?, fields))
}

/// The type of the first column of a query.
///
/// # Errors
/// What is wrong with the query.
pub(crate) async fn type_of_query(
    planner: &Planner<'_>,
    query: &NodeEnum,
    text: &str,
) -> Result<analyzer::system::Oid> {
    let declared = parameters::declared(planner.parameters, planner.parameter_types);
    let (bound, _) = bind(planner, query, &declared, text, false).await?;
    let column = bound.query.columns.first();
    Ok(column.map_or(analyzer::system::Oid::UNKNOWN, |column| column.sql_type.oid))
}

/// The typed tree of a query with places for the parameters, whose values are a frame's.
///
/// # Errors
/// As of [`plan`].
pub(crate) async fn tree_without_values(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    query: &NodeEnum,
) -> Result<Query> {
    let declared = parameters::declared(frame.parameters, frame.parameter_types());
    let (bound, _) = bind(planner, query, &declared, frame.text, false).await?;
    Ok(bound.query)
}

/// The plan of a query that is no statement's, and the columns of its result.
///
/// # Errors
/// As of [`plan`].
pub(crate) async fn plan_text(
    planner: &Planner<'_>,
    text: &str,
) -> Result<(LogicalPlan, Vec<Field>)> {
    let script = grammar::parse(text).map_err(|_| unread(text))?;
    let statement = script.statements().first().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
    Ok(planned(planner, statement.ok_or_else(|| unread(text))?, text, true).await?)
}

/// The plan of the query of a frame's CREATE TABLE AS, CREATE VIEW or COPY, and the columns of its result.
///
/// # Errors
/// As of [`plan`]; 0A000 if it has no query of its own.
pub(crate) async fn plan_source(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
) -> Result<(LogicalPlan, Vec<Field>)> {
    let statement = frame.statement;
    if statement.is_some_and(|statement| statement.has_changing_source() && is_view(statement)) {
        return Err(Error::unsupported(match statement.is_some_and(is_materialized) {
            true => "materialized views must not use data-modifying statements in WITH",
            false => "views must not contain data-modifying statements in WITH",
        }));
    }
    let query = statement.and_then(Statement::source).ok_or_else(missing_source)?;
    let is_executed = !statement.is_some_and(is_view);
    Ok(planned(planner, query, frame.text, is_executed).await?)
}

fn is_view(statement: &Statement) -> bool {
    match statement.command() {
        Some(Command::Definition(definition)) => {
            matches!(**definition, Definition::CreateView(_)) || is_materialized(statement)
        }
        _ => false,
    }
}

fn is_materialized(statement: &Statement) -> bool {
    match statement.command() {
        Some(Command::Definition(definition)) => match &**definition {
            Definition::CreateTableAs(create) => create.materialized.is_some(),
            _ => false,
        },
        _ => false,
    }
}

/// The error for a statement without a query that it needs.
pub(crate) fn missing_source() -> Error {
    Error::unsupported("this form of the statement is not supported")
}

/// The parameters and columns of a query.
///
/// # Errors
/// As of [`plan`].
pub(crate) async fn describe(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    query: &NodeEnum,
    given: &[Option<catalog::SqlType>],
) -> Result<Described> {
    Ok(described(frame, planner, query, given).await?)
}

/// The text of a view's query, in which the columns that it has now stand for each `*`.
///
/// # Errors
/// As of [`plan`].
pub(crate) async fn without_stars(planner: &Planner<'_>, text: &str) -> Result<String> {
    let script = grammar::parse(text).map_err(|_| unread(text))?;
    let statement = script.statements().first().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
    let query = statement.ok_or_else(|| unread(text))?;
    let (bound, _) = bind(planner, query, &[], text, false).await?;
    Ok(stars::written_out(text, bound.stars))
}

/// The plan of a view's query.
pub(crate) fn plan_view<'a>(
    planner: &'a Planner<'a>,
    view: &'a View,
) -> BoxFuture<'a, Result<LogicalPlan>> {
    Box::pin(async move {
        let found = plan_text(planner, &view.sql).await;
        let (plan, fields) = found.map_err(Error::without_position)?;
        let plan = with_types(plan, &fields)?;
        let names = plan.schema().fields().iter().map(|field| field.name().clone());
        let given = view.columns.iter().cloned();
        let names: Vec<String> = given.chain(names.skip(view.columns.len())).collect();
        rename_columns(plan, &names)
    })
}

/// The plan of a query with a text of its own, such as a view's; one that is not executed may have constants without a value.
async fn planned(
    planner: &Planner<'_>,
    query: &NodeEnum,
    text: &str,
    is_executed: bool,
) -> Result<(LogicalPlan, Vec<Field>), Refused> {
    let declared = parameters::declared(planner.parameters, planner.parameter_types);
    let (bound, relations) = bind(planner, query, &declared, text, false).await?;
    if bound.parameters.len() > planner.parameters.len() {
        return Err(Refused::Wrong(parameters::undefined(planner.parameters.len() + 1)));
    }
    let (plan, fields) = lower(planner, &bound.query, &relations, &[], text, is_executed)?;
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
    let (bound, relations) = bind(planner, query, &declared, frame.text, false).await?;
    if let Some(error) = bound.undecided {
        return Err(refused(error, frame.text));
    }
    let (_, fields) = lower(planner, &bound.query, &relations, &[], frame.text, false)?;
    let parameters = parameters::described(given, &bound.parameters)?;
    Ok((parameters, fields))
}

async fn bind(
    planner: &Planner<'_>,
    query: &NodeEnum,
    declared: &[Option<SqlType>],
    text: &str,
    calls_before: bool,
) -> Result<(Bound, Relations), Refused> {
    let mut relations = Relations::of(planner, query).await?;
    loop {
        let bound = grammar::growing(|| analyzer::bind(query, &relations, declared, calls_before));
        // The parse tree did not show all names.
        if relations.look_up_more(planner).await? {
            continue;
        }
        return Ok((bound.map_err(|error| refused(error, text))?, relations));
    }
}

/// What trees refer to while they are lowered.
fn lowered<'a>(
    planner: &'a Planner<'_>,
    relations: &'a Relations,
    returned: &'a [Returned],
    text: &'a str,
    is_executed: bool,
) -> Surroundings<'a> {
    Surroundings {
        engine: planner.engine,
        functions: planner.functions,
        user_functions: planner.user_functions.as_deref(),
        sources: relations.sources(),
        catalog: Some(planner.tables.catalog()),
        returned,
        kept: &relations.kept,
        parameters: planner.parameters,
        folds: is_executed,
        is_of_view: planner.is_of_view(),
        text,
    }
}

fn lower(
    planner: &Planner<'_>,
    query: &Query,
    relations: &Relations,
    returned: &[Returned],
    text: &str,
    is_executed: bool,
) -> Result<(LogicalPlan, Vec<Field>), Refused> {
    let surroundings = lowered(planner, relations, returned, text, is_executed);
    Ok(grammar::growing(|| lowering::lower(query, &surroundings))?)
}
