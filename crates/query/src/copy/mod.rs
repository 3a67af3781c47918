//! COPY between tables and files on the server, and between tables and the client.

pub(crate) mod client;
pub(crate) mod from;
mod options;
pub(crate) mod to;

use crate::dml::declared_column;
use catalog_views::pg_catalog::quote_ident;
use catalog_views::relation_names::find_named;
use catalog_views::search_path::SearchPath;
use parser::commands::RelationName;
use store::catalog::{Catalog, Relation, Table, TableId};
use values::error::{Error, Result, SqlState};

/// The copied columns of a table: the named ones; without names, all except hidden and
/// generated columns.
///
/// # Errors
/// 42703 if a named column does not exist; 42P10 if it is a generated column; 42701 if it is named twice.
fn copied_columns(table: &Table, named: &[String]) -> Result<Vec<usize>> {
    if named.is_empty() {
        let given = |index: &usize| {
            let column = &table.columns[*index];
            !column.hidden && column.generated.is_none()
        };
        return Ok((0..table.columns.len()).filter(given).collect());
    }
    let find = |name: &String| {
        let index = declared_column(table, name)?;
        let column = &table.columns[index];
        match column.generated {
            None => Ok(index),
            Some(_) => {
                let message = format!("column \"{}\" is a generated column", column.name);
                let error = Error::new(SqlState::InvalidColumnReference, message);
                Err(error.with_detail("Generated columns cannot be used in COPY."))
            }
        }
    };
    for (at, name) in named.iter().enumerate() {
        if named[..at].contains(name) {
            let message = format!("column \"{name}\" specified more than once");
            return Err(Error::new(SqlState::DuplicateColumn, message));
        }
    }
    named.iter().map(find).collect()
}

/// Refuses COPY FROM into a view.
///
/// # Errors
/// 42809; 0A000 for a view with triggers that fire instead.
fn refuse_view(catalog: &Catalog, path: SearchPath<'_>, name: &RelationName) -> Result<()> {
    let Some(Relation::View(view)) = find_named(catalog, path, name)? else { return Ok(()) };
    if catalog.triggers_of(TableId(view.id.0)).iter().any(|trigger| trigger.is_instead) {
        let message = format!("COPY to the view \"{}\" with triggers is not supported", view.name);
        return Err(Error::unsupported(message));
    }
    let message = format!("cannot copy to view \"{}\"", view.name);
    let hint = "To enable copying to a view, provide an INSTEAD OF INSERT trigger.";
    Err(Error::new(SqlState::WrongObjectType, message).with_hint(hint))
}

/// The text of the query for the contents of a relation, as copied by COPY relation TO.
fn query_of(
    catalog: &Catalog,
    path: SearchPath<'_>,
    name: &RelationName,
    named: &[String],
) -> Result<String> {
    let columns: Vec<String> = match find_named(catalog, path, name)? {
        Some(Relation::Table(table)) => {
            let columns = copied_columns(table, named)?.into_iter();
            columns.map(|index| quote_ident(&table.columns[index].name)).collect()
        }
        Some(Relation::View(view)) => {
            let message = format!("cannot copy from view \"{}\"", view.name);
            let error = Error::new(SqlState::WrongObjectType, message);
            return Err(error.with_hint("Try the COPY (SELECT ...) TO variant."));
        }
        Some(Relation::Sequence(sequence)) => {
            let message = format!("cannot copy from sequence \"{}\"", sequence.name);
            return Err(Error::new(SqlState::WrongObjectType, message));
        }
        _ if named.is_empty() => vec!["*".to_owned()],
        _ => named.iter().map(|name| quote_ident(name)).collect(),
    };
    let schema = name.schema.iter().map(|schema| format!("{}.", quote_ident(schema)));
    let name = schema.chain([quote_ident(&name.name)]).collect::<String>();
    Ok(format!("SELECT {} FROM {name}", columns.join(", ")))
}
