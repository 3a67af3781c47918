//! GRANT and REVOKE of roles.

use super::lookup::known;
use crate::context::Frame;
use catalog_views::access::Access;
use catalog_views::names::unknown_role;
use parser::commands::RoleName;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Catalog, CatalogChange, Role};
use values::error::{Error, Result, SqlState};

/// Runs a GRANT or REVOKE of roles. `admin` means WITH ADMIN OPTION, or REVOKE ADMIN OPTION FOR.
pub(super) fn grant(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    revoke: bool,
    roles: &[String],
    members: &[RoleName],
    admin: bool,
) -> Result<()> {
    for role in roles {
        for member in members {
            let catalog = Arc::clone(transaction.catalog());
            require_admin_option(frame.access(&catalog), role)?;
            let member = frame.role_named(member)?;
            let held = known(&catalog, &member)?.member_of.get(role).copied();
            match (revoke, held) {
                (false, Some(had)) if had || !admin => {
                    let message =
                        format!("role \"{member}\" is already a member of role \"{role}\"");
                    frame.session.notice(SqlState::SuccessfulCompletion, message);
                }
                (false, _) => add_member(transaction, &catalog, role, &member, admin)?,
                (true, None) => {
                    let message = format!("role \"{member}\" is not a member of role \"{role}\"");
                    frame.session.warn(SqlState::Warning, message);
                }
                (true, Some(_)) => {
                    let mut changed = Role::clone(known(&catalog, &member)?);
                    if admin {
                        changed.member_of.insert(role.clone(), false);
                    } else {
                        changed.member_of.remove(role);
                    }
                    transaction.change_catalog(CatalogChange::PutRole(changed))?;
                }
            }
        }
    }
    Ok(())
}

/// Checks that the session may change the members of a role.
///
/// # Errors
/// 42704 if the role does not exist; 42501.
pub(super) fn require_admin_option(access: Access<'_>, role: &str) -> Result<()> {
    let group = access.known(role).ok_or_else(|| unknown_role(role))?;
    if access.admits_to(group) {
        return Ok(());
    }
    let message = format!("must have admin option on role \"{role}\"");
    Err(Error::new(SqlState::InsufficientPrivilege, message))
}

/// Makes `member` a member of `role`.
///
/// # Errors
/// 0LP01 if `role` is a member of `member`.
pub(super) fn add_member(
    transaction: &mut DistributedTransaction,
    catalog: &Catalog,
    role: &str,
    member: &str,
    admin: bool,
) -> Result<()> {
    if role == member || Access::new(catalog, Some(role)).is_in(member) {
        let message = format!("role \"{role}\" is a member of role \"{member}\"");
        return Err(Error::new(SqlState::InvalidGrantOperation, message));
    }
    let mut changed = Role::clone(known(catalog, member)?);
    changed.member_of.insert(role.to_owned(), admin);
    transaction.change_catalog(CatalogChange::PutRole(changed))?;
    Ok(())
}
