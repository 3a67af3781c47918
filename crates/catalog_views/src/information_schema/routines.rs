//! `routines` and `parameters`: the functions of users.

use super::yes;
use crate::names::DATABASE;
use crate::pg_catalog::{oids, type_catalog, user_types};
use crate::rows::TableRows;
use crate::view_context::ViewContext;
use store::catalog::{Function, Object, ParameterMode, Volatility};
use values::cells::Cell;

/// The functions that the current user may call.
fn shown<'a>(context: &'a ViewContext<'_>) -> impl Iterator<Item = &'a Function> {
    let is_shown = |function: &&Function| {
        !context.access.privileges(&Object::Relation(function.id)).is_empty()
    };
    context.catalog.functions().map(|function| &**function).filter(is_shown)
}

/// The columns that name a function among those of the same name.
fn specific(function: &Function) -> [(&'static str, Cell); 3] {
    let name = format!("{}_{}", function.name, oids::relation(function.id));
    [
        ("specific_catalog", DATABASE.into()),
        ("specific_schema", function.schema.as_str().into()),
        ("specific_name", name.into()),
    ]
}

/// The columns that name a function.
pub(super) fn names(function: &Function) -> impl Iterator<Item = (&'static str, Cell)> {
    let of_routine = [
        ("routine_catalog", DATABASE.into()),
        ("routine_schema", function.schema.as_str().into()),
        ("routine_name", function.name.as_str().into()),
    ];
    specific(function).into_iter().chain(of_routine)
}

/// The name of a type as the standard has it.
fn standard_name(id: i64) -> String {
    let name = type_catalog::format(id, None);
    if name.ends_with("[]") { "ARRAY".to_owned() } else { name }
}

/// The name of a type as the standard has it, and its schema and name in `pg_type`.
fn named_type(context: &ViewContext<'_>, id: i64) -> [String; 3] {
    match user_types::by_oid(context.catalog, id) {
        Some((user, true)) => ["ARRAY".to_owned(), user.schema.clone(), format!("_{}", user.name)],
        Some((user, false)) => ["USER-DEFINED".to_owned(), user.schema.clone(), user.name.clone()],
        None => {
            let name = type_catalog::by_oid(id).map(|entry| entry.name.to_owned());
            [standard_name(id), "pg_catalog".to_owned(), name.unwrap_or_default()]
        }
    }
}

/// `routines`.
pub(super) fn routines(context: &ViewContext<'_>, rows: &mut TableRows) {
    for function in shown(context) {
        let id = i64::from(function.result_id);
        let of_function = |cell: Cell| if function.is_procedure { Cell::Null } else { cell };
        let is_aggregate = function.extension.aggregate.is_some();
        let kind = (!is_aggregate).then(|| function.kind().to_uppercase());
        let [data_type, schema, name] = named_type(context, id);
        let security = if function.is_security_definer { "DEFINER" } else { "INVOKER" };
        let about = [
            ("routine_type", kind.into()),
            ("data_type", of_function(data_type.into())),
            ("type_udt_catalog", of_function(DATABASE.into())),
            ("type_udt_schema", of_function(schema.into())),
            ("type_udt_name", of_function(name.into())),
            ("dtd_identifier", of_function("0".into())),
            ("routine_body", (if function.language == "sql" { "SQL" } else { "EXTERNAL" }).into()),
            (
                "routine_definition",
                match function.is_sql_body {
                    true => "".into(),
                    false => function.body.as_str().into(),
                },
            ),
            ("external_language", function.language.to_uppercase().into()),
            ("parameter_style", "GENERAL".into()),
            ("is_deterministic", yes(function.volatility == Volatility::Immutable)),
            ("sql_data_access", "MODIFIES".into()),
            ("is_null_call", of_function(yes(function.is_strict))),
            ("schema_level_routine", "YES".into()),
            ("max_dynamic_result_sets", Cell::Number(0)),
            ("is_implicitly_invocable", Cell::Null),
            ("security_type", security.into()),
            ("as_locator", "NO".into()),
            ("is_udt_dependent", "NO".into()),
        ];
        rows.row_of(names(function).chain(about));
    }
}

/// `parameters`.
pub(super) fn parameters(context: &ViewContext<'_>, rows: &mut TableRows) {
    for function in shown(context) {
        for (at, parameter) in function.parameters.iter().enumerate() {
            let id = i64::from(parameter.type_id);
            let number = at as i64 + 1;
            let name = parameter.name.as_str();
            let [data_type, schema, type_name] = named_type(context, id);
            let about = [
                ("ordinal_position", number.into()),
                (
                    "parameter_mode",
                    match parameter.mode {
                        ParameterMode::In | ParameterMode::Variadic => "IN",
                        ParameterMode::Out | ParameterMode::Table => "OUT",
                        ParameterMode::InOut => "INOUT",
                    }
                    .into(),
                ),
                ("is_result", "NO".into()),
                ("as_locator", "NO".into()),
                ("parameter_name", if name.is_empty() { Cell::Null } else { name.into() }),
                ("data_type", data_type.into()),
                ("udt_catalog", DATABASE.into()),
                ("udt_schema", schema.into()),
                ("udt_name", type_name.into()),
                ("dtd_identifier", number.to_string().into()),
                (
                    "parameter_default",
                    match &parameter.default {
                        Some(default) => default.as_str().into(),
                        None => Cell::Null,
                    },
                ),
            ];
            rows.row_of(specific(function).into_iter().chain(about));
        }
    }
}
