//! Who sees and may do what.

use super::super::row_function::{Row, function};
use super::Sight;
use crate::session::Names;
use crate::system::pg_catalog::world::{Class, SYSTEM_SCHEMAS};
use crate::system::pg_catalog::{oids, roles};
use crate::system::rows::Cell;
use crate::system::shape::Form;
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use store::catalog::{DEFAULT_SCHEMA, Privileges, Role};

/// Objects that everybody may use.
const FREE: [&str; 7] = [
    "has_database_privilege",
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
pub(super) fn all(names: &Arc<Names>) -> Vec<ScalarUDF> {
    let mut all = Vec::new();
    let of_relations =
        ["has_table_privilege", "has_any_column_privilege", "has_sequence_privilege"];
    for name in of_relations {
        let names = Arc::clone(names);
        all.push(function(name, 2..=3, Form::Flag, move |row| {
            Ok(relation(&names, row, row.count() - 2).into())
        }));
    }
    let of = Arc::clone(names);
    all.push(function("has_column_privilege", 3..=4, Form::Flag, move |row| {
        Ok(relation(&of, row, row.count() - 3).into())
    }));
    let of = Arc::clone(names);
    all.push(function("has_schema_privilege", 2..=3, Form::Flag, move |row| {
        Ok(schema(&of, row, row.count() - 2).into())
    }));
    for name in FREE {
        all.push(function(name, 2..=3, Form::Flag, |row| {
            Ok(row.text(row.count() - 2).map(|_| true).into())
        }));
    }
    for name in VISIBLE {
        all.push(function(name, 1..=1, Form::Flag, |row| Ok(row.number(0).map(|_| true).into())));
    }
    let of = Arc::clone(names);
    all.push(function("pg_table_is_visible", 1..=1, Form::Flag, move |row| {
        let sight = Sight::of(&of);
        let class = sight.class(row, 0);
        Ok(class.map(|class| class.is_visible(&sight.catalog, &sight.search_path)).into())
    }));
    let of = Arc::clone(names);
    all.push(function("pg_has_role", 2..=3, Form::Flag, move |row| Ok(has_role(&of, row))));
    let of = Arc::clone(names);
    all.push(function("pg_get_userbyid", 1..=1, Form::Text, move |row| {
        Ok(row.number(0).map(|oid| roles::name_of(&of.catalog.load(), oid)).into())
    }));
    all.push(function("row_security_active", 1..=1, Form::Flag, |_| Ok(false.into())));
    all
}

/// Whom a question is about: the role in front of `position`, else the session's own.
fn role(names: &Names, sight: &Sight, row: &Row<'_>, position: usize) -> Option<Arc<Role>> {
    let name = match position {
        0 => names.user.load().as_str().to_owned(),
        _ => match row.number(0) {
            Some(oid) => roles::name_of(&sight.catalog, oid),
            None => row.text(0)?.to_owned(),
        },
    };
    match sight.catalog.role(&name) {
        Some(role) => Some(Arc::clone(role)),
        None if name == roles::OWNER_NAME || sight.catalog.roles().len() == 0 => {
            Some(Arc::new(Role { superuser: true, ..Role::new(name) }))
        }
        None => None,
    }
}

/// Whether a role may do one of the things that are asked for with a relation; `None` where there is no such
/// relation or role.
fn relation(names: &Names, row: &Row<'_>, position: usize) -> Option<bool> {
    let sight = Sight::of(names);
    let role = role(names, &sight, row, position)?;
    let class = sight.class(row, position)?;
    let asked = asked(row.text(row.count() - 1)?);
    let granted = match class {
        _ if role.superuser => return Some(true),
        Class::System(_) => Privileges::SELECT,
        Class::Relation(relation) => {
            role.relations.get(&relation.id()).copied().unwrap_or_default()
        }
        Class::KeyIndex(table) => {
            role.relations.get(&table.id.relation()).copied().unwrap_or_default()
        }
    };
    let owner = granted.contains(Privileges::OWNER);
    Some(owner || asked.into_iter().any(|one| granted.contains(one)))
}

fn schema(names: &Names, row: &Row<'_>, position: usize) -> Option<bool> {
    let sight = Sight::of(names);
    let role = role(names, &sight, row, position)?;
    if role.superuser {
        return Some(true);
    }
    let own = sight.catalog.schemas().map(|schema| schema.name.as_str());
    let mut all = own.chain(SYSTEM_SCHEMAS);
    let name = match row.number(position) {
        Some(oid) => all.find(|name| oids::schema(name) == oid)?,
        None => all.find(|name| Some(*name) == row.text(position))?,
    };
    let open = name == DEFAULT_SCHEMA || SYSTEM_SCHEMAS.contains(&name);
    let granted = role.schemas.get(name).copied().unwrap_or_default();
    let granted = if open { granted.union(Privileges::USAGE) } else { granted };
    Some(asked(row.text(row.count() - 1)?).into_iter().any(|one| granted.contains(one)))
}

/// The privileges that a text such as `SELECT, INSERT WITH GRANT OPTION` names.
fn asked(text: &str) -> Vec<Privileges> {
    let one = |name: &str| match name.trim().trim_end_matches(" WITH GRANT OPTION") {
        "SELECT" => Some(Privileges::SELECT),
        "INSERT" => Some(Privileges::INSERT),
        "UPDATE" => Some(Privileges::UPDATE),
        "DELETE" => Some(Privileges::DELETE),
        "TRUNCATE" => Some(Privileges::TRUNCATE),
        "USAGE" => Some(Privileges::USAGE),
        "CREATE" => Some(Privileges::CREATE),
        _ => None,
    };
    text.to_uppercase().split(',').filter_map(one).collect()
}

/// Superusers are members of every role, everybody of one's own.
fn has_role(names: &Names, row: &Row<'_>) -> Cell {
    let sight = Sight::of(names);
    let position = row.count() - 2;
    let Some(member) = role(names, &sight, row, position) else { return Cell::Null };
    let of = match row.number(position) {
        Some(oid) => roles::name_of(&sight.catalog, oid),
        None => row.text(position).unwrap_or_default().to_owned(),
    };
    (member.superuser || member.name == of).into()
}
