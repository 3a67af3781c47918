//! `has_table_privilege`, `pg_has_role`, `pg_table_is_visible` and similar functions.

use super::{Scope, names};
use crate::access::Access;
use crate::names::{BOOTSTRAP_SUPERUSER, SYSTEM_SCHEMAS, closed_kind, unknown_role};
use crate::pg_catalog::class::Class;
use crate::pg_catalog::{oids, roles, routines, user_types};
use crate::session_context::SessionContext;
use datafusion::logical_expr::ScalarUDF;
use functions::row_function::{Row, function};
use std::sync::Arc;
use store::catalog::{Object, PUBLIC, Privileges, Relation};
use values::cells::Cell;
use values::cells::Form;
use values::{Error, Result, SqlState};

/// The privileges that the functions about a kind of object know. RULE is nobody's.
type Known = &'static [&'static str];

const OF_TABLES: Known =
    &["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", RULE];
const OF_COLUMNS: Known = &["SELECT", "INSERT", "UPDATE", "REFERENCES"];
const OF_SEQUENCES: Known = &["USAGE", "SELECT", "UPDATE"];
const OF_SCHEMAS: Known = &["CREATE", "USAGE"];
const OF_DATABASES: Known = &["CREATE", "TEMPORARY", "TEMP", "CONNECT"];
const OF_ROUTINES: Known = &["EXECUTE"];
const RULE: &str = "RULE";

/// Functions about objects that everyone may use.
const FREE: [(&str, Known); 5] = [
    ("has_type_privilege", &["USAGE"]),
    ("has_language_privilege", &["USAGE"]),
    ("has_tablespace_privilege", &["CREATE"]),
    ("has_foreign_data_wrapper_privilege", &["USAGE"]),
    ("has_server_privilege", &["USAGE"]),
];

/// Functions about objects that are all in `pg_catalog`, and so always visible.
const VISIBLE: [&str; 10] = [
    "pg_operator_is_visible",
    "pg_opclass_is_visible",
    "pg_opfamily_is_visible",
    "pg_collation_is_visible",
    "pg_conversion_is_visible",
    "pg_statistics_obj_is_visible",
    "pg_ts_config_is_visible",
    "pg_ts_dict_is_visible",
    "pg_ts_parser_is_visible",
    "pg_ts_template_is_visible",
];

/// The functions.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let mut all = Vec::new();
    let of_relations = [
        ("has_table_privilege", OF_TABLES),
        ("has_any_column_privilege", OF_COLUMNS),
        ("has_sequence_privilege", OF_SEQUENCES),
    ];
    for (name, known) in of_relations {
        let session = Arc::clone(session);
        all.push(function(name, 2..=3, Form::Flag, move |row| {
            Ok(relation(&*session, row, row.count() - 2, known)?.into())
        }));
    }
    let of = Arc::clone(session);
    all.push(function("has_column_privilege", 3..=4, Form::Flag, move |row| {
        let position = row.count() - 3;
        if has_column(&*of, row, position)?.is_none() {
            return Ok(None::<bool>.into());
        }
        Ok(relation(&*of, row, position, OF_COLUMNS)?.into())
    }));
    let of = Arc::clone(session);
    all.push(function("has_schema_privilege", 2..=3, Form::Flag, move |row| {
        Ok(schema(&*of, row, row.count() - 2)?.into())
    }));
    let of = Arc::clone(session);
    all.push(function("has_database_privilege", 2..=3, Form::Flag, move |row| {
        Ok(database(&*of, row, row.count() - 2)?.into())
    }));
    let of = Arc::clone(session);
    all.push(function("has_function_privilege", 2..=3, Form::Flag, move |row| {
        Ok(routine(&*of, row, row.count() - 2)?.into())
    }));
    for (name, known) in FREE {
        all.push(function(name, 2..=3, Form::Flag, move |row| {
            let Some(asked) = row.text(row.count() - 1) else { return Ok(Cell::Null) };
            any(all_privileges(), asked, known)?;
            Ok(row.text(row.count() - 2).map(|_| true).into())
        }));
    }
    for name in VISIBLE {
        all.push(function(name, 1..=1, Form::Flag, |row| Ok(row.number(0).map(|_| true).into())));
    }
    let of = Arc::clone(session);
    all.push(function("pg_function_is_visible", 1..=1, Form::Flag, move |row| {
        Ok(row.number(0).map(|oid| is_visible(&Scope::of(&*of), oid)).into())
    }));
    let of = Arc::clone(session);
    all.push(function("pg_type_is_visible", 1..=1, Form::Flag, move |row| {
        let scope = Scope::of(&*of);
        let visible = |oid| user_types::is_visible(&scope.catalog, scope.path(), oid);
        Ok(row.number(0).map(visible).into())
    }));
    let of = Arc::clone(session);
    all.push(function("pg_table_is_visible", 1..=1, Form::Flag, move |row| {
        let scope = Scope::of(&*of);
        let class = scope.class(row, 0);
        Ok(class.map(|class| class.is_visible(&scope.catalog, scope.path())).into())
    }));
    let of = Arc::clone(session);
    all.push(function("pg_has_role", 2..=3, Form::Flag, move |row| has_role(&*of, row)));
    let of = Arc::clone(session);
    all.push(function("pg_get_userbyid", 1..=1, Form::Text, move |row| {
        Ok(row.number(0).map(|oid| roles::name_of(&of.catalog(), oid)).into())
    }));
    all.push(function("row_security_active", 1..=1, Form::Flag, |_| Ok(false.into())));
    all
}

