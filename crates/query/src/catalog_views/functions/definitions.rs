//! Objects written back as SQL: format_type, pg_get_constraintdef and their relatives.

use super::Sight;
use crate::catalog_views::pg_catalog::world::{Class, key_columns, tables};
use crate::catalog_views::pg_catalog::{
    check_definition, definitions, key_definition, oids, quote_ident, type_catalog,
};
use crate::catalog_views::session_context::SessionContext;
use crate::functions::row_function::{Row, function};
use crate::values::cells::Cell;
use crate::values::cells::Form;
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use store::catalog::{Relation, Table};

/// The functions.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let of_catalog =
        |name, arguments, body: fn(&Sight, &Row<'_>) -> Option<String>| {
            let session = Arc::clone(session);
            function(name, arguments, Form::Text, move |row| {
                Ok(body(&Sight::of(&*session), row).into())
            })
        };
    let never = |name, arguments| function(name, arguments, Form::Text, |_| Ok(Cell::Null));
    vec![
        of_catalog("format_type", 2..=2, |_, row| {
            Some(type_catalog::format(row.number(0)?, row.number(1)))
        }),
        of_catalog("pg_get_expr", 2..=3, |_, row| Some(definitions::default(row.text(0)?))),
        of_catalog("pg_get_indexdef", 1..=3, index),
        of_catalog("pg_get_constraintdef", 1..=2, constraint),
        of_catalog("pg_get_viewdef", 1..=2, view),
        of_catalog("pg_get_ruledef", 1..=2, rule),
        of_catalog("pg_get_serial_sequence", 2..=2, serial_sequence),
        never("pg_get_triggerdef", 1..=2),
        never("pg_get_partkeydef", 1..=1),
        never("pg_get_partition_constraintdef", 1..=1),
        never("pg_get_statisticsobjdef_columns", 1..=1),
        never("pg_get_statisticsobjdef", 1..=1),
    ]
}

/// The index of an id, or one of its columns where the second argument names it by number.
fn index(sight: &Sight, row: &Row<'_>) -> Option<String> {
    let Class::KeyIndex(table) = sight.class(row, 0)? else { return None };
    match row.number(1) {
        None | Some(0) => {
            // Made pretty, the table's name has its schema only where the search path does not lead there.
            let bare = row.flag(2) == Some(true)
                && Class::KeyIndex(table).is_visible(&sight.catalog, sight.path());
            Some(definitions::key_index(table, !bare))
        }
        Some(number) => {
            let columns = key_columns(table);
            let column = columns.get(usize::try_from(number).ok()?.checked_sub(1)?)?;
            Some(quote_ident(&column.name))
        }
    }
}

fn constraint(sight: &Sight, row: &Row<'_>) -> Option<String> {
    let oid = row.number(0)?;
    if let Some(table) = oids::table_of_key(oid) {
        return match sight.catalog.relation_by_id(table)? {
            Relation::Table(table) => Some(key_definition(table)),
            Relation::View(_) | Relation::Sequence(_) => None,
        };
    }
    let of_table = |table: &Arc<Table>| {
        let id = table.id.relation();
        let check = table.checks.iter().find(|check| oids::check(id, &check.name) == oid);
        check.map(|check| check_definition(check, row.flag(1) == Some(true)))
    };
    tables(&sight.catalog).find_map(of_table)
}

fn view(sight: &Sight, row: &Row<'_>) -> Option<String> {
    match sight.class(row, 0)? {
        Class::Relation(Relation::View(view)) => Some(definitions::view(view)),
        _ => None,
    }
}

fn rule(sight: &Sight, row: &Row<'_>) -> Option<String> {
    let oid = row.number(0)?;
    sight.catalog.relations().find_map(|relation| match relation {
        Relation::View(view) if oids::default(view.id, u32::MAX) == oid => {
            let name = format!("{}.{}", quote_ident(&view.schema), quote_ident(&view.name));
            Some(format!("CREATE RULE \"_RETURN\" AS ON SELECT TO {name} DO INSTEAD {};", view.sql))
        }
        _ => None,
    })
}

/// The sequence that a column owns.
fn serial_sequence(sight: &Sight, row: &Row<'_>) -> Option<String> {
    let Class::Relation(Relation::Table(table)) = sight.class(row, 0)? else { return None };
    let (_, column) = table.column(row.text(1)?)?;
    sight.catalog.relations().find_map(|relation| match relation {
        Relation::Sequence(sequence) if sequence.owned_by == Some((table.id, column.id)) => {
            Some(format!("{}.{}", quote_ident(&sequence.schema), quote_ident(&sequence.name)))
        }
        _ => None,
    })
}
