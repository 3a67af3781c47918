//! Casts to `regclass`, `regtype` and the other types for object names, and the quoting functions.
//!
//! Object ids are plain numbers in a plan, so a cast is one of two functions: to the id, or to the
//! displayed name. `lowering` chooses one of them.

use super::Scope;
use crate::names::SYSTEM_SCHEMAS;
use crate::pg_catalog::class::Class;
use crate::pg_catalog::{oids, quote_ident, roles, routines, type_catalog, user_types};
use crate::session_context::SessionContext;
use datafusion::logical_expr::ScalarUDF;
use functions::row_function::{Row, function, id_function};
use parser::object_name;
use std::sync::Arc;
use store::catalog::Function;
use values::cells::Cell;
use values::cells::Form;
use values::{Error, Result, SqlState};

/// The two functions that cast to one of PostgreSQL's types for object names.
#[derive(Debug)]
struct CastFunctions {
    /// The type.
    type_name: &'static str,
    /// From a name or an id to the id. Fails if no object has the name.
    to_oid: &'static str,
    /// From a name or an id to the displayed name.
    to_text: &'static str,
}

const fn cast(
    type_name: &'static str,
    to_oid: &'static str,
    to_text: &'static str,
) -> CastFunctions {
    CastFunctions { type_name, to_oid, to_text }
}

/// The types for object names with their functions.
const CAST_FUNCTIONS: [CastFunctions; 10] = [
    cast("regclass", "regclassin", "regclassout"),
    cast("regtype", "regtypein", "regtypeout"),
    cast("regproc", "regprocin", "regprocout"),
    cast("regprocedure", "regprocedurein", "regprocedureout"),
    cast("regnamespace", "regnamespacein", "regnamespaceout"),
    cast("regrole", "regrolein", "regroleout"),
    cast("regoper", "regoperin", "regoperout"),
    cast("regoperator", "regoperatorin", "regoperatorout"),
    cast("regcollation", "regcollationin", "regcollationout"),
    cast("regconfig", "regconfigin", "regconfigout"),
];

/// Splits an SQL name into schema and name.
pub(super) fn split(text: &str) -> Option<(Option<String>, String)> {
    object_name(text).ok().map(|name| (name.schema, name.name))
}

type Lookup = fn(&Scope, &str) -> Option<i64>;
type Show = fn(&Scope, i64) -> Option<String>;

/// From a name to the id, and from an id to the displayed name, for each of [`CAST_FUNCTIONS`].
const LOOKUPS: [(Lookup, Show); 10] = [
    (class_by_name, show_class),
    (type_by_name, show_type),
    (procedure, show_procedure),
    (procedure, show_procedure),
    (schema_by_name, show_schema),
    (role_by_name, show_role),
    (nothing_by_name, show_nothing),
    (nothing_by_name, show_nothing),
    (nothing_by_name, show_nothing),
    (nothing_by_name, show_nothing),
];

/// The functions.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let mut all = vec![
        function("quote_ident", 1..=1, Form::Text, |row| Ok(row.text(0).map(quote_ident).into())),
        function("quote_literal", 1..=1, Form::Text, |row| {
            Ok(row.text(0).map(quote_literal).into())
        }),
        function("quote_nullable", 1..=1, Form::Text, |row| {
            Ok(row.text(0).map_or_else(|| "NULL".to_owned(), quote_literal).into())
        }),
    ];
    for (cast, (lookup, show)) in CAST_FUNCTIONS.iter().zip(LOOKUPS) {
        let (of, kind) = (Arc::clone(session), cast.type_name);
        all.push(id_function(cast.to_oid, kind, move |row| {
            to_oid(&Scope::of(&*of), row, lookup, kind)
        }));
        let of = Arc::clone(session);
        all.push(function(cast.to_text, 1..=1, Form::Text, move |row| {
            let scope = Scope::of(&*of);
            let oid = to_oid(&scope, row, lookup, kind)?;
            Ok(match oid {
                Cell::Number(oid) => show(&scope, oid).unwrap_or_else(|| unknown_id(oid)).into(),
                other => other,
            })
        }));
    }
    let null_if_missing = [
        ("to_regclass", 0),
        ("to_regtype", 1),
        ("to_regproc", 2),
        ("to_regnamespace", 4),
        ("to_regrole", 5),
    ];
    for (name, index) in null_if_missing {
        let (lookup, _): (Lookup, Show) = LOOKUPS[index];
        let of = Arc::clone(session);
        all.push(id_function(name, CAST_FUNCTIONS[index].type_name, move |row| {
            let scope = Scope::of(&*of);
            let Some(text) = row.text(0) else { return Ok(Cell::Null) };
            match lookup(&scope, text) {
                None if is_split_name(CAST_FUNCTIONS[index].type_name, text) => Err(invalid_name()),
                found => Ok(found.into()),
            }
        }));
    }
    all
}

