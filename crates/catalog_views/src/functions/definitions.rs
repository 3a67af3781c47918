//! `format_type`, `pg_get_constraintdef`, `pg_get_viewdef` and similar functions: definitions as
//! SQL text.

use super::Scope;
use crate::catalog_tables::tables;
use crate::pg_catalog::class::Class;
use crate::pg_catalog::{constraints, oids, quote_ident, type_catalog, user_types};
use crate::session_context::SessionContext;
use datafusion::arrow::array::AsArray;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::logical_expr::ScalarUDF;
use deparse::index_parts::{index_parts, key_columns};
use deparse::{definitions, triggers};
use functions::row_function::{Row, function};
use std::sync::Arc;
use store::catalog::{DEFAULT_SCHEMA, Relation, Table, UserType, View};
use values::cells::Cell;
use values::cells::Form;

/// The functions.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let definition =
        |name, arguments, body: fn(&Scope, &Row<'_>) -> Option<String>| {
            let session = Arc::clone(session);
            function(name, arguments, Form::Text, move |row| {
                Ok(body(&Scope::of(&*session), row).into())
            })
        };
    // Of objects that do not exist here.
    let null = |name, arguments| function(name, arguments, Form::Text, |_| Ok(Cell::Null));
    vec![
        definition("format_type", 2..=2, |scope, row| {
            Some(type_name(scope, row.number(0)?, row.number(1)))
        }),
        definition("oidvectortypes", 1..=1, |scope, row| {
            let types = cast(&row.list(0)?, &DataType::Int64).ok()?;
            let types = types.as_primitive::<Int64Type>().iter().flatten();
            let name = |oid| type_name(scope, oid, None);
            let names: Vec<String> = types.map(name).collect();
            Some(names.join(", "))
        }),
        definition("pg_get_expr", 2..=3, |scope, row| Some(expression(scope, row, row.text(0)?))),
        definition("pg_get_indexdef", 1..=3, index),
        definition("pg_get_constraintdef", 1..=2, constraint),
        definition("pg_get_viewdef", 1..=2, view),
        definition("pg_get_ruledef", 1..=2, rule),
        definition("pg_get_serial_sequence", 2..=2, serial_sequence),
        definition("pg_get_triggerdef", 1..=2, trigger),
        null("pg_get_partkeydef", 1..=1),
        null("pg_get_partition_constraintdef", 1..=1),
        null("pg_get_statisticsobjdef_columns", 1..=1),
        null("pg_get_statisticsobjdef", 1..=1),
    ]
}

/// `format_type`.
fn type_name(scope: &Scope, oid: i64, modifier: Option<i64>) -> String {
    let of_users = user_types::format(&scope.catalog, scope.path(), oid);
    of_users.unwrap_or_else(|| type_catalog::format(oid, modifier))
}

/// `pg_get_indexdef`: an index, or one of its columns if the second argument is a column number.
fn index(scope: &Scope, row: &Row<'_>) -> Option<String> {
    let class = scope.class(row, 0)?;
    let (table, index) = match class {
        Class::KeyIndex(table) => (table, None),
        Class::Relation(Relation::Index(index)) => {
            (scope.catalog.table_by_id(index.table)?, Some(index))
        }
        Class::Relation(_) | Class::System(_) | Class::Composite(_) => return None,
    };
    match row.number(1) {
        None | Some(0) => {
            // Pretty-printed, the table has a schema only if it is not in the search path.
            let bare = row.flag(2) == Some(true) && class.is_visible(&scope.catalog, scope.path());
            Some(match index {
                Some(index) => definitions::index(index, table, !bare, row.flag(2) == Some(true)),
                None => definitions::key_index(table, !bare),
            })
        }
        Some(number) => {
            let names: Vec<String> = match index {
                Some(index) => {
                    let (parts, pretty) = (index_parts(index, table), row.flag(2) == Some(true));
                    parts.iter().map(|part| definitions::part(part, pretty)).collect()
                }
                None => key_columns(table).iter().map(|of| quote_ident(&of.name)).collect(),
            };
            names.get(usize::try_from(number).ok()?.checked_sub(1)?).cloned()
        }
    }
}

/// `pg_get_constraintdef`.
fn constraint(scope: &Scope, row: &Row<'_>) -> Option<String> {
    let oid = row.number(0)?;
    if let Some(table) = oids::table_of_key(oid) {
        return match scope.catalog.relation_by_id(table)? {
            Relation::Table(table) => Some(definitions::key(table)),
            Relation::View(_) | Relation::Sequence(_) | Relation::Index(_) => None,
        };
    }
    let of_table = |table: &Arc<Table>| {
        let id = table.id.relation();
        let check = table.checks.iter().find(|check| oids::check(id, &check.name) == oid);
        let check = check.map(|check| definitions::check(check, row.flag(1) == Some(true)));
        let unique = || {
            let all = scope.catalog.indexes_of(table.id).iter().filter(|i| i.is_constraint);
            let mut found = all.filter(|index| oids::check(id, &index.file.name) == oid);
            found.next().map(|index| definitions::unique(index, table))
        };
        let foreign = || {
            let key = table.foreign_keys.iter().find(|key| oids::check(id, &key.name) == oid)?;
            let referenced = scope.catalog.table_by_id(key.references)?;
            let name = scope.shown_name(referenced.id.relation())?;
            Some(definitions::foreign_key(key, table, referenced, &name))
        };
        check.or_else(unique).or_else(foreign)
    };
    let of_domain = |user: &Arc<UserType>| {
        let mut checks = user.domain()?.checks.iter();
        let check = checks.find(|check| constraints::domain_check(user, &check.name) == oid)?;
        Some(definitions::domain_check(check, row.flag(1) == Some(true)))
    };
    let found = tables(&scope.catalog).find_map(of_table);
    found.or_else(|| scope.catalog.user_types().find_map(of_domain))
}

