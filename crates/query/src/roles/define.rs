//! CREATE ROLE, and the options of roles.

use super::membership::{add_member, require_admin_option};
use super::password;
use crate::context::{Frame, parameter_of_text};
use catalog_views::access::Access;
use datafusion::common::ScalarValue;
use parser::commands::RoleOption;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, PUBLIC, Role, SqlType};
use values::error::{Error, Result, SqlState};
use values::style::Style;

/// Runs a CREATE ROLE or CREATE USER.
pub(super) fn create(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    name: &str,
    options: &[RoleOption],
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let access = frame.access(&catalog);
    require_create_role(access)?;
    refuse_reserved(name)?;
    if catalog.role(name).is_some() {
        let message = format!("role \"{name}\" already exists");
        return Err(Error::new(SqlState::DuplicateObject, message));
    }
    let is_own = |option: &RoleOption| match option {
        RoleOption::InRole(roles) | RoleOption::Members(roles, _) => {
            roles.iter().any(|of| of == name)
        }
        _ => false,
    };
    if options.iter().any(is_own) {
        let message = format!("role \"{name}\" is a member of role \"{name}\"");
        return Err(Error::new(SqlState::InvalidGrantOperation, message));
    }
    let mut role = Role::new(name);
    configure(frame, access, &mut role, options)?;
    if role.superuser && !access.is_superuser() {
        let message = "must be superuser to create superusers";
        return Err(Error::new(SqlState::InsufficientPrivilege, message));
    }
    let is_protected = role.administers() || catalog.roles().any(|role| role.administers());
    if role.verifier.is_some() && !is_protected {
        let message = "nobody has to give a password before there is a superuser with one: \
            CREATE USER name SUPERUSER PASSWORD '...'";
        frame.session.notice(SqlState::Warning, message);
    }
    transaction.change_catalog(CatalogChange::PutRole(role))?;
    add_members(transaction, access, name, options)
}

/// A superuser that can log in, for creation outside of SQL.
///
/// # Errors
/// 42939 for a reserved name; 22023 for a password that is not accepted.
pub(crate) fn superuser(name: &str, password: &str) -> Result<Role> {
    refuse_reserved(name)?;
    let verifier = Some(password::verifier(password)?);
    Ok(Role { superuser: true, login: true, verifier, ..Role::new(name) })
}

/// Checks that the role may create roles: it is a superuser or has CREATEROLE.
///
/// # Errors
/// 42501.
pub(super) fn require_create_role(access: Access<'_>) -> Result<()> {
    if access.makes_roles() {
        return Ok(());
    }
    Err(Error::new(SqlState::InsufficientPrivilege, "permission denied to create role"))
}

/// Rejects reserved role names.
///
/// # Errors
/// 42939.
pub(super) fn refuse_reserved(name: &str) -> Result<()> {
    if [PUBLIC, "none"].contains(&name) || name.starts_with("pg_") || name.is_empty() {
        let message = format!("role name \"{name}\" is reserved");
        let error = Error::new(SqlState::ReservedName, message);
        return Err(if name.starts_with("pg_") {
            error.with_detail("Role names starting with \"pg_\" are reserved.")
        } else {
            error
        });
    }
    Ok(())
}

/// Applies all options except ROLE and ADMIN, which change other roles.
pub(super) fn configure(
    frame: &Frame<'_>,
    access: Access<'_>,
    role: &mut Role,
    options: &[RoleOption],
) -> Result<()> {
    for option in options {
        match option {
            RoleOption::Superuser(value) => role.superuser = *value,
            RoleOption::Login(value) => role.login = *value,
            RoleOption::CreateRole(value) => role.create_role = *value,
            RoleOption::Inherit(value) => role.inherit = *value,
            RoleOption::Password(value) => {
                role.verifier = match value.as_deref() {
                    Some("") => {
                        let message = "empty string is not a valid password, clearing password";
                        frame.session.notice(SqlState::SuccessfulCompletion, message);
                        None
                    }
                    password => password.map(password::verifier).transpose()?,
                };
            }
            RoleOption::InRole(roles) => {
                for other in roles {
                    require_admin_option(access, other)?;
                    role.member_of.insert(other.clone(), false);
                }
            }
            RoleOption::CreateDatabase(value) => role.create_database = *value,
            RoleOption::ConnectionLimit(limit) => role.connection_limit = *limit,
            RoleOption::ValidUntil(text) => {
                role.valid_until = valid_until(text, frame.settings.style())?
            }
            RoleOption::Members(..) => {}
        }
    }
    Ok(())
}

/// A VALID UNTIL timestamp in microseconds since 1970; `None` for infinity.
fn valid_until(text: &str, style: Style) -> Result<Option<i64>> {
    if text.trim().eq_ignore_ascii_case("infinity") {
        return Ok(None);
    }
    match parameter_of_text(text, &SqlType::TimestampTz, style)? {
        ScalarValue::TimestampMicrosecond(micros, _) => Ok(micros),
        _ => Ok(None),
    }
}

/// Applies the options ROLE and ADMIN of a new role: the named roles become its members.
fn add_members(
    transaction: &mut DistributedTransaction,
    access: Access<'_>,
    name: &str,
    options: &[RoleOption],
) -> Result<()> {
    for option in options {
        let RoleOption::Members(members, admin) = option else { continue };
        for member in members {
            let catalog = Arc::clone(transaction.catalog());
            require_admin_option(access, member)?;
            add_member(transaction, &catalog, name, member, *admin)?;
        }
    }
    Ok(())
}
