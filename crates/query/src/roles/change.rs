//! ALTER ROLE and DROP ROLE.

use super::define::{configure, refuse_reserved, require_create_role};
use super::lookup::known;
use crate::context::Frame;
use catalog_views::names::unknown_role;
use parser::commands::{RoleName, RoleOption};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Catalog, CatalogChange, DEFAULT_SCHEMA, Privileges, Role, TypeId};
use values::error::{Error, Result, SqlState};

/// Runs an ALTER ROLE or ALTER USER.
pub(super) fn alter(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    name: &RoleName,
    options: &[RoleOption],
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let access = frame.access(&catalog);
    let name = frame.role_named(name)?;
    let old = known(&catalog, &name)?;
    let only_password = options.iter().all(|option| matches!(option, RoleOption::Password(_)));
    let changes_itself = only_password && access.role() == Some(name.as_str());
    let changes_superuser = options.iter().any(|o| matches!(o, RoleOption::Superuser(_)));
    if !access.is_superuser() && !changes_itself {
        if old.superuser || changes_superuser {
            let message =
                "must be superuser to alter superuser roles or change superuser attribute";
            return Err(Error::new(SqlState::InsufficientPrivilege, message));
        }
        require_create_role(access).map_err(|_| denied())?;
    }
    if options
        .iter()
        .any(|option| matches!(option, RoleOption::Members(..) | RoleOption::InRole(_)))
    {
        let message = "ALTER ROLE does not change members; use GRANT and REVOKE";
        return Err(Error::unsupported(message).with_hint(format!("GRANT {name} TO member")));
    }
    let mut role = Role::clone(old);
    configure(frame, access, &mut role, options)?;
    if old.administers() && !role.administers() {
        refuse_last(&catalog, &name)?;
    }
    transaction.change_catalog(CatalogChange::PutRole(role))?;
    Ok(())
}

/// Runs an ALTER ROLE ... RENAME TO.
pub(super) fn rename(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    name: &str,
    to: &str,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let access = frame.access(&catalog);
    let old = known(&catalog, name)?;
    if old.superuser {
        access.require_superuser("must be superuser to rename superusers", "")?;
    }
    require_create_role(access).map_err(|_| {
        Error::new(SqlState::InsufficientPrivilege, "permission denied to rename role")
    })?;
    refuse_reserved(to)?;
    if frame.is_me(name) {
        return Err(Error::unsupported("session user cannot be renamed"));
    }
    if catalog.role(to).is_some() {
        let message = format!("role \"{to}\" already exists");
        return Err(Error::new(SqlState::DuplicateObject, message));
    }
    let (from, to) = (name.to_owned(), to.to_owned());
    transaction.change_catalog(CatalogChange::RenameRole { from, to })?;
    Ok(())
}

/// Runs a DROP ROLE or DROP USER.
pub(super) fn drop_roles(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    names: &[String],
    if_exists: bool,
) -> Result<()> {
    for name in names {
        let catalog = Arc::clone(transaction.catalog());
        let access = frame.access(&catalog);
        require_create_role(access).map_err(|_| {
            Error::new(SqlState::InsufficientPrivilege, "permission denied to drop role")
        })?;
        let role = match catalog.role(name) {
            Some(role) => role,
            None if if_exists => {
                frame.skip_missing("role", name);
                continue;
            }
            None => return Err(unknown_role(name)),
        };
        if frame.is_me(name) {
            let message = "current user cannot be dropped";
            return Err(Error::new(SqlState::ObjectInUse, message));
        }
        if role.superuser {
            access.require_superuser("must be superuser to drop superusers", "")?;
            if role.administers() {
                refuse_last(&catalog, name)?;
            }
        }
        let depending = depending(&catalog, role);
        if !depending.is_empty() {
            let message =
                format!("role \"{name}\" cannot be dropped because some objects depend on it");
            return Err(Error::new(SqlState::DependentObjectsStillExist, message)
                .with_detail(depending.join("\n")));
        }
        transaction.change_catalog(CatalogChange::DropRole(name.clone()))?;
    }
    Ok(())
}

fn denied() -> Error {
    Error::new(SqlState::InsufficientPrivilege, "permission denied")
}

/// Rejects a change of the last superuser who can log in. Without a superuser, none could be
/// created again; without users, clients connect without a password.
fn refuse_last(catalog: &Catalog, name: &str) -> Result<()> {
    if catalog.roles().any(|role| role.name != name && role.administers()) {
        return Ok(());
    }
    let message = format!("role \"{name}\" is the last superuser that can log in");
    Err(Error::new(SqlState::DependentObjectsStillExist, message)
        .with_hint("Create another superuser first: CREATE USER name SUPERUSER PASSWORD '...'"))
}

/// The objects that a role owns or has privileges on, in the wording of PostgreSQL.
fn depending(catalog: &Catalog, role: &Role) -> Vec<String> {
    let describe = |privileges: &Privileges, object: String| {
        if privileges.contains(Privileges::OWNER) {
            format!("owner of {object}")
        } else {
            format!("privileges for {object}")
        }
    };
    let shown = |kind: &str, schema: &str, name: &str| match schema {
        DEFAULT_SCHEMA => format!("{kind} {name}"),
        schema => format!("{kind} {schema}.{name}"),
    };
    let relations = role.relations.iter().filter_map(|(id, privileges)| {
        if let Some(function) = catalog.function_by_id(*id) {
            let shown = format!(
                "{} {}",
                function.kind(),
                routines::signature(&routines::resolved(catalog, function))
            );
            return Some(describe(privileges, shown));
        }
        if let Some(user) = catalog.user_type_by_id(TypeId(id.0)) {
            return Some(describe(privileges, shown("type", &user.schema, &user.name)));
        }
        let relation = catalog.relation_by_id(*id)?;
        let shown = shown(relation.kind(), relation.schema(), relation.name());
        Some(describe(privileges, shown))
    });
    let schemas = role.schemas.iter();
    let schemas = schemas.map(|(name, privileges)| describe(privileges, format!("schema {name}")));
    let database = (!role.database.is_empty()).then(|| "privileges for database pando".to_owned());
    relations.chain(schemas).chain(database).collect()
}
