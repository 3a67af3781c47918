//! Calls of functions that are executed: those of procedural languages, and SQL functions whose bodies are no expressions.

use super::choice::Called;
use crate::bind::{Binder, contains};
use crate::error::{Error, Result};
use crate::system::functions::Volatility;
use crate::system::{Oid, SqlType};
use crate::tree::{Call, Column, Executed, Expr, Kind, SetCall};
use std::sync::Arc;

/// What a binder goes back to when a body cannot be expanded.
pub(super) struct Before {
    scopes: usize,
    expansions: usize,
    calls: usize,
    domain_values: usize,
    named_rows: usize,
    depth: usize,
}

impl Binder<'_> {
    /// What has been bound until now.
    pub(super) fn before(&self) -> Before {
        Before {
            scopes: self.scopes.len(),
            expansions: self.expansions.len(),
            calls: self.calls.len(),
            domain_values: self.domain_values.len(),
            named_rows: self.named_rows.len(),
            depth: self.depth,
        }
    }

    /// Forgets what was begun since.
    pub(super) fn go_back(&mut self, before: &Before) {
        self.scopes.truncate(before.scopes);
        self.expansions.truncate(before.expansions);
        self.calls.truncate(before.calls);
        self.domain_values.truncate(before.domain_values);
        self.named_rows.truncate(before.named_rows);
        self.depth = before.depth;
    }

    /// The value of a function that is executed; in a select list also its rows.
    pub(super) fn executed_value(&mut self, called: Called, location: i32) -> Result<Expr> {
        let has_columns = !called.columns.is_empty();
        if called.result == Oid::RECORD && !has_columns {
            let what = format!("a call of {} outside of FROM", called.routine.signature());
            return Err(Error::missing(what)
                .hint("Call it in FROM, with a column definition list.")
                .at(location));
        }
        if called.routine.returns_set {
            let sql_type = SqlType::plain(called.result);
            let set = self.executed_set(called, Vec::new());
            return self.set_here(set, sql_type, location);
        }
        if self.may_call_before(&called) {
            return self.call_before(called, location);
        }
        Ok(executed(called, location))
    }

    /// The rows of a function that is executed, in FROM. `defined` are the columns of a column definition list.
    pub(super) fn executed_set(&mut self, called: Called, defined: Vec<Column>) -> SetCall {
        let routine = Arc::clone(&called.routine);
        let (columns, result) = (called.columns.clone(), SqlType::plain(called.result));
        let row = Some(called.result).filter(|oid| oid.is_composite());
        let mut call = call_of(called);
        let plain = |name: &str| vec![Column { name: name.to_owned(), sql_type: result }];
        let columns = match (columns.as_slice(), defined.is_empty()) {
            (_, false) => {
                call.executed = call.executed.map(|executed| {
                    Arc::new(Executed { columns: defined.clone(), ..Executed::clone(&executed) })
                });
                defined
            }
            (_, true) if row.is_some() => columns,
            ([], true) => plain(&routine.name),
            ([only], true) if result.oid != Oid::RECORD => plain(&only.name),
            _ => columns,
        };
        SetCall { call, columns, returns_set: routine.returns_set, row }
    }
}

/// The value of a function that is executed.
pub(super) fn executed(called: Called, location: i32) -> Expr {
    let sql_type = SqlType::plain(called.result);
    Expr::new(Kind::Call(call_of(called)), sql_type, location)
}

fn call_of(called: Called) -> Call {
    let routine = called.routine;
    let columns = if called.result == Oid::RECORD { called.columns } else { Vec::new() };
    let executed = Executed {
        id: routine.id,
        signature: routine.signature(),
        is_volatile: routine.volatility == Volatility::Volatile,
        is_foreign: routine.is_foreign,
        columns,
    };
    // No function of the system has this id.
    let call = Call::of_system(Oid(0), called.arguments);
    Call { executed: Some(Arc::new(executed)), ..call }
}

/// Whether an expression calls a function that is executed.
pub fn is_executed(expr: &Expr) -> bool {
    contains(expr, &mut |part| matches!(&part.kind, Kind::Call(call) if call.executed.is_some()))
}
