//! CREATE ROLE, and what its options make of a role.

use super::membership::{admit, may_admit};
use super::password;
use crate::session::{Frame, parameter_of_text};
use catalog_views::access::Access;
use datafusion::common::ScalarValue;
use parser::roles::RoleOption;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, PUBLIC, Role, SqlType};
use values::error::{Error, Result, SqlState};

/// Runs a CREATE ROLE or CREATE USER.
pub(super) fn create(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    name: &str,
    options: &[RoleOption],
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let access = frame.access(&catalog);
    may_define(access)?;
    refuse_reserved(name)?;
    if catalog.role(name).is_some() {
        let message = format!("role \"{name}\" already exists");
        return Err(Error::new(SqlState::DuplicateObject, message));
    }
    let mut role = Role::new(name);
    configure(access, &mut role, options)?;
    if role.superuser && !access.is_superuser() {
        let message = "must be superuser to create superusers";
        return Err(Error::new(SqlState::InsufficientPrivilege, message));
    }
    if catalog.roles().len() == 0 && !can_rule(&role) {
        let message = "the first user must be a superuser with a password";
        return Err(Error::new(SqlState::ObjectNotInPrerequisiteState, message)
            .with_detail("As soon as there is a user, everybody who connects needs a password.")
            .with_hint("CREATE USER name SUPERUSER PASSWORD '...'"));
    }
    transaction.change_catalog(CatalogChange::PutRole(role))?;
    members(transaction, access, name, options)
}

/// A user who may do everything, from outside of SQL.
pub(crate) fn superuser(name: &str, password: &str) -> Result<Role> {
    refuse_reserved(name)?;
    let verifier = Some(password::verifier(password)?);
    Ok(Role { superuser: true, login: true, verifier, ..Role::new(name) })
}

/// Roles are made by superusers and by those who were given the right.
pub(super) fn may_define(access: Access<'_>) -> Result<()> {
    match access.makes_roles() {
        true => Ok(()),
        false => {
            let message = "permission denied to create role";
            Err(Error::new(SqlState::InsufficientPrivilege, message))
        }
    }
}

/// Whether it can log in and do everything.
pub(super) fn can_rule(role: &Role) -> bool {
    role.superuser && role.login && role.verifier.is_some()
}

pub(super) fn refuse_reserved(name: &str) -> Result<()> {
    if [PUBLIC, "none"].contains(&name) || name.starts_with("pg_") || name.is_empty() {
        let message = format!("role name \"{name}\" is reserved");
        let error = Error::new(SqlState::ReservedName, message);
        return Err(match name.starts_with("pg_") {
            true => error.with_detail("Role names starting with \"pg_\" are reserved."),
            false => error,
        });
    }
    Ok(())
}

/// Applies the options that concern the role alone, and the roles that it becomes a member of.
pub(super) fn configure(access: Access<'_>, role: &mut Role, options: &[RoleOption]) -> Result<()> {
    for option in options {
        match option {
            RoleOption::Superuser(value) => role.superuser = *value,
            RoleOption::Login(value) => role.login = *value,
            RoleOption::CreateRole(value) => role.create_role = *value,
            RoleOption::Inherit(value) => role.inherit = *value,
            RoleOption::Password(value) => {
                role.verifier = value.as_deref().map(password::verifier).transpose()?;
            }
            RoleOption::InRole(roles) => {
                for other in roles {
                    may_admit(access, other)?;
                    role.member_of.insert(other.clone(), false);
                }
            }
            RoleOption::CreateDatabase(value) => role.create_database = *value,
            RoleOption::ConnectionLimit(limit) => role.connection_limit = *limit,
            RoleOption::ValidUntil(text) => role.valid_until = moment(text)?,
            RoleOption::Unsupported(what) => {
                return Err(Error::unsupported(format!("{what} is not supported for roles")));
            }
            RoleOption::Members(..) => {}
        }
    }
    Ok(())
}

/// Microseconds since 1970; `None` for ever.
fn moment(text: &str) -> Result<Option<i64>> {
    if text.trim().eq_ignore_ascii_case("infinity") {
        return Ok(None);
    }
    match parameter_of_text(text, &SqlType::TimestampTz)? {
        ScalarValue::TimestampMicrosecond(moment, _) => Ok(moment),
        _ => Ok(None),
    }
}

/// Makes the roles that the options name members of a new one.
fn members(
    transaction: &mut DistributedTransaction,
    access: Access<'_>,
    name: &str,
    options: &[RoleOption],
) -> Result<()> {
    for option in options {
        let RoleOption::Members(members, admin) = option else { continue };
        for member in members {
            let catalog = Arc::clone(transaction.catalog());
            may_admit(access, member)?;
            admit(transaction, &catalog, name, member, *admin)?;
        }
    }
    Ok(())
}
