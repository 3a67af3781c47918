//! Casts to `regclass`, `regtype` and the other types for object names, and the quoting functions.
//!
//! Object ids are plain numbers in a plan, so a cast is one of two functions: to the id, or to the
//! displayed name. `lowering` chooses one of them.

use super::Scope;
use crate::names::SYSTEM_SCHEMAS;
use crate::pg_catalog::class::Class;
use crate::pg_catalog::{oids, quote_ident, roles, routines, type_catalog, user_types};
use crate::session_context::SessionContext;
use datafusion::arrow::array::AsArray;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::logical_expr::ScalarUDF;
use functions::row_function::{Row, function, id_function};
use parser::commands::RelationName;
use parser::object_name;
use std::sync::Arc;
use store::catalog::Function;
use values::cells::Cell;
use values::cells::Form;
use values::input::system::object_id;
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

const fn casts(
    type_name: &'static str,
    to_oid: &'static str,
    to_text: &'static str,
) -> CastFunctions {
    CastFunctions { type_name, to_oid, to_text }
}

/// The types for object names with their functions.
const CAST_FUNCTIONS: [CastFunctions; 10] = [
    casts("regclass", "regclassin", "regclassout"),
    casts("regtype", "regtypein", "regtypeout"),
    casts("regproc", "regprocin", "regprocout"),
    casts("regprocedure", "regprocedurein", "regprocedureout"),
    casts("regnamespace", "regnamespacein", "regnamespaceout"),
    casts("regrole", "regrolein", "regroleout"),
    casts("regoper", "regoperin", "regoperout"),
    casts("regoperator", "regoperatorin", "regoperatorout"),
    casts("regcollation", "regcollationin", "regcollationout"),
    casts("regconfig", "regconfigin", "regconfigout"),
];

/// Splits an SQL name into schema and name.
pub(super) fn split(text: &str) -> Option<(Option<String>, String)> {
    object_name(text).ok().map(|name| (name.schema, name.name))
}

/// The function that returns the names of the objects whose ids are in an array, for the name of their type.
pub const OBJECT_NAMES: &str = "object_names";
/// The function that returns the ids of the objects whose names are in an array, for the name of their type.
pub const OBJECT_IDS: &str = "object_ids";

type Lookup = fn(&Scope, &str) -> Option<i64>;
type Show = fn(&Scope, i64) -> Option<String>;

/// From a name to the id, and from an id to the displayed name, for each of [`CAST_FUNCTIONS`].
const LOOKUPS: [(Lookup, Show); 10] = [
    (class_by_name, show_class),
    (type_by_name, show_type),
    (function_by_name, show_function),
    (|scope, text| function_by_signature(scope, text).ok(), show_signature),
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
                Cell::Number(oid) => shown(&scope, oid, show).into(),
                other => other,
            })
        }));
    }
    all.extend(of_arrays(session));
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
                None if has_wrong_schema(CAST_FUNCTIONS[index].type_name, text) => {
                    Err(invalid_name())
                }
                found => Ok(found.into()),
            }
        }));
    }
    all
}

/// The functions of names and ids in arrays.
fn of_arrays(session: &Arc<dyn SessionContext>) -> [ScalarUDF; 2] {
    let of = Arc::clone(session);
    let names = function(OBJECT_NAMES, 2..=2, Form::Texts, move |row| {
        let (_, _, show) = of_kind(row)?;
        let Some(ids) = row.list(1) else { return Ok(Cell::Null) };
        let (scope, ids) = (Scope::of(&*of), cast(&ids, &DataType::Int64)?);
        let names = ids.as_primitive::<Int64Type>().iter();
        let names = names.map(|id| id.map(|id| shown(&scope, id, show)));
        Ok(Cell::Texts(names.collect()))
    });
    let of = Arc::clone(session);
    let ids = function(OBJECT_IDS, 2..=2, Form::Numbers, move |row| {
        let (kind, lookup, _) = of_kind(row)?;
        let Some(names) = row.list(1) else { return Ok(Cell::Null) };
        let (scope, names) = (Scope::of(&*of), cast(&names, &DataType::Utf8View)?);
        let ids = names.as_string_view().iter().map(|name| match name {
            Some(name) => id_of(&scope, name, lookup, kind),
            None => Err(Error::unsupported("NULL in an array of names is not supported")),
        });
        Ok(Cell::Numbers(ids.collect::<Result<_>>()?))
    });
    [names, ids]
}

/// The type that the first argument names, with its functions.
fn of_kind(row: &Row<'_>) -> Result<(&'static str, Lookup, Show)> {
    let kind = row.text(0).unwrap_or_default();
    let mut all = CAST_FUNCTIONS.iter().zip(LOOKUPS);
    let known = all.find(|(of, _)| of.type_name == kind);
    let known = known.map(|(of, (lookup, show))| (of.type_name, lookup, show));
    known.ok_or_else(|| Error::unsupported(format!("the type {kind} is not supported")))
}

/// The displayed name of an object; its id if there is none.
fn shown(scope: &Scope, oid: i64, show: Show) -> String {
    let name = show(scope, oid).filter(|_| oid != 0);
    name.unwrap_or_else(|| if oid == 0 { "-".to_owned() } else { oid.to_string() })
}

fn to_oid(scope: &Scope, row: &Row<'_>, lookup: Lookup, kind: &str) -> Result<Cell> {
    if row.value(0).is_some_and(|(_, ids, _)| ids.data_type().is_integer()) {
        return Ok(row.number(0).into());
    }
    let Some(text) = row.text(0) else { return Ok(Cell::Null) };
    id_of(scope, text, lookup, kind).map(Cell::Number)
}

