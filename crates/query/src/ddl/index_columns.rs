//! What happens to indexes when columns of their table change.

use super::generated::renamed;
use super::index::drop;
use catalog_views::pg_catalog::quote_ident;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    CatalogChange, ColumnId, Index, IndexColumn, IndexExpression, IndexKey, Relation, TableId,
};
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
pub(super) fn follow_type(
    transaction: &mut DistributedTransaction,
    table: TableId,
    (old, new): (ColumnId, ColumnId),
) -> Result<()> {
    let followed = |id: ColumnId| if id == old { new } else { id };
    change(transaction, table, |index| {
        for column in &mut index.columns {
            if let IndexKey::Column(id) = &mut column.key {
                *id = followed(*id);
            }
        }
        index.included.iter_mut().for_each(|id| *id = followed(*id));
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
    change(transaction, table, |index| {
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
    mut change: impl FnMut(&mut Index) -> Result<()>,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    for index in catalog.indexes_of(table) {
        let mut next = Index::clone(index);
        change(&mut next)?;
        let is_same = next.columns == index.columns
            && next.included == index.included
            && next.predicate == index.predicate;
        if !is_same {
            transaction.change_catalog(CatalogChange::Replace(Relation::Index(Arc::new(next))))?;
        }
    }
    Ok(())
}
