//! Calls that are made before the query, whose parameters then have their values. The statements of their functions are
//! executed without the engine in between.

use super::choice::Called;
use super::executed;
use crate::bind::aggregate::is_volatile_expr;
use crate::bind::scope::Clause;
use crate::bind::{Binder, children, contains};
use crate::error::Result;
use crate::routine::RoutineCall;
use crate::system::functions::Volatility;
use crate::system::{Oid, SqlType};
use crate::tree::walk::query_expressions_mut;
use crate::tree::{Expr, Kind, Query, places};
use std::sync::Arc;

/// The number of the first call's value. Parameters of clients have lower ones, places for arguments higher ones.
const FIRST_CALL: u32 = 1 << 23;

impl Binder<'_> {
    /// Whether a call is made before the query: only in the select list of a query without FROM it is certain that it is
    /// made, and once.
    pub(super) fn may_call_before(&self, called: &Called) -> bool {
        let is_alone = match self.scopes.as_slice() {
            [scope] => scope.clause == Clause::Targets && scope.items.is_empty(),
            _ => false,
        };
        let has_columns = !called.columns.is_empty() || called.result == Oid::RECORD;
        let is_plain = !called.result.is_of_users() || called.result.base() == Oid::NUMERIC;
        // Others read the snapshot of the statement.
        let is_volatile = called.routine.volatility == Volatility::Volatile;
        self.calls_before
            && called.routine.language == "plpgsql"
            && is_volatile
            && !called.routine.is_polymorphic()
            && is_alone
            && !has_columns
            && is_plain
            && self.expansions.is_empty()
            && !called.arguments.iter().any(super::is_executed)
    }

    /// The value of a call that is made before the query.
    pub(super) fn call_before(&mut self, called: Called, location: i32) -> Result<Expr> {
        let number = FIRST_CALL + self.calls.len() as u32;
        let sql_type = SqlType::plain(called.result);
        let routine = Arc::clone(&called.routine);
        let value = executed::executed(called, location);
        let Kind::Call(call) = &value.kind else { return Ok(value) };
        let arguments = call.arguments.clone();
        self.calls.push(RoutineCall { routine, arguments, sql_type, value });
        Ok(Expr::new(Kind::Parameter(number), sql_type, location))
    }

    /// Gives the values of calls the numbers behind the statement's parameters; or makes the calls in their places, if one
    /// of them may not be needed.
    pub(in crate::bind) fn settle_calls(&mut self, query: &mut Query) {
        if self.calls.is_empty() {
            return;
        }
        let arguments = self.calls.iter().flat_map(|call| &call.arguments);
        let outputs = super::value::list_of(query);
        let is_unsure = |expr: &Expr| is_guarded(expr) || is_of_moment(expr);
        let is_sure = outputs.is_some_and(|outputs| {
            !outputs.iter().map(|output| &output.expr).chain(arguments).any(is_unsure)
        });
        if !is_sure {
            return self.calls_in_place(query);
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
    }

    fn calls_in_place(&mut self, query: &mut Query) {
        let mut values: Vec<Expr> = Vec::with_capacity(self.calls.len());
        for call in std::mem::take(&mut self.calls) {
            let mut value = call.value;
            replace(&mut value, &values);
            values.push(value);
        }
        query_expressions_mut(query, &mut |expr| replace(expr, &values));
    }
}

/// Puts calls in the places of their values.
fn replace(expr: &mut Expr, values: &[Expr]) {
    places::all(expr, &mut |place| {
        if let Kind::Parameter(number) = place.kind
            && is_call(number)
            && let Some(value) = values.get((number - FIRST_CALL) as usize)
        {
            *place = value.clone();
        }
    });
}

/// Whether an expression has the value of a call that is made before the query.
pub(in crate::bind) fn is_call_before(expr: &Expr) -> bool {
    contains(expr, &mut |part| matches!(part.kind, Kind::Parameter(number) if is_call(number)))
}

fn is_call(number: u32) -> bool {
    (FIRST_CALL..super::FIRST_PLACE).contains(&number)
}

/// Whether an expression depends on the moment at which it is computed: it reads tables, or calls a volatile function or one
/// that is executed in its place.
fn is_of_moment(expr: &Expr) -> bool {
    let is_executed = |part: &Expr| match &part.kind {
        Kind::Call(call) => call.executed.is_some(),
        Kind::Subquery(_) => true,
        _ => false,
    };
    is_volatile_expr(expr) || contains(expr, &mut |part| is_executed(part))
}

/// Whether an expression has the value of a call in a part that may not be evaluated.
fn is_guarded(expr: &Expr) -> bool {
    use Kind::{And, Case, Coalesce, Or, Subquery};
    if matches!(expr.kind, And(_) | Or(_) | Case { .. } | Coalesce(_) | Subquery(_)) {
        return is_call_before(expr);
    }
    let mut found = false;
    children(expr, &mut |part| found = found || grammar::growing(|| is_guarded(part)));
    found
}
