//! ALTER ... OWNER TO.

use super::objects::{relation, schema};
use crate::context::Frame;
use crate::context::{named_functions, own, owned_type};
use catalog_views::access;
use catalog_views::names::unknown_role;
use parser::commands::{ObjectKind, RelationName, RoleName, RoutineName};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Object, Privileges};
use values::error::{Error, Result, SqlState};

/// Runs an ALTER ... OWNER TO.
pub(super) fn change(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    kind: ObjectKind,
    name: &[String],
    to: &RoleName,
    if_exists: bool,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let access = frame.access(&catalog);
    let object = if matches!(kind, ObjectKind::Type | ObjectKind::Domain) {
        let (schema, name) = match name {
            [schema, name] => (Some(schema.clone()), name.clone()),
            _ => (None, name.last().cloned().unwrap_or_default()),
        };
        let user = owned_type(frame, &catalog, &RelationName { schema, name })?;
        Object::Relation(user.id.object())
    } else if kind == ObjectKind::Schema {
        let schema = schema(&catalog, name.last().map_or("", String::as_str))?;
        access.require_schema(&schema.name, Privileges::OWNER)?;
        schema.object
    } else {
        let relation = match relation(frame, &catalog, name) {
            Ok(relation) => relation,
            Err(_) if if_exists => return Ok(()),
            Err(error) => return Err(error),
        };
        let fits = kind == ObjectKind::Table || relation.kind() == kind.name();
        if !fits {
            let message = format!("\"{}\" is not a {}", relation.name(), kind.name());
            return Err(Error::new(SqlState::WrongObjectType, message));
        }
        access.require(relation, Privileges::OWNER)?;
        Object::Relation(relation.id())
    };
    give(frame, transaction, object, to)
}

/// Runs an ALTER FUNCTION ... OWNER TO.
pub(super) fn of_routine(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    routine: &RoutineName,
    to: &RoleName,
) -> Result<()> {
    let function = named_functions::owned(frame, transaction.catalog(), routine)?;
    give(frame, transaction, Object::Relation(function.id), to)
}

/// Makes a role the owner of an object.
fn give(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    object: Object,
    to: &RoleName,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let access = frame.access(&catalog);
    let name = frame.role_named(to)?;
    if !access.has_role(&name) {
        let message = format!("must be member of role \"{name}\"");
        return Err(Error::new(SqlState::InsufficientPrivilege, message));
    }
    let is_known = catalog.role(&name).is_some();
    if !is_known && name != catalog_views::names::BOOTSTRAP_SUPERUSER && !frame.is_me(&name) {
        return Err(unknown_role(&name));
    }
    if let Some(old) = access::owner(&catalog, &object) {
        let (role, object) = (old.name.clone(), object.clone());
        let privileges = Privileges::default();
        transaction.change_catalog(CatalogChange::SetPrivileges { role, object, privileges })?;
    }
    own(transaction, is_known.then_some(name.as_str()), object)
}