/// The text of an id that no object has.
fn unknown_id(oid: i64) -> String {
    if oid == 0 { "-".to_owned() } else { oid.to_string() }
}

fn to_oid(scope: &Scope, row: &Row<'_>, lookup: Lookup, kind: &str) -> Result<Cell> {
    if let Some(oid) = row.number(0) {
        return Ok(oid.into());
    }
    let Some(text) = row.text(0) else { return Ok(Cell::Null) };
    if text == "-" {
        return Ok(Cell::Number(0));
    }
    match lookup(scope, text) {
        Some(oid) => Ok(oid.into()),
        None => Err(absent(scope, kind, text)),
    }
}

/// The error about a name of no object: its schema may not exist, either.
fn absent(scope: &Scope, kind: &str, text: &str) -> Error {
    let name = text.split('(').next().unwrap_or(text);
    match (kind, split(name)) {
        ("regoper" | "regoperator" | "regcollation" | "regconfig", _) => {
            Error::unsupported(format!("names of type {kind} are not supported"))
        }
        _ if is_split_name(kind, text) => invalid_name(),
        (_, Some((Some(schema), _))) if schema_by_name(scope, &quote_ident(&schema)).is_none() => {
            missing("regnamespace", &schema)
        }
        _ => missing(kind, text),
    }
}

/// Whether a name that has no schema is written with one.
fn is_split_name(kind: &str, text: &str) -> bool {
    matches!(kind, "regrole" | "regnamespace") && split(text).is_some_and(|(of, _)| of.is_some())
}

fn invalid_name() -> Error {
    Error::new(SqlState::chosen("42602"), "invalid name syntax")
}

fn missing(kind: &str, text: &str) -> Error {
    let (state, what) = match kind {
        "regclass" => (SqlState::UndefinedTable, "relation"),
        "regtype" => (SqlState::UndefinedObject, "type"),
        "regnamespace" => (SqlState::InvalidSchemaName, "schema"),
        "regrole" => (SqlState::UndefinedObject, "role"),
        _ => (SqlState::UndefinedFunction, "function"),
    };
    Error::new(state, format!("{what} \"{text}\" does not exist"))
}

fn class_by_name(scope: &Scope, text: &str) -> Option<i64> {
    scope.class_by_name(text).map(Class::oid)
}

fn show_class(scope: &Scope, oid: i64) -> Option<String> {
    let class = Class::by_oid(&scope.catalog, oid)?;
    let name = quote_ident(&class.name());
    let is_visible = class.is_visible(&scope.catalog, scope.path());
    Some(if is_visible { name } else { format!("{}.{name}", quote_ident(class.schema())) })
}

fn type_by_name(scope: &Scope, text: &str) -> Option<i64> {
    let of_users = || user_types::by_name(&scope.catalog, scope.path(), text);
    type_catalog::by_name(text).or_else(of_users)
}

fn show_type(scope: &Scope, oid: i64) -> Option<String> {
    if let Some(name) = user_types::format(&scope.catalog, scope.path(), oid) {
        return Some(name);
    }
    type_catalog::by_oid(oid).map(|entry| type_catalog::format(entry.oid, None))
}

fn procedure(scope: &Scope, text: &str) -> Option<i64> {
    if let Some(function) = function_of_user(scope, text) {
        return Some(oids::relation(function.id));
    }
    let text = text.split('(').next().unwrap_or(text);
    routines::by_name(text.strip_prefix("pg_catalog.").unwrap_or(text))
}

