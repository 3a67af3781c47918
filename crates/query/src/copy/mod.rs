//! COPY between tables and files on the server, and between tables and the client.

pub(crate) mod client;
pub(crate) mod from;
mod options;
pub(crate) mod to;

use crate::dml::declared_column;
use catalog_views::pg_catalog::quote_ident;
use catalog_views::relation_names::find;
use catalog_views::search_path::SearchPath;
use datafusion::sql::sqlparser::ast::{Ident, ObjectName, Query, Statement};
use parser::names::fold;
use parser::parse_sql;
use store::catalog::{Catalog, Relation, Table};
use values::error::{Error, Result, SqlState};

/// The copied columns of a table: the named ones; without names, all except hidden and
/// generated columns.
///
/// # Errors
/// 42703 if a named column does not exist; 42P10 if it is a generated column.
fn copied_columns(table: &Table, named: &[Ident]) -> Result<Vec<usize>> {
    if named.is_empty() {
        let given = |index: &usize| {
            let column = &table.columns[*index];
            !column.hidden && column.generated.is_none()
        };
        return Ok((0..table.columns.len()).filter(given).collect());
    }
    let find = |name: &Ident| {
        let index = declared_column(table, &fold(name))?;
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
    named.iter().map(find).collect()
}

/// The query for the contents of a relation, as copied by COPY relation TO.
fn query_of(
    catalog: &Catalog,
    path: SearchPath<'_>,
    name: &ObjectName,
    named: &[Ident],
) -> Result<Query> {
    let columns: Vec<String> = match find(catalog, path, name)? {
        Some(Relation::Table(table)) => {
            let columns = copied_columns(table, named)?.into_iter();
            columns.map(|index| quote_ident(&table.columns[index].name)).collect()
        }
        _ if named.is_empty() => vec!["*".to_owned()],
        _ => named.iter().map(ToString::to_string).collect(),
    };
    match parse_sql(&format!("SELECT {} FROM {name}", columns.join(", ")))? {
        Statement::Query(query) => Ok(*query),
        _ => Err(Error::new(SqlState::SyntaxError, format!("\"{name}\" is not a table"))),
    }
}
