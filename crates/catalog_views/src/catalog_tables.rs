//! The tables of a catalog, and their columns with their attribute numbers.

use std::sync::Arc;
use store::catalog::{Catalog, Column, Index, Relation, Table};

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

/// The attribute numbers of what an index makes unique.
pub(crate) fn unique_numbers(index: &Index, table: &Table) -> Vec<i64> {
    let mut numbers = index_numbers(index, table);
    numbers.truncate(index.columns.len());
    numbers
}

/// The attribute numbers of the primary key, in key order.
pub(crate) fn key_numbers(table: &Table) -> Vec<i64> {
    let number = |id| declared(table).find(|(_, column)| column.id == id).map(|(number, _)| number);
    table.key.iter().filter_map(|id| number(*id)).collect()
}