/// The id of the object with a name. An id may be written in its place.
fn id_of(scope: &Scope, text: &str, lookup: Lookup, kind: &str) -> Result<i64> {
    if text == "-" {
        return Ok(0);
    }
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return object_id(text, "oid").map(i64::from);
    }
    if kind == "regprocedure" {
        return function_by_signature(scope, text);
    }
    match lookup(scope, text) {
        Some(oid) => Ok(oid),
        None => Err(missing(scope, kind, text)),
    }
}

/// The error for a name that no object has, or several.
fn missing(scope: &Scope, kind: &str, text: &str) -> Error {
    let absent =
        |state, what, name: &str| Error::new(state, format!("{what} \"{name}\" does not exist"));
    if matches!(kind, "regoper" | "regoperator" | "regcollation" | "regconfig") {
        return Error::unsupported(format!("a name as a value of type {kind} is not supported"));
    }
    let has_signature = matches!(kind, "regtype" | "regprocedure");
    let named = match object_name(text) {
        Ok(named) => named,
        Err(error) if !has_signature => return error,
        Err(_) => RelationName { schema: None, name: text.to_owned() },
    };
    if has_wrong_schema(kind, text) {
        return invalid_name();
    }
    let schema = named.schema.as_deref().filter(|_| kind != "regprocedure");
    if let Some(schema) = schema
        && schema_by_name(scope, &quote_ident(schema)).is_none()
    {
        return absent(SqlState::InvalidSchemaName, "schema", schema);
    }
    let name = match schema {
        Some(schema) => format!("{schema}.{}", named.name),
        None => named.name.clone(),
    };
    match kind {
        "regclass" => absent(SqlState::UndefinedTable, "relation", &name),
        "regtype" => absent(SqlState::UndefinedObject, "type", text),
        "regnamespace" => absent(SqlState::InvalidSchemaName, "schema", &name),
        "regrole" => absent(SqlState::UndefinedObject, "role", &name),
        "regproc" if !functions_named(scope, schema, &named.name).is_empty() => {
            let message = format!("more than one function named \"{text}\"");
            Error::new(SqlState::AmbiguousFunction, message)
        }
        _ => absent(SqlState::UndefinedFunction, "function", text),
    }
}

/// Whether a name that has no schema is written with one.
fn has_wrong_schema(kind: &str, text: &str) -> bool {
    matches!(kind, "regrole" | "regnamespace") && split(text).is_some_and(|(of, _)| of.is_some())
}

fn invalid_name() -> Error {
    Error::new(SqlState::chosen("42602"), "invalid name syntax")
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

/// The id of the only function with a name.
fn function_by_name(scope: &Scope, text: &str) -> Option<i64> {
    let (schema, name) = split(text)?;
    match functions_named(scope, schema.as_deref(), &name)[..] {
        [only] => Some(only),
        _ => None,
    }
}

/// The ids of the functions that a name may mean.
fn functions_named(scope: &Scope, schema: Option<&str>, name: &str) -> Vec<i64> {
    let schemas = scope.path().of_function(schema);
    let own = schemas.iter().flat_map(|schema| scope.catalog.functions_named(schema, name));
    let own = own.map(|function| oids::relation(function.id));
    let is_of_system = schema.is_none_or(|schema| schema == "pg_catalog");
    let of_system = if is_of_system { routines::named(name) } else { &[] };
    own.chain(of_system.iter().copied()).collect()
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
        type_by_name(scope, name).ok_or_else(|| missing(scope, "regtype", name))
    });
    let types = types.collect::<Result<Vec<i64>>>()?;
    let unknown = || missing(scope, "regprocedure", text);
    let (schema, name) = split(name.trim()).ok_or_else(unknown)?;
    if let Some(schema) = &schema
        && schema_by_name(scope, &quote_ident(schema)).is_none()
    {
        return Err(missing(scope, "regnamespace", &quote_ident(schema)));
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

/// The schema and the name of a function.
fn name_of_function(scope: &Scope, oid: i64) -> Option<(String, String)> {
    match routines::of_user(&scope.catalog, oid) {
        Some(function) => Some((function.schema.clone(), function.name.clone())),
        None => Some(("pg_catalog".to_owned(), routines::name_of(oid)?.to_owned())),
    }
}

/// A name of a function, with its schema unless the name alone `is_enough`.
fn qualified(schema: &str, name: &str, is_enough: bool) -> String {
    match is_enough {
        true => quote_ident(name),
        false => format!("{}.{}", quote_ident(schema), quote_ident(name)),
    }
}

fn show_function(scope: &Scope, oid: i64) -> Option<String> {
    let (schema, name) = name_of_function(scope, oid)?;
    let is_only = functions_named(scope, None, &name) == [oid];
    Some(qualified(&schema, &name, is_only))
}

/// A function with the types of its arguments.
fn show_signature(scope: &Scope, oid: i64) -> Option<String> {
    let (schema, name) = name_of_function(scope, oid)?;
    let types: Vec<i64> = match routines::of_user(&scope.catalog, oid) {
        Some(function) => function.inputs().map(|input| i64::from(input.type_id)).collect(),
        None => routines::by_oid(oid)?.arguments.clone(),
    };
    let types = types.into_iter().map(|id| shown(scope, id, show_type));
    let types = types.collect::<Vec<_>>().join(",");
    let is_visible = functions_named(scope, None, &name).contains(&oid);
    Some(format!("{}({types})", qualified(&schema, &name, is_visible)))
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
