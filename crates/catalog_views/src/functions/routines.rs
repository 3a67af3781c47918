//! `pg_get_function_arguments`, `pg_get_function_result` and similar functions: signatures of
//! functions.

use crate::pg_catalog::routines::{self, Routine};
use crate::pg_catalog::type_catalog;
use crate::session_context::SessionContext;
use datafusion::logical_expr::ScalarUDF;
use functions::row_function::{Row, function};
use std::sync::Arc;
use store::catalog::{Catalog, Function};
use values::cells::Form;

/// The functions.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let of_routine = |name, of_system: OfSystem, of_user: OfUser| {
        let session = Arc::clone(session);
        function(name, 1..=1, Form::Text, move |row: &Row<'_>| {
            let Some(oid) = row.number(0) else { return Ok(None::<String>.into()) };
            let catalog = session.catalog();
            Ok(match routines::of_user(&catalog, oid) {
                Some(function) => of_user(&catalog, &::routines::resolved(&catalog, function)),
                None => routines::by_oid(oid).and_then(of_system),
            }
            .into())
        })
    };
    vec![
        of_routine(
            "pg_get_function_arguments",
            |routine| Some(arguments(routine)),
            |_, function| Some(::routines::arguments(function)),
        ),
        of_routine(
            "pg_get_function_identity_arguments",
            |routine| Some(arguments(routine)),
            |_, function| Some(::routines::identity_arguments(function)),
        ),
        of_routine("pg_get_function_result", |routine| Some(result(routine)), ::routines::result),
        of_routine("pg_get_functiondef", definition, |catalog, function| {
            Some(::routines::definition(catalog, function))
        }),
        of_routine(
            "pg_get_function_sqlbody",
            |_| None,
            |_, function| function.is_sql_body.then(|| ::routines::sql_body(function)),
        ),
    ]
}

type OfSystem = fn(&Routine) -> Option<String>;
type OfUser = fn(&Catalog, &Function) -> Option<String>;

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
