//! `pg_get_function_arguments`, `pg_get_function_result` and similar functions: signatures of
//! functions.

use super::Scope;
use crate::pg_catalog::routines::{self, Routine};
use crate::pg_catalog::{type_catalog, user_types};
use crate::session_context::SessionContext;
use datafusion::logical_expr::ScalarUDF;
use functions::row_function::{Row, function};
use std::sync::Arc;
use store::catalog::Function;
use system_catalog::Oid;
use values::cells::Form;

/// The functions.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let of_routine = |name, of_system: OfSystem, of_user: OfUser| {
        let session = Arc::clone(session);
        function(name, 1..=1, Form::Text, move |row: &Row<'_>| {
            let Some(oid) = row.number(0) else { return Ok(None::<String>.into()) };
            let scope = Scope::of(&*session);
            let catalog = &scope.catalog;
            let name = |id: u32| {
                let of_user = user_types::format(catalog, scope.path(), id.into());
                of_user.unwrap_or_else(|| Oid(id).to_string())
            };
            Ok(match routines::of_user(catalog, oid) {
                Some(function) => of_user(&::routines::resolved(catalog, function), &name),
                None => routines::by_oid(oid).and_then(of_system),
            }
            .into())
        })
    };
    vec![
        of_routine(
            "pg_get_function_arguments",
            |routine| Some(arguments(routine)),
            |function, names| Some(::routines::arguments(function, names)),
        ),
        of_routine(
            "pg_get_function_identity_arguments",
            |routine| Some(arguments(routine)),
            |function, names| Some(::routines::identity_arguments(function, names)),
        ),
        of_routine("pg_get_function_result", |routine| Some(result(routine)), ::routines::result),
        of_routine("pg_get_functiondef", definition, |function, names| {
            Some(::routines::definition(function, names))
        }),
        of_routine(
            "pg_get_function_sqlbody",
            |_| None,
            |function, _| function.is_sql_body.then(|| ::routines::sql_body(function)),
        ),
    ]
}

type OfSystem = fn(&Routine) -> Option<String>;
type OfUser = fn(&Function, ::routines::Names<'_>) -> Option<String>;

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
