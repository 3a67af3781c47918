//! `pg_get_function_arguments`, `pg_get_function_result` and similar functions: signatures of
//! functions.

use crate::pg_catalog::routines::{self, Routine};
use crate::pg_catalog::type_catalog;
use crate::session_context::SessionContext;
use datafusion::logical_expr::ScalarUDF;
use functions::row_function::{Row, function};
use std::sync::Arc;
use values::cells::Form;

/// The functions.
pub(super) fn all(_: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let of_routine = |name, body: fn(&Routine) -> Option<String>| {
        function(name, 1..=1, Form::Text, move |row: &Row<'_>| {
            Ok(row.number(0).and_then(routines::by_oid).and_then(body).into())
        })
    };
    vec![
        of_routine("pg_get_function_arguments", |routine| Some(arguments(routine))),
        of_routine("pg_get_function_identity_arguments", |routine| Some(arguments(routine))),
        of_routine("pg_get_function_result", |routine| Some(result(routine))),
        of_routine("pg_get_functiondef", definition),
        of_routine("pg_get_function_sqlbody", |_| None),
    ]
}

/// The types of the arguments.
fn arguments(routine: &Routine) -> String {
    let names = routine.arguments.iter().map(|oid| type_catalog::format(*oid, None));
    names.collect::<Vec<_>>().join(", ")
}

/// The type of the result.
fn result(routine: &Routine) -> String {
    let set = if routine.returns_set { "SETOF " } else { "" };
    format!("{set}{}", type_catalog::format(routine.returns, None))
}

/// The CREATE FUNCTION statement.
fn definition(routine: &Routine) -> Option<String> {
    Some(format!(
        "CREATE OR REPLACE FUNCTION pg_catalog.{}({})\n RETURNS {}\n LANGUAGE internal\nAS $function${}$function$\n",
        routine.name,
        arguments(routine),
        result(routine),
        routine.name,
    ))
}
