//! The bodies of functions, and calls that are made before a query.

use super::relations::Relations;
use analyzer::tree::{Expr, Output, Query, Select, SelectId};
use analyzer::{Bound, Routine};
use datafusion::logical_expr::LogicalPlan;
use futures::FutureExt;
use grammar::tree::NodeEnum;
use grammar::tree::a_const::Val;
use parser::types;
use planner::Planner;
use planner::results::for_clients;
use std::collections::BTreeSet;
use std::sync::Arc;
use store::catalog::{Function, RelationId, View};
use table_rows::expressions::check_default;
use table_rows::routines::known;
use table_rows::{Refused, refused};
use values::error::{Error, Result};
use values::field::Field;

/// Checks the body of a new function. Positions in errors count from the beginning of the statement.
///
/// # Errors
/// What is wrong with it, or not supported.
pub(crate) async fn check(planner: &Planner<'_>, text: &str, function: &Function) -> Result<()> {
    if function.language == "plpgsql" {
        let checked = procedural::check_function(planner, function);
        return checked.map_err(|error| in_statement(error, text, &function.body));
    }
    if routines::is_foreign(&function.language) {
        let (catalog, function) = (planner.tables.catalog(), Arc::new(function.clone()));
        let definition = lowering::foreign::definition(catalog, &function, &[]);
        return definition.map_err(|refusal| Error::from(Refused::from(refusal)))?.check();
    }
    let routine = Arc::new(known(planner.tables.catalog(), &Arc::new(function.clone()))?);
    let script = grammar::parse(&function.body).ok();
    let mut statements = script.iter().flat_map(|script| script.statements());
    let query = statements.next().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
    let mut relations = match query {
        Some(query) => Relations::of(planner, query).await?,
        None => Relations::none(planner),
    };
    loop {
        let checked = grammar::growing(|| match routine.aggregate {
            Some(_) => analyzer::check_aggregate(&routine, &relations),
            None => analyzer::check_routine(&routine, &relations),
        });
        if relations.look_up_more(planner).await? {
            continue;
        }
        let body = text.find(&function.body);
        // Bodies that are no expressions are executed, and checked then.
        let is_executed = routine.aggregate.is_none() && is_executed(&function.body);
        if is_executed && matches!(&checked, Err(error) if error.is_missing) {
            return Ok(());
        }
        return checked.map_err(|error| {
            let position = error.position.and_then(|at| Some(at + body?));
            refused(analyzer::Error { position, ..error }, text).into()
        });
    }
}

/// Checks the defaults of the parameters of a new function.
///
/// # Errors
/// What is wrong with one of them.
pub(crate) async fn check_defaults(planner: &Planner<'_>, function: &Function) -> Result<()> {
    if function.parameters.iter().all(|parameter| parameter.default.is_none()) {
        return Ok(());
    }
    let routine = known(planner.tables.catalog(), &Arc::new(function.clone()))?;
    let mut relations = Relations::none(planner);
    loop {
        let checked = grammar::growing(|| analyzer::check_defaults(&routine, &relations));
        if relations.look_up_more(planner).await? {
            continue;
        }
        return match checked {
            // A call says what is missing.
            Err(error) if !error.is_missing => {
                Err(refused(analyzer::Error { position: None, ..error }, "").into())
            }
            Err(_) => Ok(()),
            Ok(()) => check_constants(planner, &routine),
        };
    }
}

/// Checks the defaults that are constants without a type, which are values of the types of their parameters.
fn check_constants(planner: &Planner<'_>, routine: &Routine) -> Result<()> {
    let first = routine.arguments.len().saturating_sub(routine.defaults.len());
    for (default, of) in routine.defaults.iter().zip(routine.arguments.iter().skip(first)) {
        // The conditions of domains are looked at in calls.
        let held = types::held((*of).into()).filter(|held| {
            let is_domain = held.user_type().is_some_and(|user| user.domain().is_some());
            !is_domain && types::of_held(held).is_some()
        });
        if let Some(held) = held.filter(|_| !of.is_polymorphic() && is_string(default)) {
            check_default(planner, ("", &held), default)?;
        }
    }
    Ok(())
}

