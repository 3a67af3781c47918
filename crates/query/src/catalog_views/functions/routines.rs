//! What functions take and give: pg_get_function_arguments and its relatives.

use crate::catalog_views::pg_catalog::{Routine, routine, type_catalog};
use crate::catalog_views::session_context::SessionContext;
use crate::functions::row_function::{Row, function};
use crate::values::cells::Form;
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;

/// The functions.
pub(super) fn all(_: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let of_routine = |name, body: fn(&Routine) -> Option<String>| {
        function(name, 1..=1, Form::Text, move |row: &Row<'_>| {
            Ok(row.number(0).and_then(routine).and_then(body).into())
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

fn arguments(routine: &Routine) -> String {
    let names = routine.arguments.iter().map(|oid| type_catalog::format(*oid, None));
    names.collect::<Vec<_>>().join(", ")
}

fn result(routine: &Routine) -> String {
    let set = if routine.returns_set { "SETOF " } else { "" };
    format!("{set}{}", type_catalog::format(routine.returns, None))
}

fn definition(routine: &Routine) -> Option<String> {
    Some(format!(
        "CREATE OR REPLACE FUNCTION pg_catalog.{}({})\n RETURNS {}\n LANGUAGE internal\nAS $function${}$function$\n",
        routine.name,
        arguments(routine),
        result(routine),
        routine.name,
    ))
}