/// `pg_get_expr`: the sequence of a default has its schema if the name alone does not find it, and an expression has few
/// parentheses if the third argument is true.
fn expression(scope: &Scope, row: &Row<'_>, text: &str) -> String {
    let sequence = || {
        let inner = text.strip_prefix("nextval('")?;
        let inner = inner.strip_suffix("')").or_else(|| inner.strip_suffix("'::regclass)"))?;
        let name = parser::object_name(&inner.replace("''", "'")).ok()?;
        if let Some(schema) = &name.schema {
            return scope.catalog.relation(schema, &name.name);
        }
        let of_table = scope.class(row, 1).map(Class::schema);
        let mut schemas = scope.path().schemas().chain(of_table).chain([DEFAULT_SCHEMA]);
        schemas.find_map(|schema| scope.catalog.relation(schema, &name.name))
    };
    match sequence() {
        Some(sequence) => {
            let name = shown(scope, Class::Relation(sequence));
            format!("nextval('{}'::regclass)", name.replace('\'', "''"))
        }
        // What begins otherwise has no parentheses around it.
        None if row.flag(2) == Some(true) && text.starts_with('(') => {
            let short = definitions::shortened(text);
            match scope.class(row, 1) {
                Some(_) => short,
                None => definitions::of_domain(&short),
            }
        }
        None => text.to_owned(),
    }
}

/// The name of a relation, with its schema if the name alone does not find it.
fn shown(scope: &Scope, class: Class<'_>) -> String {
    let name = quote_ident(&class.name());
    if class.is_visible(&scope.catalog, scope.path()) {
        return name;
    }
    format!("{}.{name}", quote_ident(class.schema()))
}

/// `pg_get_viewdef`.
fn view(scope: &Scope, row: &Row<'_>) -> Option<String> {
    match scope.class(row, 0)? {
        Class::Relation(Relation::View(view)) => Some(format!(" {};", query_of(scope, view))),
        Class::Relation(Relation::Table(table)) => {
            Some(format!(" {};", query_of(scope, &table.as_view()?)))
        }
        _ => None,
    }
}

/// The query of a view. Relations that their names alone do not find have their schemas.
fn query_of(scope: &Scope, view: &View) -> String {
    let path = scope.path().of_view(&view.search_path);
    let schema_of = |name: &str| {
        let found = Class::by_name(&scope.catalog, path, None, name)?;
        let is_visible = found.is_visible(&scope.catalog, scope.path());
        (!is_visible).then(|| quote_ident(found.schema()))
    };
    let sql = match view.columns.is_empty() {
        true => None,
        false => grammar::with_column_names(&view.sql, &view.columns),
    };
    let sql = sql.as_ref().unwrap_or(&view.sql);
    let schema_of_type =
        |name: &str| user_types::hidden_schema(&scope.catalog, (path, scope.path()), name);
    grammar::with_schemas(sql, schema_of, schema_of_type).unwrap_or_else(|| sql.clone())
}

/// `pg_get_ruledef`: the rule of a view or a materialized view.
fn rule(scope: &Scope, row: &Row<'_>) -> Option<String> {
    let oid = row.number(0)?;
    let shown = |view: &View| {
        let name = format!("{}.{}", quote_ident(&view.schema), quote_ident(&view.name));
        format!("CREATE RULE \"_RETURN\" AS ON SELECT TO {name} DO INSTEAD {};", view.sql)
    };
    let found = scope.catalog.relations().find(|of| oids::default(of.id(), u32::MAX) == oid)?;
    match found {
        Relation::View(view) => Some(shown(view)),
        Relation::Table(table) => table.as_view().map(|view| shown(&view)),
        Relation::Sequence(_) | Relation::Index(_) => None,
    }
}

/// `pg_get_triggerdef`. Pretty-printed, the table has a schema only if it is not in the search path.
fn trigger(scope: &Scope, row: &Row<'_>) -> Option<String> {
    let (oid, pretty) = (row.number(0)?, row.flag(1) == Some(true));
    let mut all = scope.catalog.triggers();
    let trigger = all.find(|trigger| oids::relation(trigger.id) == oid)?;
    let on = triggers::relation(&scope.catalog, trigger)?;
    let name = match pretty {
        true => scope.shown_name(on.id())?,
        false => format!("{}.{}", quote_ident(on.schema()), quote_ident(on.name())),
    };
    let action = triggers::action(&scope.catalog, scope.path().of_functions(), trigger);
    Some(triggers::definition(&scope.catalog, trigger, (&name, &action), pretty))
}

/// `pg_get_serial_sequence`: the sequence that a column owns.
fn serial_sequence(scope: &Scope, row: &Row<'_>) -> Option<String> {
    let Class::Relation(Relation::Table(table)) = scope.class(row, 0)? else { return None };
    let (_, column) = table.column(row.text(1)?)?;
    scope.catalog.relations().find_map(|relation| match relation {
        Relation::Sequence(sequence) if sequence.owned_by == Some((table.id, column.id)) => {
            Some(format!("{}.{}", quote_ident(&sequence.schema), quote_ident(&sequence.name)))
        }
        _ => None,
    })
}
