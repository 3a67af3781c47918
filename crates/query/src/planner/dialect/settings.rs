//! `current_setting('name')`: the value that the session has when the statement is planned.
//!
//! asyncpg, pgjdbc, psql and Npgsql ask for settings so.

use super::build::{arguments, called, literal_text, text};
use crate::system;
use datafusion::execution::SessionState;
use datafusion::sql::sqlparser::ast::{Expr, Value};

pub(super) fn rewrite(expr: &mut Expr, engine: &SessionState) {
    if called(expr).as_deref() != Some("current_setting") {
        return;
    }
    let arguments = arguments(expr);
    let Some(name) = arguments.first().and_then(|name| literal_text(name)) else { return };
    let value = system::setting(engine, name);
    let missing_is_null = arguments.len() == 2;
    match value {
        Some(value) => *expr = text(value),
        None if missing_is_null => *expr = Expr::value(Value::Null),
        None => {}
    }
}