/// The role that a function is about: its first argument if `position` is not 0, otherwise the
/// session's role. `Some(None)` has all privileges. An id without a role has those of `PUBLIC`. `None` if the argument is
/// NULL.
///
/// # Errors
/// 42704 for a name without a role.
fn role(
    session: &dyn SessionContext,
    scope: &Scope,
    row: &Row<'_>,
    position: usize,
) -> Result<Option<Option<String>>> {
    if position == 0 {
        return Ok(Some(session.role().map(|role| role.to_string())));
    }
    let name = match (row.number(0), row.text(0)) {
        (Some(oid), _) => roles::name_of(&scope.catalog, oid),
        (None, Some(name)) => name.to_owned(),
        (None, None) => return Ok(None),
    };
    match scope.catalog.role(&name) {
        Some(_) => Ok(Some(Some(name))),
        None if name == PUBLIC => Ok(Some(Some(name))),
        None if name == BOOTSTRAP_SUPERUSER => Ok(Some(None)),
        None if row.number(0).is_some() => Ok(Some(Some(PUBLIC.to_owned()))),
        // Nobody is authenticated: the session may have any name.
        None if is_of(session, &name) && !scope.catalog.roles().any(|role| role.administers()) => {
            Ok(Some(None))
        }
        None => Err(unknown_role(&name)),
    }
}

/// Whether a session has a name.
fn is_of(session: &dyn SessionContext, name: &str) -> bool {
    [session.login_user(), session.session_user()].iter().any(|user| user.as_str() == name)
}

/// Whether a function is found by its name without a schema, and its arguments.
fn is_visible(scope: &Scope, oid: i64) -> bool {
    let Some(function) = routines::of_user(&scope.catalog, oid) else { return true };
    let named = |schema: &str| scope.catalog.functions_named(schema, &function.name);
    let mut named = scope.path().of_functions().flat_map(named).filter(|other| {
        other.inputs().map(|of| of.type_id).eq(function.inputs().map(|of| of.type_id))
    });
    named.next().is_some_and(|first| first.id == function.id)
}

