//! Who sees and may do what.

use super::Sight;
use crate::catalog_views::access::Access;
use crate::catalog_views::pg_catalog::world::{Class, SYSTEM_SCHEMAS};
use crate::catalog_views::pg_catalog::{oids, roles};
use crate::catalog_views::session_context::SessionContext;
use crate::functions::row_function::{Row, function};
use crate::values::cells::Cell;
use crate::values::cells::Form;
use crate::values::error::{Error, Result, SqlState};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use store::catalog::{Object, PUBLIC, Privileges};

/// Objects that everybody may use.
const FREE: [&str; 6] = [
    "has_function_privilege",
    "has_type_privilege",
    "has_language_privilege",
    "has_tablespace_privilege",
    "has_foreign_data_wrapper_privilege",
    "has_server_privilege",
];

/// Objects that are all in `pg_catalog`, and so always found by their bare name.
const VISIBLE: [&str; 12] = [
    "pg_type_is_visible",
    "pg_function_is_visible",
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
    let of_relations =
        ["has_table_privilege", "has_any_column_privilege", "has_sequence_privilege"];
    for name in of_relations {
        let session = Arc::clone(session);
        all.push(function(name, 2..=3, Form::Flag, move |row| {
            Ok(relation(&*session, row, row.count() - 2)?.into())
        }));
    }
    let of = Arc::clone(session);
    all.push(function("has_column_privilege", 3..=4, Form::Flag, move |row| {
        Ok(relation(&*of, row, row.count() - 3)?.into())
    }));
    let of = Arc::clone(session);
    all.push(function("has_schema_privilege", 2..=3, Form::Flag, move |row| {
        Ok(schema(&*of, row, row.count() - 2)?.into())
    }));
    let of = Arc::clone(session);
    all.push(function("has_database_privilege", 2..=3, Form::Flag, move |row| {
        Ok(database(&*of, row, row.count() - 2)?.into())
    }));
    for name in FREE {
        all.push(function(name, 2..=3, Form::Flag, |row| {
            Ok(row.text(row.count() - 2).map(|_| true).into())
        }));
    }
    for name in VISIBLE {
        all.push(function(name, 1..=1, Form::Flag, |row| Ok(row.number(0).map(|_| true).into())));
    }
    let of = Arc::clone(session);
    all.push(function("pg_table_is_visible", 1..=1, Form::Flag, move |row| {
        let sight = Sight::of(&*of);
        let class = sight.class(row, 0);
        Ok(class.map(|class| class.is_visible(&sight.catalog, sight.path())).into())
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

/// Whom a question is about: the role in front of `position`, else the session's own. `Some(None)` may do
/// everything; `None` is nobody: ids of roles that are gone are no error, as names are.
fn role(
    session: &dyn SessionContext,
    sight: &Sight,
    row: &Row<'_>,
    position: usize,
) -> Result<Option<Option<String>>> {
    if position == 0 {
        return Ok(Some(session.role().map(|role| role.to_string())));
    }
    let name = match (row.number(0), row.text(0)) {
        (Some(oid), _) => roles::name_of(&sight.catalog, oid),
        (None, Some(name)) => name.to_owned(),
        (None, None) => return Ok(None),
    };
    match sight.catalog.role(&name) {
        Some(_) => Ok(Some(Some(name))),
        None if name == PUBLIC => Ok(Some(Some(name))),
        None if name == roles::OWNER_NAME || sight.catalog.roles().len() == 0 => Ok(Some(None)),
        None if row.number(0).is_some() => Ok(None),
        None => {
            let message = format!("role \"{name}\" does not exist");
            Err(Error::new(SqlState::UndefinedObject, message))
        }
    }
}

/// Whether a role may do one of the things that are asked for with a relation; `None` where there is no such
/// id.
fn relation(session: &dyn SessionContext, row: &Row<'_>, position: usize) -> Result<Option<bool>> {
    let sight = Sight::of(session);
    let Some(role) = role(session, &sight, row, position)? else { return Ok(None) };
    let Some(asked) = row.text(row.count() - 1) else { return Ok(None) };
    let access = Access::new(&sight.catalog, role.as_deref());
    let relation = match sight.class(row, position) {
        Some(Class::System(_)) => {
            let held = if access.is_superuser() { everything() } else { Privileges::SELECT };
            return any(held, asked).map(Some);
        }
        Some(Class::Relation(relation)) => relation.id(),
        Some(Class::KeyIndex(table)) => table.id.relation(),
        None => return missing(row, position, SqlState::UndefinedTable, "relation"),
    };
    any(access.privileges(&Object::Relation(relation)), asked).map(Some)
}

fn schema(session: &dyn SessionContext, row: &Row<'_>, position: usize) -> Result<Option<bool>> {
    let sight = Sight::of(session);
    let Some(role) = role(session, &sight, row, position)? else { return Ok(None) };
    let Some(asked) = row.text(row.count() - 1) else { return Ok(None) };
    let access = Access::new(&sight.catalog, role.as_deref());
    let own = sight.catalog.schemas().map(|schema| schema.name.as_str());
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
    any(held, asked).map(Some)
}

/// There is one database, to which everybody may connect; its name is not asked for.
fn database(session: &dyn SessionContext, row: &Row<'_>, position: usize) -> Result<Option<bool>> {
    let sight = Sight::of(session);
    let Some(role) = role(session, &sight, row, position)? else { return Ok(None) };
    let Some(asked) = row.text(row.count() - 1) else { return Ok(None) };
    let free = |name: &str| matches!(name.trim(), "CONNECT" | "TEMP" | "TEMPORARY");
    let asked = asked.to_uppercase();
    if asked.split(',').any(free) {
        return Ok(Some(true));
    }
    let access = Access::new(&sight.catalog, role.as_deref());
    any(access.privileges(&Object::Database), &asked).map(Some)
}

/// What a name is answered with that nothing has; an id that nothing has is nothing.
fn missing(row: &Row<'_>, position: usize, state: SqlState, kind: &str) -> Result<Option<bool>> {
    match (row.number(position), row.text(position)) {
        (None, Some(name)) => Err(Error::new(state, format!("{kind} \"{name}\" does not exist"))),
        _ => Ok(None),
    }
}

fn everything() -> Privileges {
    Privileges::ALL.union(Privileges::ALL.grant_option())
}

/// Whether one of the privileges is held that a text such as `SELECT, INSERT WITH GRANT OPTION` session.
fn any(held: Privileges, asked: &str) -> Result<bool> {
    let mut found = false;
    for asked in asked.split(',') {
        let upper = asked.trim().to_uppercase();
        let (name, held) = match upper.strip_suffix(" WITH GRANT OPTION") {
            Some(name) => (name, held.grantable()),
            None => (upper.as_str(), held),
        };
        let one = Privileges::named(name).ok_or_else(|| {
            let message = format!("unrecognized privilege type: \"{}\"", asked.trim());
            Error::new(SqlState::InvalidParameterValue, message)
        })?;
        found |= held.contains(one);
    }
    Ok(found)
}

/// Superusers are members of every role, everybody of one's own: MEMBER asks who may take on a role, USAGE who
/// has its rights already.
fn has_role(session: &dyn SessionContext, row: &Row<'_>) -> Result<Cell> {
    let sight = Sight::of(session);
    let position = row.count() - 2;
    let Some(member) = role(session, &sight, row, position)? else { return Ok(Cell::Null) };
    let of = match row.number(position) {
        Some(oid) => roles::name_of(&sight.catalog, oid),
        None => row.text(position).unwrap_or_default().to_owned(),
    };
    let access = Access::new(&sight.catalog, member.as_deref());
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
