//! Calls of functions that are no SQL: they are made before the query, whose parameters then have their values.

use super::choice::Called;
use super::places;
use crate::bind::scope::Clause;
use crate::bind::walk::query_expressions_mut;
use crate::bind::{Binder, children, contains};
use crate::error::{Error, Result};
use crate::routine::{Routine, RoutineCall};
use crate::system::{Oid, SqlType};
use crate::tree::{Expr, Kind, Query};
use std::sync::Arc;

/// The number of the first call's value. Parameters of clients have lower ones, places for arguments higher ones.
const FIRST_CALL: u32 = 1 << 23;

impl Binder<'_> {
    /// The value of a call that is made before the query. Only in the select list of a query without FROM it is certain
    /// that the call is made, and once.
    pub(super) fn call_before(&mut self, called: Called, location: i32) -> Result<Expr> {
        let routine = &called.routine;
        let is_alone = match self.scopes.as_slice() {
            [scope] => scope.clause == Clause::Targets && scope.items.is_empty(),
            _ => false,
        };
        if !is_alone || !self.expansions.is_empty() || routine.returns_set {
            return Err(refused(routine).at(location));
        }
        let oid = match called.result {
            Oid::RECORD => return Err(refused(routine).at(location)),
            // A value of this type is an empty text.
            oid if oid.catalog_name() == "void" => Oid::TEXT,
            oid => oid,
        };
        let number = FIRST_CALL + self.calls.len() as u32;
        let sql_type = SqlType::plain(oid);
        let (routine, arguments) = (Arc::clone(&called.routine), called.arguments);
        self.calls.push(RoutineCall { routine, arguments, sql_type });
        Ok(Expr::new(Kind::Parameter(number), sql_type, location))
    }

    /// Gives the values of calls the numbers behind the statement's parameters.
    pub(in crate::bind) fn settle_calls(&mut self, query: &mut Query) -> Result<()> {
        let Some(first) = self.calls.first() else { return Ok(()) };
        let arguments = self.calls.iter().flat_map(|call| &call.arguments);
        let outputs = super::value::list_of(query).ok_or_else(|| refused(&first.routine))?;
        if outputs.iter().map(|output| &output.expr).chain(arguments).any(is_guarded) {
            return Err(refused(&first.routine));
        }
        let behind = self.parameters.len() as u32 + 1;
        let mut renumber = |expr: &mut Expr| {
            places::all(expr, &mut |place| match &mut place.kind {
                Kind::Parameter(number) if is_call(*number) => {
                    *number = *number - FIRST_CALL + behind;
                }
                _ => {}
            });
        };
        query_expressions_mut(query, &mut renumber);
        self.calls.iter_mut().flat_map(|call| &mut call.arguments).for_each(renumber);
        Ok(())
    }

    /// Refuses calls where there can be none before the statement.
    pub(in crate::bind) fn refuse_calls(&self) -> Result<()> {
        self.calls.first().map_or(Ok(()), |call| Err(refused(&call.routine)))
    }
}

fn is_call(number: u32) -> bool {
    (FIRST_CALL..super::FIRST_PLACE).contains(&number)
}

/// Whether an expression has the value of a call in a part that may not be evaluated.
fn is_guarded(expr: &Expr) -> bool {
    use Kind::{And, Case, Coalesce, Or, Subquery};
    if matches!(expr.kind, And(_) | Or(_) | Case { .. } | Coalesce(_) | Subquery(_)) {
        return contains(
            expr,
            &mut |part| matches!(part.kind, Kind::Parameter(number) if is_call(number)),
        );
    }
    let mut found = false;
    children(expr, &mut |part| found = found || grammar::growing(|| is_guarded(part)));
    found
}

fn refused(routine: &Routine) -> Error {
    let what = format!(
        "a call of {} in this place, in the language {}",
        routine.signature(),
        routine.language
    );
    Error::missing(what)
        .hint("It can be called in a SELECT without FROM, outside of CASE and the like.")
}
