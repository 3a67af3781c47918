//! The columns of indexes and primary keys, in their order.

use store::catalog::{Column, Index, IndexColumn, IndexExpression, SqlType, Table};

/// A column of an index.
pub struct IndexPart<'a> {
    /// Its name among the columns of the index.
    pub name: String,
    /// The column of the table; `None` for an expression.
    pub column: Option<&'a Column>,
    /// The expression.
    pub expression: Option<&'a IndexExpression>,
    /// The type.
    pub sql_type: &'a SqlType,
    /// The order; `None` for a column of INCLUDE.
    pub order: Option<&'a IndexColumn>,
}

/// The columns of an index, in its order, those of INCLUDE last.
pub fn index_parts<'a>(index: &'a Index, table: &'a Table) -> Vec<IndexPart<'a>> {
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

/// The columns of the primary key, in key order.
pub fn key_columns(table: &Table) -> Vec<&Column> {
    table.key_indices().into_iter().map(|index| &table.columns[index]).collect()
}
