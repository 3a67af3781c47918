//! The schema of a new relation: the named schema, the first one of the search path, or the
//! session's temporary schema.

use crate::context::Frame;
use parser::commands::RelationName;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Privileges, RESERVED_SCHEMAS, Schema, is_temporary_schema};
use values::error::{Error, Result, SqlState};

/// The schema and the name of a new relation. Creates the session's temporary schema with its first
/// relation.
///
/// # Errors
/// 3F000 if no schema is selected; 42P16 for a wrong temporary schema; 42939 for a system schema;
/// 42501 without CREATE on the schema.
pub(crate) fn of_new(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    name: &RelationName,
    temporary: bool,
) -> Result<(String, String)> {
    let path = frame.path();
    let catalog = transaction.catalog();
    let schema = match name.schema.as_deref() {
        Some(schema) => path.resolve(schema).to_owned(),
        None if temporary => path.own().to_owned(),
        None => path
            .named()
            .find(|schema| catalog.schema(schema).is_some() || *schema == path.own())
            .map(str::to_owned)
            .ok_or_else(|| {
                Error::new(SqlState::InvalidSchemaName, "no schema has been selected to create in")
            })?,
    };
    let bad = |message: &str| Err(Error::new(SqlState::InvalidTableDefinition, message));
    if schema == path.own() {
        if catalog.schema(&schema).is_none() {
            let own = Schema { name: schema.clone(), comment: None };
            transaction.change_catalog(CatalogChange::CreateSchema(own))?;
        }
    } else if temporary {
        return bad("cannot create temporary relation in non-temporary schema");
    } else if is_temporary_schema(&schema) {
        return bad("cannot create relations in temporary schemas of other sessions");
    }
    if RESERVED_SCHEMAS.contains(&schema.as_str()) {
        let message = format!("permission denied: \"{schema}\" is a system schema");
        return Err(Error::new(SqlState::ReservedName, message));
    }
    frame.access(transaction.catalog()).require_schema(&schema, Privileges::CREATE)?;
    Ok((schema, name.name.clone()))
}
