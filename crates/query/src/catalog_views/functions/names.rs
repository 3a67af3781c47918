//! Names and ids: what the casts to regclass, regtype and their like do, and quoting.
//!
//! Ids are plain numbers here, so a cast is one of two functions: to the id, or to the name that is shown.
//! Which one a statement means is decided by [`object_names`](crate::planner::object_names).

use super::Sight;
use crate::catalog_views::pg_catalog::world::{Class, SYSTEM_SCHEMAS};
use crate::catalog_views::pg_catalog::{
    oids, procedure_by_name, procedure_name, quote_ident, roles, type_catalog,
};
use crate::catalog_views::session_context::SessionContext;
use crate::functions::row_function::{Row, function, id_function};
use crate::parser::object_name;
use crate::values::cells::Cell;
use crate::values::cells::Form;
use crate::values::error::{Error, Result, SqlState};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;

/// The two functions of one of PostgreSQL's types for object names.
pub(crate) struct CastFunctions {
    /// The type.
    pub(crate) type_name: &'static str,
    /// From a name or an id to the id; an error where there is no such object.
    pub(crate) to_oid: &'static str,
    /// From a name or an id to the name that is shown.
    pub(crate) to_text: &'static str,
}

const fn cast(
    type_name: &'static str,
    to_oid: &'static str,
    to_text: &'static str,
) -> CastFunctions {
    CastFunctions { type_name, to_oid, to_text }
}

/// The types for object names.
pub(crate) const CAST_FUNCTIONS: [CastFunctions; 10] = [
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

/// A schema and a name, out of text that holds an SQL name.
pub(super) fn split(text: &str) -> Option<(Option<String>, String)> {
    crate::parser::names::split_name(&object_name(text).ok()?).ok()
}

type Lookup = fn(&Sight, &str) -> Option<i64>;
type Show = fn(&Sight, i64) -> Option<String>;

/// What each type's names lead to, and how its ids are shown.
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
            to_oid(&Sight::of(&*of), row, lookup, kind)
        }));
        let of = Arc::clone(session);
        all.push(function(cast.to_text, 1..=1, Form::Text, move |row| {
            let sight = Sight::of(&*of);
            let oid = to_oid(&sight, row, lookup, kind)?;
            Ok(match oid {
                Cell::Number(oid) => show(&sight, oid).unwrap_or_else(|| unknown_id(oid)).into(),
                other => other,
            })
        }));
    }
    let softly = [
        ("to_regclass", 0),
        ("to_regtype", 1),
        ("to_regproc", 2),
        ("to_regnamespace", 4),
        ("to_regrole", 5),
    ];
    for (name, index) in softly {
        let (lookup, _): (Lookup, Show) = LOOKUPS[index];
        let of = Arc::clone(session);
        all.push(id_function(name, CAST_FUNCTIONS[index].type_name, move |row| {
            let sight = Sight::of(&*of);
            Ok(row.text(0).and_then(|text| lookup(&sight, text)).into())
        }));
    }
    all
}

/// How an id is shown that nothing has.
fn unknown_id(oid: i64) -> String {
    if oid == 0 { "-".to_owned() } else { oid.to_string() }
}

fn to_oid(sight: &Sight, row: &Row<'_>, lookup: Lookup, kind: &str) -> Result<Cell> {
    if let Some(oid) = row.number(0) {
        return Ok(oid.into());
    }
    let Some(text) = row.text(0) else { return Ok(Cell::Null) };
    if text == "-" {
        return Ok(Cell::Number(0));
    }
    match lookup(sight, text) {
        Some(oid) => Ok(oid.into()),
        None => Err(missing(kind, text)),
    }
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

fn class_by_name(sight: &Sight, text: &str) -> Option<i64> {
    sight.class_by_name(text).map(Class::oid)
}

fn show_class(sight: &Sight, oid: i64) -> Option<String> {
    let class = Class::by_oid(&sight.catalog, oid)?;
    let name = quote_ident(&class.name());
    Some(match class.is_visible(&sight.catalog, sight.path()) {
        true => name,
        false => format!("{}.{name}", quote_ident(class.schema())),
    })
}

fn type_by_name(_: &Sight, text: &str) -> Option<i64> {
    type_catalog::by_name(text)
}

fn show_type(_: &Sight, oid: i64) -> Option<String> {
    type_catalog::by_oid(oid).map(|entry| type_catalog::format(entry.oid, None))
}

fn procedure(_: &Sight, text: &str) -> Option<i64> {
    let text = text.split('(').next().unwrap_or(text);
    procedure_by_name(text.strip_prefix("pg_catalog.").unwrap_or(text))
}

fn show_procedure(_: &Sight, oid: i64) -> Option<String> {
    procedure_name(oid).map(str::to_owned)
}

fn schema_by_name(sight: &Sight, text: &str) -> Option<i64> {
    let (_, name) = split(text)?;
    let known = SYSTEM_SCHEMAS.contains(&name.as_str()) || sight.catalog.schema(&name).is_some();
    known.then(|| oids::schema(&name))
}

fn show_schema(sight: &Sight, oid: i64) -> Option<String> {
    let own = sight.catalog.schemas().map(|schema| schema.name.as_str());
    let mut all = own.chain(SYSTEM_SCHEMAS);
    all.find(|name| oids::schema(name) == oid).map(quote_ident)
}

fn role_by_name(sight: &Sight, text: &str) -> Option<i64> {
    let (_, name) = split(text)?;
    roles::all(&sight.catalog).into_iter().find(|role| role.name == name).map(|role| role.oid)
}

fn show_role(sight: &Sight, oid: i64) -> Option<String> {
    roles::all(&sight.catalog)
        .into_iter()
        .find(|role| role.oid == oid)
        .map(|role| quote_ident(&role.name))
}

/// Operators and text search have no catalog here.
fn nothing_by_name(_: &Sight, _: &str) -> Option<i64> {
    None
}

fn show_nothing(_: &Sight, _: i64) -> Option<String> {
    None
}

/// Text as SQL has it between quotes.
pub(super) fn quote_literal(text: &str) -> String {
    let escape = if text.contains('\\') { "E" } else { "" };
    format!("{escape}'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}