/// Whether an expression is a string.
fn is_string(text: &str) -> bool {
    let Ok(script) = grammar::parse(&format!("SELECT {text}")) else { return false };
    let query = script.statements().first().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
    let Some(NodeEnum::SelectStmt(select)) = query else { return false };
    let target = select.target_list.first().and_then(|target| target.node.as_ref());
    let Some(NodeEnum::ResTarget(target)) = target else { return false };
    let value = target.val.as_ref().and_then(|value| value.node.as_ref());
    matches!(value, Some(NodeEnum::AConst(constant)) if matches!(constant.val, Some(Val::Sval(_))))
}

/// Whether a body is not one SELECT.
fn is_executed(body: &str) -> bool {
    let Ok(script) = grammar::parse(body) else { return false };
    let mut statements = script.statements().iter();
    let first = statements.next().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
    statements.next().is_some() || !matches!(first, Some(NodeEnum::SelectStmt(_)))
}

/// An error in a source, at its place in the statement that has it.
pub(crate) fn in_statement(error: Error, text: &str, source: &str) -> Error {
    match (error.position(), text.find(source)) {
        (Some(position), Some(byte)) => error.at(text[..byte].chars().count() + position),
        _ => error.without_position(),
    }
}

/// The functions of users that a view's query calls by itself, not in their bodies. `None` if it cannot be bound at once.
pub(crate) fn of_view(planner: &Planner<'_>, view: &View) -> Option<BTreeSet<RelationId>> {
    called_by(&planner.of_view(view), &view.sql).now_or_never().flatten()
}

async fn called_by(planner: &Planner<'_>, text: &str) -> Option<BTreeSet<RelationId>> {
    let script = grammar::parse(text).ok()?;
    let query = script.statements().first()?.stmt.as_ref()?.node.as_ref()?;
    let mut relations = Relations::of(planner, query).await.ok()?;
    relations.named.note_calls();
    loop {
        let bound = grammar::growing(|| analyzer::bind(query, &relations, &[], false));
        if !relations.look_up_more(planner).await.ok()? {
            return bound.ok().map(|_| relations.named.called());
        }
    }
}

/// A query whose functions are called before it.
pub(crate) struct Calls {
    bound: Bound,
    relations: Relations,
}

impl Calls {
    /// Those of a query. `None` if it calls no functions but those of SQL.
    ///
    /// # Errors
    /// As of [`plan`](super::plan).
    pub(crate) async fn of(
        planner: &Planner<'_>,
        query: &NodeEnum,
        text: &str,
    ) -> Result<Option<Self>> {
        let declared = super::parameters::declared(planner.parameters, planner.parameter_types);
        let (bound, relations) = super::bind(planner, query, &declared, text, true).await?;
        Ok((!bound.calls.is_empty()).then_some(Self { bound, relations }))
    }

    /// The functions, in the order of their calls.
    pub(crate) fn functions(&self) -> Vec<RelationId> {
        self.bound.calls.iter().map(|call| RelationId(call.routine.id)).collect()
    }

    /// The plan of the arguments of a call, for a planner with the values of the calls before it.
    ///
    /// # Errors
    /// As of [`plan`](super::plan).
    pub(crate) fn arguments(
        &self,
        planner: &Planner<'_>,
        call: usize,
        text: &str,
    ) -> Result<LogicalPlan> {
        let output =
            |(at, expr): (usize, &Expr)| Output { name: format!("a{at}"), expr: expr.clone() };
        let outputs = self.bound.calls[call].arguments.iter().enumerate().map(output).collect();
        let query = Query::from(Select::plain(SelectId(0), Vec::new(), outputs));
        Ok(super::lower(planner, &query, &self.relations, &[], text, true)?.0)
    }

    /// The plan of the query, for a planner with the values of all calls.
    ///
    /// # Errors
    /// As of [`plan`](super::plan).
    pub(crate) fn plan(
        &self,
        planner: &Planner<'_>,
        text: &str,
    ) -> Result<(LogicalPlan, Vec<Field>)> {
        let query = &self.bound.query;
        let (plan, fields) = super::lower(planner, query, &self.relations, &[], text, true)?;
        Ok((for_clients(plan, &fields, planner.functions)?, fields))
    }
}
