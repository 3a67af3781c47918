//! CREATE SCHEMA.

use crate::context::Frame;
use datafusion::sql::sqlparser::ast::SchemaName;
use parser::names::{fold, split_name};
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Object, Schema, is_temporary_schema};
use values::error::{Error, Result, SqlState};

/// Runs a CREATE SCHEMA.
pub(crate) fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    name: &SchemaName,
    if_not_exists: bool,
) -> Result<&'static str> {
    let name = match name {
        SchemaName::Simple(name) => split_name(name)?.1,
        SchemaName::NamedAuthorization(name, _) => split_name(name)?.1,
        SchemaName::UnnamedAuthorization(name) => fold(name),
    };
    if if_not_exists && transaction.catalog().schema(&name).is_some() {
        frame.skip_existing(SqlState::DuplicateSchema, "schema", &name);
        return Ok("CREATE SCHEMA");
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
    frame.own(transaction, Object::Schema(name))?;
    Ok("CREATE SCHEMA")
}
