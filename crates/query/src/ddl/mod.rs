//! Statements that change definitions: CREATE, ALTER, DROP, TRUNCATE and COMMENT.

mod alter_sequence;
mod alter_table;
mod alter_type;
mod alter_view;
mod checks;
mod comment;
mod create_schema;
mod create_sequence;
mod create_table;
mod create_view;
mod dependents;
mod drop;
mod drop_relation;
mod existing_index;
mod follow;
mod foreign_keys;
pub(crate) mod functions;
mod identity;
mod in_use;
mod index;
mod index_columns;
mod like;
mod lock_table;
mod not_null;
mod place;
mod primary_key;
mod refresh;
mod reindex;
mod rename;
mod reword;
mod set_schema;
mod sql_procedure;
mod triggers;
mod truncate;
pub(crate) mod user_type;
mod uses;

use crate::context::Frame;
use crate::context::outcome::{Outcome, Tag};
use crate::context::temporary;
use crate::dml::declared_column;
use catalog_views::relation_names::{find_named, missing_relation};
use parser::commands::{Definition, Maintenance};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::Relation;
use values::error::{Error, Result, SqlState};

/// Runs a statement that changes definitions.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    definition: &Definition,
) -> Result<Outcome> {
    match definition {
        Definition::CreateTable(create) => create_table::run(frame, transaction, create).await?,
        Definition::CreateTableAs(create) => {
            return create_table::run_as(frame, transaction, create).await;
        }
        Definition::CreateView(create) => create_view::run(frame, transaction, create).await?,
        Definition::CreateSchema(create) => create_schema::run(frame, transaction, create)?,
        Definition::CreatePlpgsql { if_not_exists: true } => {
            frame.skip_existing(SqlState::DuplicateObject, "extension", "plpgsql");
        }
        Definition::CreatePlpgsql { if_not_exists: false } => {
            let message = "extension \"plpgsql\" already exists";
            return Err(Error::new(SqlState::DuplicateObject, message));
        }
        Definition::CreateSequence(create) => create_sequence::run(frame, transaction, create)?,
        Definition::CreateIndex(create) => index::run(frame, transaction, create).await?,
        Definition::Refresh(of) => refresh::run(frame, transaction, of).await?,
        Definition::Reindex(reindex) => reindex::run(frame, transaction, reindex).await?,
        Definition::CreateType(create) => user_type::create(frame, transaction, create).await?,
        Definition::AlterType(alter) => user_type::alter(frame, transaction, alter).await?,
        Definition::AlterSequence(alter) => alter_sequence::run(frame, transaction, alter)?,
        Definition::AlterTable(alter) => alter_table::run(frame, transaction, alter).await?,
        Definition::Rename(rename) => rename::run(frame, transaction, rename).await?,
        Definition::SetSchema(change) => set_schema::run(frame, transaction, change).await?,
        Definition::Drop(drop) => drop::run(frame, transaction, drop)?,
        Definition::Truncate(truncate) => truncate::run(frame, transaction, truncate).await?,
        Definition::SetConstraints(set) => foreign_keys::set(frame, transaction, set).await?,
        Definition::Lock(lock) => lock_table::run(frame, transaction, lock).await?,
        Definition::Comment(comment) => comment::run(frame, transaction, comment).await?,
        Definition::Routine(routine) => functions::run(frame, transaction, routine).await?,
        Definition::Trigger(trigger) => triggers::run(frame, transaction, trigger).await?,
        Definition::Maintenance(maintenance) => maintain(frame, transaction, maintenance)?,
        Definition::Checkpoint => checkpoint(frame, transaction).await?,
        Definition::DropTemporary { .. } => {
            for change in temporary::drops(transaction.catalog(), frame.path().own()) {
                transaction.change_catalog(change)?;
            }
        }
    }
    Ok(Outcome::Done(Tag::plain(definition.tag())))
}

/// CHECKPOINT of this server. Without a data directory there is nothing to do.
async fn checkpoint(frame: &Frame<'_>, transaction: &DistributedTransaction) -> Result<()> {
    let message = "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT";
    frame.access(transaction.catalog()).require_superuser(message, "")?;
    let store = Arc::clone(&frame.session.shared.store);
    let made = tokio::task::spawn_blocking(move || store.checkpoint()).await;
    made.map_err(|error| Error::new(SqlState::InternalError, error.to_string()))??;
    Ok(())
}

/// VACUUM and ANALYZE: buckets are compacted and counted as they change.
fn maintain(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    maintenance: &Maintenance,
) -> Result<()> {
    for (name, columns) in &maintenance.relations {
        let (catalog, path) = (transaction.catalog(), frame.path());
        let found = find_named(catalog, path, name)?;
        let is_system = match &name.schema {
            Some(schema) => schema == "pg_catalog",
            None => true,
        };
        if found.is_none() && is_system && catalog_views::is_implicit(&name.name) {
            continue;
        }
        let relation = found.ok_or_else(|| missing_relation(catalog, path, name))?;
        let Relation::Table(table) = relation else { continue };
        for column in columns {
            declared_column(table, column)?;
        }
    }
    Ok(())
}
