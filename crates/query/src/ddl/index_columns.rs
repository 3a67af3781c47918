//! What happens to indexes when columns of their table change.

use super::index::{self, drop};
use crate::context::Frame;
use catalog_views::pg_catalog::quote_ident;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    CatalogChange, ColumnId, Index, IndexColumn, IndexExpression, IndexKey, Relation, TableId,
};
use table_rows::generated::renamed;
use values::error::Result;

/// Drops the indexes with a column that their table does not have any more.
pub(super) fn follow_columns(
    transaction: &mut DistributedTransaction,
    table: TableId,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let Some(table) = catalog.table_by_id(table) else { return Ok(()) };
    for index in catalog.indexes_of(table.id) {
        let mut columns = index.inputs().chain(index.included.iter().copied());
        if columns.any(|column| table.position(column).is_none()) {
            drop(transaction, index)?;
        }
    }
    Ok(())
}

/// Makes the indexes of a table follow a column that was replaced by another one. They must have no
/// entries.
///
/// # Errors
/// What is wrong with an expression for the new type; as of CREATE INDEX.
pub(super) fn follow_type(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: TableId,
    (old, new): (ColumnId, ColumnId),
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let Some(of) = catalog.table_by_id(table) else { return Ok(()) };
    let followed = |id: ColumnId| if id == old { new } else { id };
    change(transaction, table, |transaction, index| {
        let planner = frame.planner(transaction);
        for column in &mut index.columns {
            let is_other = match &mut column.key {
                IndexKey::Column(id) if *id == old => {
                    *id = new;
                    true
                }
                IndexKey::Expression(expression) if expression.columns.contains(&old) => {
                    *expression = index::planned_key(&planner, of, expression)?;
                    true
                }
                _ => false,
            };
            if is_other {
                index::require_order_of(of, column)?;
            }
        }
        index.included.iter_mut().for_each(|id| *id = followed(*id));
        if let Some(predicate) = &mut index.predicate
            && predicate.columns.contains(&old)
        {
            *predicate = index::planned_predicate(&planner, of, &predicate.text)?;
        }
        Ok(())
    })
}

/// Makes the indexes of a table follow the new name of a column.
pub(super) fn follow_name(
    transaction: &mut DistributedTransaction,
    table: TableId,
    (column, old, new): (ColumnId, &str, &str),
) -> Result<()> {
    let quoted = quote_ident(new);
    change(transaction, table, |_, index| {
        let keys =
            index.columns.iter_mut().filter_map(|column: &mut IndexColumn| match &mut column.key {
                IndexKey::Expression(expression) => Some(expression),
                IndexKey::Column(_) => None,
            });
        let expressions = keys.chain(&mut index.predicate);
        for expression in expressions.filter(|expression| expression.columns.contains(&column)) {
            let text = renamed(&expression.text, old, &quoted)?;
            let shown = renamed(&expression.shown, old, &quoted)?;
            *expression = IndexExpression { text, shown, ..expression.clone() };
        }
        Ok(())
    })
}

/// Changes the definitions of the indexes of a table.
fn change(
    transaction: &mut DistributedTransaction,
    table: TableId,
    mut change: impl FnMut(&DistributedTransaction, &mut Index) -> Result<()>,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    for index in catalog.indexes_of(table) {
        let mut next = Index::clone(index);
        change(transaction, &mut next)?;
        let is_same = next.columns == index.columns
            && next.included == index.included
            && next.predicate == index.predicate;
        if !is_same {
            transaction.change_catalog(CatalogChange::Replace(Relation::Index(Arc::new(next))))?;
        }
    }
    Ok(())
}