/// `has_table_privilege`: whether a role has one of the privileges of the last argument on a
/// relation. `None` if there is no relation with the id.
fn relation(
    session: &dyn SessionContext,
    row: &Row<'_>,
    position: usize,
    known: Known,
) -> Result<Option<bool>> {
    let scope = Scope::of(session);
    let Some(role) = role(session, &scope, row, position)? else { return Ok(None) };
    let Some(asked) = row.text(row.count() - 1) else { return Ok(None) };
    let access = Access::new(&scope.catalog, role.as_deref());
    let class = scope.class(row, position);
    // A query that asks for all relations by their ids may do so before it looks at their kinds.
    if let Some(class) = &class
        && known == OF_SEQUENCES
        && row.number(position).is_none()
        && !matches!(class, Class::Relation(Relation::Sequence(_)))
    {
        let name = row.text(position).unwrap_or_default();
        return Err(Error::new(SqlState::WrongObjectType, format!("\"{name}\" is not a sequence")));
    }
    let relation = match class {
        Some(Class::System(shape)) => {
            let is_closed = shape.schema == "pg_catalog" && closed_kind(shape.name).is_some();
            let held = match access.is_superuser() {
                true => all_privileges(),
                false if is_closed => Privileges::default(),
                false => Privileges::SELECT,
            };
            return any(held, asked, known).map(Some);
        }
        Some(Class::Relation(relation)) => relation.id(),
        Some(Class::KeyIndex(table)) => table.id.relation(),
        Some(Class::Composite(user)) => user.id.object(),
        None => return missing(row, position, SqlState::UndefinedTable, "relation"),
    };
    any(access.privileges(&Object::Relation(relation)), asked, known).map(Some)
}

/// Whether a relation has the column of the argument behind it: a name, or a number from 1. `None` for a number that is no
/// column's.
///
/// # Errors
/// 42703 for a name that is no column's.
fn has_column(session: &dyn SessionContext, row: &Row<'_>, position: usize) -> Result<Option<()>> {
    let scope = Scope::of(session);
    let names: Vec<String> = match scope.class(row, position) {
        Some(Class::System(shape)) => {
            shape.columns.iter().map(|column| column.name.to_string()).collect()
        }
        Some(Class::Relation(Relation::Table(table))) => {
            let shown = table.columns.iter().filter(|column| !column.hidden);
            shown.map(|column| column.name.clone()).collect()
        }
        // The columns of a view are known when it is planned.
        _ => return Ok(Some(())),
    };
    if let Some(number) = row.number(position + 1) {
        let is_known = usize::try_from(number).is_ok_and(|at| (1..=names.len()).contains(&at));
        return Ok(is_known.then_some(()));
    }
    let Some(name) = row.text(position + 1) else { return Ok(None) };
    if names.iter().any(|known| known == name) {
        return Ok(Some(()));
    }
    let relation = row.text(position).unwrap_or_default();
    let message = format!("column \"{name}\" of relation \"{relation}\" does not exist");
    Err(Error::new(SqlState::UndefinedColumn, message))
}

/// `has_function_privilege`. Everyone may execute the functions of the system. `None` for an id without a function.
///
/// # Errors
/// As of `regprocedure`; 22023 for another privilege than EXECUTE.
fn routine(session: &dyn SessionContext, row: &Row<'_>, position: usize) -> Result<Option<bool>> {
    let scope = Scope::of(session);
    let Some(role) = role(session, &scope, row, position)? else { return Ok(None) };
    let Some(asked) = row.text(row.count() - 1) else { return Ok(None) };
    let oid = match (row.number(position), row.text(position)) {
        (Some(oid), _) => oid,
        (None, Some(text)) => names::function_by_signature(&scope, text)?,
        (None, None) => return Ok(None),
    };
    let access = Access::new(&scope.catalog, role.as_deref());
    let held = match routines::of_user(&scope.catalog, oid) {
        Some(function) => access.privileges(&Object::Relation(function.id)),
        None if routines::by_oid(oid).is_none() => return Ok(None),
        None if access.is_superuser() => all_privileges(),
        None => Privileges::EXECUTE,
    };
    any(held, asked, OF_ROUTINES).map(Some)
}

