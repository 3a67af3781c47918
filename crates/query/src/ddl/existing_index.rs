//! ADD CONSTRAINT ... USING INDEX: an index becomes a UNIQUE constraint, or gives way to a primary key.

use super::index;
use super::primary_key;
use crate::context::Frame;
use integrity::names::refuse_taken;
use parser::commands::{ExistingIndex, PrimaryKey};
use parser::errors::at_byte;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Index, Relation, Table, TableId};
use values::error::{Error, Result, SqlState};

/// Adds the constraint to a table. The index gets its name.
///
/// # Errors
/// As of [`integrity::usable_index`]; 42P07 and 42710 for its name; for a primary key as of ADD PRIMARY KEY, and 0A000 for an
/// index that foreign keys refer to.
pub(super) async fn add(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    id: TableId,
    written: &ExistingIndex,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let Some(table) = catalog.table_by_id(id) else { return Ok(()) };
    let here = |error: Error| match usize::try_from(written.location) {
        Ok(byte) => at_byte(error, byte, frame.text),
        Err(_) => error,
    };
    let index = integrity::usable_index(&catalog, table, &written.index).map_err(here)?;
    let old = &index.file.name;
    let name = written.name.as_ref().unwrap_or(old).clone();
    if name != *old {
        let message = format!(
            "ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"{old}\" to \"{name}\""
        );
        frame.session.notice(SqlState::SuccessfulCompletion, message);
    }
    if written.is_primary {
        let is_referred = catalog.references_to(id).any(|of| of.1.index == Some(index.file.id));
        if is_referred || !index.included.is_empty() {
            let what = if is_referred { "that foreign keys refer to" } else { "with INCLUDE" };
            let message = format!("a primary key of an index {what} is not supported");
            return Err(Error::unsupported(message));
        }
        let names = index.columns.iter().filter_map(|column| {
            let at = table.position(column.key.column()?)?;
            Some(table.columns[at].name.clone())
        });
        let key = PrimaryKey { name: Some(name), columns: names.collect() };
        index::drop(transaction, &index)?;
        return primary_key::add(frame, transaction, id, &key).await;
    }
    refuse_taken(&catalog, table, &name, name != *old)?;
    let version = index.file.version + 1;
    let file = Arc::new(Table { name, version, ..Table::clone(&index.file) });
    let next =
        Relation::Index(Arc::new(Index { file, is_constraint: true, ..Index::clone(&index) }));
    transaction.change_catalog(CatalogChange::Replace(next))?;
    integrity::put(transaction, id, id, |_| {})
}
