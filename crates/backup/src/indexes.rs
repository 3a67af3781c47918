//! Indexes as the forms of a manifest, and back.

use crate::foreign_keys::timing;
use crate::manifest::{IndexColumnForm, IndexExpressionForm, IndexForm};
use crate::{Error, sql_types};
use std::sync::Arc;
use store::catalog::{
    Catalog, Column, ColumnId, Index, IndexColumn, IndexExpression, IndexKey, Table, TableId,
    Timing,
};

/// The form of an index.
pub(crate) fn form(catalog: &Catalog, table: &Table, index: &Index) -> Result<IndexForm, Error> {
    let expression = |of: &IndexExpression| expression_form(catalog, table, of);
    let column = |column: &IndexColumn| {
        let (name, expression) = match &column.key {
            IndexKey::Column(id) => (names(table, &[*id]).pop().unwrap_or_default(), None),
            IndexKey::Expression(of) => (String::new(), Some(expression(of)?)),
        };
        Ok(IndexColumnForm {
            name,
            expression,
            operator_class: column.operator_class.clone(),
            descending: column.descending,
            nulls_first: column.nulls_first,
        })
    };
    let predicate = index.predicate.as_ref();
    Ok(IndexForm {
        name: index.file.name.clone(),
        columns: index.columns.iter().map(column).collect::<Result<_, Error>>()?,
        included: names(table, &index.included),
        predicate: predicate.map(expression).transpose()?,
        is_unique: index.is_unique,
        nulls_equal: index.nulls_equal,
        is_constraint: index.is_constraint,
        is_hash: index.is_hash,
        is_deferrable: index.is_deferrable(),
        is_deferred: index.timing == Timing::InitiallyDeferred,
        is_primary: index.is_primary,
        comment: index.file.comment.clone(),
    })
}

fn expression_form(
    catalog: &Catalog,
    table: &Table,
    of: &IndexExpression,
) -> Result<IndexExpressionForm, Error> {
    let sql_type = sql_types::text(&of.sql_type, catalog).ok_or_else(|| {
        let message = format!("an index has a type that backups cannot hold: {}", of.sql_type);
        Error::Unsupported(message)
    })?;
    Ok(IndexExpressionForm {
        text: of.text.clone(),
        shown: of.shown.clone(),
        name: of.name.clone(),
        sql_type,
        columns: names(table, &of.columns),
    })
}

fn names(table: &Table, columns: &[ColumnId]) -> Vec<String> {
    let places = columns.iter().filter_map(|id| table.position(*id));
    places.map(|at| table.columns[at].name.clone()).collect()
}

/// The index of a form on a restored table; `None` if a column is missing, or a type is unknown.
pub(crate) fn index(
    form: &IndexForm,
    id: TableId,
    table: &Table,
    catalog: &Catalog,
) -> Option<Index> {
    let column = |form: &IndexColumnForm| {
        let key = match &form.expression {
            Some(form) => IndexKey::Expression(expression(form, table, catalog)?),
            None => IndexKey::Column(table.column(&form.name)?.1.id),
        };
        Some(IndexColumn {
            key,
            descending: form.descending,
            nulls_first: form.nulls_first,
            operator_class: form.operator_class.clone(),
        })
    };
    let columns = form.columns.iter().map(column).collect::<Option<Vec<_>>>()?;
    let predicate = match &form.predicate {
        Some(form) => Some(expression(form, table, catalog)?),
        None => None,
    };
    let new = Index::new(id, form.name.clone(), table, columns);
    let file = Table { comment: form.comment.clone(), ..Table::clone(&new.file) };
    Some(Index {
        file: Arc::new(file),
        included: ids(&form.included, table)?,
        predicate,
        is_unique: form.is_unique,
        nulls_equal: form.nulls_equal,
        is_constraint: form.is_constraint,
        is_primary: form.is_primary,
        is_hash: form.is_hash,
        timing: timing(form.is_deferrable, form.is_deferred),
        ..new
    })
}

fn expression(
    form: &IndexExpressionForm,
    table: &Table,
    catalog: &Catalog,
) -> Option<IndexExpression> {
    Some(IndexExpression {
        text: form.text.clone(),
        shown: form.shown.clone(),
        name: form.name.clone(),
        sql_type: sql_types::parse(&form.sql_type, catalog)?,
        columns: ids(&form.columns, table)?,
    })
}

fn ids(names: &[String], table: &Table) -> Option<Vec<ColumnId>> {
    let id = |column: (usize, &Column)| column.1.id;
    names.iter().map(|name| table.column(name).map(id)).collect()
}