/// `has_schema_privilege`.
fn schema(session: &dyn SessionContext, row: &Row<'_>, position: usize) -> Result<Option<bool>> {
    let scope = Scope::of(session);
    let Some(role) = role(session, &scope, row, position)? else { return Ok(None) };
    let Some(asked) = row.text(row.count() - 1) else { return Ok(None) };
    let access = Access::new(&scope.catalog, role.as_deref());
    let own = scope.catalog.schemas().map(|schema| schema.name.as_str());
    let mut all = own.chain(SYSTEM_SCHEMAS);
    let found = match row.number(position) {
        Some(oid) => all.find(|name| oids::schema(name) == oid),
        None => all.find(|name| Some(*name) == row.text(position)),
    };
    let Some(name) = found else {
        return missing(row, position, SqlState::InvalidSchemaName, "schema");
    };
    let mut held = access.privileges(&Object::Schema(name.to_owned()));
    if SYSTEM_SCHEMAS.contains(&name) {
        held = held.union(Privileges::USAGE);
    }
    any(held, asked, OF_SCHEMAS).map(Some)
}

/// `has_database_privilege`. The name of the database is ignored, because there is only one.
/// Everyone may connect to it.
fn database(session: &dyn SessionContext, row: &Row<'_>, position: usize) -> Result<Option<bool>> {
    let scope = Scope::of(session);
    let Some(role) = role(session, &scope, row, position)? else { return Ok(None) };
    let Some(asked) = row.text(row.count() - 1) else { return Ok(None) };
    let free = |name: &str| matches!(name.trim(), "CONNECT" | "TEMP" | "TEMPORARY");
    let access = Access::new(&scope.catalog, role.as_deref());
    let is_held = any(access.privileges(&Object::Database), asked, OF_DATABASES)?;
    Ok(Some(is_held || asked.to_uppercase().split(',').any(free)))
}

/// The result for an argument that refers to no object: NULL for an id, an error for a name.
fn missing(row: &Row<'_>, position: usize, state: SqlState, kind: &str) -> Result<Option<bool>> {
    match (row.number(position), row.text(position)) {
        (None, Some(name)) => Err(Error::new(state, format!("{kind} \"{name}\" does not exist"))),
        _ => Ok(None),
    }
}

fn all_privileges() -> Privileges {
    Privileges::ALL.union(Privileges::ALL.grant_option())
}

/// Whether `held` contains one of the privileges in a text such as `SELECT, INSERT WITH GRANT
/// OPTION`.
///
/// # Errors
/// 22023 for others than the known ones.
fn any(held: Privileges, asked: &str, known: Known) -> Result<bool> {
    let mut found = false;
    for asked in asked.split(',') {
        let upper = asked.trim().to_uppercase();
        let (name, held) = match upper.strip_suffix(" WITH GRANT OPTION") {
            Some(name) => (name, held.grantable()),
            None => (upper.as_str(), held),
        };
        if !known.contains(&name) {
            let message = format!("unrecognized privilege type: \"{}\"", asked.trim());
            return Err(Error::new(SqlState::InvalidParameterValue, message));
        }
        // A privilege that nobody can have is not held.
        found |= Privileges::named(name).is_some_and(|one| held.contains(one));
    }
    Ok(found)
}

/// `pg_has_role`. MEMBER asks whether a role may SET ROLE to another, USAGE whether it inherits the
/// other's privileges. Superusers are members of every role, and every role is a member of itself.
fn has_role(session: &dyn SessionContext, row: &Row<'_>) -> Result<Cell> {
    let scope = Scope::of(session);
    let position = row.count() - 2;
    let Some(member) = role(session, &scope, row, position)? else { return Ok(Cell::Null) };
    let of = match row.number(position) {
        Some(oid) => roles::name_of(&scope.catalog, oid),
        None => row.text(position).unwrap_or_default().to_owned(),
    };
    let access = Access::new(&scope.catalog, member.as_deref());
    let asked = row.text(row.count() - 1).unwrap_or_default().to_uppercase();
    let mut found = false;
    for one in asked.split(',') {
        found |= match one.trim().split(" WITH ").next() {
            Some("MEMBER") => access.is_superuser() || access.is_in(&of),
            Some("USAGE") => access.has_role(&of),
            _ => {
                let message = format!("unrecognized privilege type: \"{}\"", one.trim());
                return Err(Error::new(SqlState::InvalidParameterValue, message));
            }
        };
    }
    Ok(found.into())
}
