//! COPY: files into tables, and queries into files.

pub(crate) mod client;
pub(crate) mod from;
mod options;
pub(crate) mod to;

use crate::catalog_views::pg_catalog::quote_ident;
use crate::catalog_views::relation_names::find;
use crate::catalog_views::search_path::SearchPath;
use crate::dml::declared_column;
use crate::parser::names::fold;
use crate::parser::parse_sql;
use crate::values::error::{Error, Result, SqlState};
use datafusion::sql::sqlparser::ast::{Ident, ObjectName, Query, Statement};
use store::catalog::{Catalog, Relation, Table};

/// The columns of a table that are copied: those that a statement names, or all that users give values for.
///
/// # Errors
/// 42703: there is no such column, 42P10: its values are computed.
fn copied(table: &Table, named: &[Ident]) -> Result<Vec<usize>> {
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

/// The query for what a COPY of a table gives.
fn query_of(
    catalog: &Catalog,
    path: SearchPath<'_>,
    name: &ObjectName,
    named: &[Ident],
) -> Result<Query> {
    let columns: Vec<String> = match find(catalog, path, name)? {
        Some(Relation::Table(table)) => {
            let columns = copied(table, named)?.into_iter();
            columns.map(|index| quote_ident(&table.columns[index].name)).collect()
        }
        _ if named.is_empty() => vec!["*".to_owned()],
        _ => named.iter().map(ToString::to_string).collect(),
    };
    match parse_sql(&format!("SELECT {} FROM {name}", columns.join(", ")))? {
        Statement::Query(query) => Ok(*query),
        _ => Err(Error::new(SqlState::SyntaxError, format!("{name} is no table"))),
    }
}
