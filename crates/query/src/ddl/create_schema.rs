//! CREATE SCHEMA.

use crate::context::Frame;
use crate::roles;
use catalog_views::session_context::SessionContext;
use parser::commands::{CreateSchema, RoleName};
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Object, Schema, is_temporary_schema};
use values::error::{Error, Result, SqlState};

/// Runs a CREATE SCHEMA.
pub(crate) fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    create: &CreateSchema,
) -> Result<()> {
    let name = match (&create.name, &create.owner) {
        (Some(name), _) => name.clone(),
        (None, Some(RoleName::Named(owner))) => owner.clone(),
        (None, _) => frame.session.context.user().to_string(),
    };
    if create.if_not_exists && transaction.catalog().schema(&name).is_some() {
        frame.skip_existing(SqlState::DuplicateSchema, "schema", &name);
        return Ok(());
    }
    if name.is_empty() {
        return Err(Error::unsupported("a schema with an empty name is not supported"));
    }
    if is_temporary_schema(&name) {
        return Err(store::catalog::Error::ReservedName { name }.into());
    }
    frame.access(transaction.catalog()).require_create_on_database()?;
    let schema = Schema { name: name.clone(), comment: None };
    transaction.change_catalog(CatalogChange::CreateSchema(schema))?;
    frame.own(transaction, Object::Schema(name.clone()))?;
    match &create.owner {
        Some(owner) => roles::give_schema(frame, transaction, name, owner),
        None => Ok(()),
    }
}