/// The id of the function that a text names with the types of its arguments: `f(integer)`.
///
/// # Errors
/// 22P02 for a text without parentheses; 42704, 3F000 and 42883 if the type, schema or function does not exist.
pub(super) fn function_by_signature(scope: &Scope, text: &str) -> Result<i64> {
    let malformed = |what: &str| {
        let message = format!("expected a {what} parenthesis");
        Error::new(SqlState::InvalidTextRepresentation, message)
    };
    let (name, types) = text.split_once('(').ok_or_else(|| malformed("left"))?;
    let types = types.trim_end().strip_suffix(')').ok_or_else(|| malformed("right"))?.trim();
    let types = types.split(',').filter(|name| !types.is_empty() || !name.is_empty());
    let types = types.map(|name| {
        let name = name.trim();
        type_by_name(scope, name).ok_or_else(|| missing("regtype", name))
    });
    let types = types.collect::<Result<Vec<i64>>>()?;
    let unknown = || missing("regprocedure", text);
    let (schema, name) = split(name.trim()).ok_or_else(unknown)?;
    if let Some(schema) = &schema
        && schema_by_name(scope, &quote_ident(schema)).is_none()
    {
        return Err(missing("regnamespace", schema));
    }
    if let Some(function) = function_of_user(scope, text) {
        return Ok(oids::relation(function.id));
    }
    let is_of_system = schema.is_none_or(|schema| schema == "pg_catalog");
    let found = routines::by_signature(&name, &types).filter(|_| is_of_system);
    found.ok_or_else(unknown)
}

/// The function of a user with a name, and with these types of arguments, if they are written.
fn function_of_user(scope: &Scope, text: &str) -> Option<Arc<Function>> {
    scope.catalog.functions().next()?;
    let (name, types) = match text.split_once('(') {
        Some((name, types)) => (name, Some(types.trim_end().strip_suffix(')')?)),
        None => (text, None),
    };
    let (schema, name) = split(name.trim())?;
    let types = match types.map(str::trim) {
        None => None,
        Some("") => Some(Vec::new()),
        Some(types) => {
            let types = types.split(',').map(|name| type_catalog::by_name(name.trim()));
            Some(types.collect::<Option<Vec<i64>>>()?)
        }
    };
    let schemas = scope.path().of_function(schema.as_deref());
    let mut named = schemas.iter().flat_map(|schema| scope.catalog.functions_named(schema, &name));
    let fits = |function: &&Arc<Function>| {
        let inputs = function.inputs().map(|input| i64::from(input.type_id));
        types.as_ref().is_none_or(|types| inputs.eq(types.iter().copied()))
    };
    named.find(fits).cloned()
}

fn show_procedure(scope: &Scope, oid: i64) -> Option<String> {
    if let Some(function) = routines::of_user(&scope.catalog, oid) {
        return Some(function.name.clone());
    }
    routines::name_of(oid).map(str::to_owned)
}

fn schema_by_name(scope: &Scope, text: &str) -> Option<i64> {
    let (_, name) = split(text)?;
    let known = SYSTEM_SCHEMAS.contains(&name.as_str()) || scope.catalog.schema(&name).is_some();
    known.then(|| oids::schema(&name))
}

fn show_schema(scope: &Scope, oid: i64) -> Option<String> {
    let own = scope.catalog.schemas().map(|schema| schema.name.as_str());
    let mut all = own.chain(SYSTEM_SCHEMAS);
    all.find(|name| oids::schema(name) == oid).map(quote_ident)
}

fn role_by_name(scope: &Scope, text: &str) -> Option<i64> {
    let (_, name) = split(text)?;
    roles::all(&scope.catalog).into_iter().find(|role| role.name == name).map(|role| role.oid)
}

fn show_role(scope: &Scope, oid: i64) -> Option<String> {
    roles::all(&scope.catalog)
        .into_iter()
        .find(|role| role.oid == oid)
        .map(|role| quote_ident(&role.name))
}

/// For operators, collations and text search configurations, which have no names here.
fn nothing_by_name(_: &Scope, _: &str) -> Option<i64> {
    None
}

fn show_nothing(_: &Scope, _: i64) -> Option<String> {
    None
}

/// A text as an SQL string literal.
pub(super) fn quote_literal(text: &str) -> String {
    let escape = if text.contains('\\') { "E" } else { "" };
    format!("{escape}'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}
