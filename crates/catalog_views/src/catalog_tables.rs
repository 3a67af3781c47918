//! The tables of a catalog, and their columns with their attribute numbers.

use std::sync::Arc;
use store::catalog::{
    Catalog, Column, Index, IndexColumn, IndexExpression, Relation, SqlType, Table,
};

/// The tables of a catalog.
pub(crate) fn tables(catalog: &Catalog) -> impl Iterator<Item = &Arc<Table>> {
    catalog.relations().filter_map(|relation| match relation {
        Relation::Table(table) => Some(table),
        Relation::View(_) | Relation::Sequence(_) | Relation::Index(_) => None,
    })
}

/// The declared columns with their attribute numbers, which start at 1. A generated primary key has
/// no number.
pub fn declared(table: &Table) -> impl Iterator<Item = (i64, &Column)> {
    (1..).zip(table.columns.iter().filter(|column| !column.hidden))
}

/// The indexes of a catalog, with their tables.
pub(crate) fn indexes(catalog: &Catalog) -> impl Iterator<Item = (&Arc<Index>, &Arc<Table>)> {
    let indexes = catalog.relations().filter_map(|relation| match relation {
        Relation::Index(index) => Some(index),
        Relation::Table(_) | Relation::View(_) | Relation::Sequence(_) => None,
    });
    indexes.filter_map(|index| Some((index, catalog.table_by_id(index.table)?)))
}

/// The attribute numbers of the columns of an index, those of INCLUDE last; 0 for an expression.
pub(crate) fn index_numbers(index: &Index, table: &Table) -> Vec<i64> {
    let number = |id| declared(table).find(|(_, column)| column.id == id).map(|(number, _)| number);
    let keys = index.columns.iter().map(|column| column.key.column().and_then(number).unwrap_or(0));
    keys.chain(index.included.iter().filter_map(|id| number(*id))).collect()
}

/// A column of an index.
pub(crate) struct IndexPart<'a> {
    /// Its name among the columns of the index.
    pub(crate) name: String,
    /// The column of the table; `None` for an expression.
    pub(crate) column: Option<&'a Column>,
    /// The expression.
    pub(crate) expression: Option<&'a IndexExpression>,
    pub(crate) sql_type: &'a SqlType,
    /// The order; `None` for a column of INCLUDE.
    pub(crate) order: Option<&'a IndexColumn>,
}

/// The columns of an index, in its order, those of INCLUDE last.
pub(crate) fn index_parts<'a>(index: &'a Index, table: &'a Table) -> Vec<IndexPart<'a>> {
    let key = |of: &'a IndexColumn| (of.key.column(), of.key.expression(), Some(of));
    let keys = index.columns.iter().map(key);
    let included = index.included.iter().map(|id| (Some(*id), None, None));
    let mut parts: Vec<IndexPart<'a>> = Vec::new();
    for ((id, expression, order), sql_type) in keys.chain(included).zip(all_types(index, table)) {
        let Some(sql_type) = sql_type else { continue };
        let column = id.and_then(|id| Some(&table.columns[table.position(id)?]));
        let name = expression.map(|expression| expression.name.clone());
        let name = name.or_else(|| column.map(|column| column.name.clone())).unwrap_or_default();
        let is_taken = |name: &String| parts.iter().any(|part| part.name == *name);
        let numbered = (1..).map(|number| format!("{name}{number}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        let name = names.find(|name| !is_taken(name)).unwrap_or_default();
        parts.push(IndexPart { name, column, expression, sql_type, order });
    }
    parts
}

fn all_types<'a>(index: &'a Index, table: &'a Table) -> impl Iterator<Item = Option<&'a SqlType>> {
    let included = index.included.iter();
    index.types(table).chain(included.map(|id| Some(&table.columns[table.position(*id)?].sql_type)))
}

/// The attribute numbers of the primary key, in key order.
pub(crate) fn key_numbers(table: &Table) -> Vec<i64> {
    let number = |id| declared(table).find(|(_, column)| column.id == id).map(|(number, _)| number);
    table.key.iter().filter_map(|id| number(*id)).collect()
}

/// The columns of the primary key, in key order.
pub(crate) fn key_columns(table: &Table) -> Vec<&Column> {
    table.key_indices().into_iter().map(|index| &table.columns[index]).collect()
}
