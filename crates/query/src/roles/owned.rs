//! REASSIGN OWNED and DROP OWNED, which prepare DROP ROLE.

use super::lookup::known;
use crate::context::Frame;
use crate::context::own;
use parser::commands::RoleName;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Object, Privileges, Role};
use values::error::{Error, Result, SqlState};

/// The objects that a role may have privileges on.
fn objects(role: &Role) -> Vec<Object> {
    let relations = role.relations.keys().map(|id| Object::Relation(*id));
    let schemas = role.schemas.keys().map(|name| Object::Schema(name.clone()));
    relations.chain(schemas).chain([Object::Database]).collect()
}

/// The roles of these names. `action` completes the message `permission denied to`.
///
/// # Errors
/// 42704 if a role does not exist; 42501 if the session does not have its rights.
fn roles_of(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    names: &[RoleName],
    action: &str,
) -> Result<Vec<Arc<Role>>> {
    let catalog = transaction.catalog();
    let access = frame.access(catalog);
    let mut roles = Vec::with_capacity(names.len());
    for name in names {
        let role = known(catalog, &frame.role_named(name)?)?;
        if !access.has_role(&role.name) {
            let message = format!("permission denied to {action}");
            return Err(Error::new(SqlState::InsufficientPrivilege, message));
        }
        roles.push(Arc::clone(role));
    }
    Ok(roles)
}

/// Runs a REASSIGN OWNED.
pub(super) fn reassign(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    from: &[RoleName],
    to: &RoleName,
) -> Result<()> {
    let roles = roles_of(frame, transaction, from, "reassign objects")?;
    let to = roles_of(frame, transaction, std::slice::from_ref(to), "reassign objects")?;
    for role in roles {
        let owns = |object: &Object| role.privileges(object).contains(Privileges::OWNER);
        for object in objects(&role).into_iter().filter(owns) {
            revoke_all(transaction, &role, &object)?;
            own(transaction, to.first().map(|role| role.name.as_str()), object)?;
        }
    }
    Ok(())
}

/// Runs a DROP OWNED: revokes all privileges of the roles.
///
/// # Errors
/// 0A000 if a role owns an object.
pub(super) fn drop_owned(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    names: &[RoleName],
) -> Result<()> {
    for role in roles_of(frame, transaction, names, "drop objects")? {
        for object in objects(&role) {
            if role.privileges(&object).contains(Privileges::OWNER) {
                let message = "DROP OWNED of tables, views, sequences and schemas is not supported";
                let hint =
                    format!("REASSIGN OWNED BY {} TO another role, or drop them.", role.name);
                return Err(Error::unsupported(message).with_hint(hint));
            }
            revoke_all(transaction, &role, &object)?;
        }
    }
    Ok(())
}

/// Revokes all privileges on an object, ownership included.
fn revoke_all(
    transaction: &mut DistributedTransaction,
    role: &Role,
    object: &Object,
) -> Result<()> {
    let (role, object) = (role.name.clone(), object.clone());
    let privileges = Privileges::default();
    transaction.change_catalog(CatalogChange::SetPrivileges { role, object, privileges })?;
    Ok(())
}
