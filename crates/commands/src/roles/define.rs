//! CREATE, ALTER and DROP of ROLE, USER and GROUP.

use super::{RoleName, RoleOption, RoleStatement};
use crate::names::incomplete;
use crate::options::{elements, integer, is_on, refuse_repeated, text};
use crate::{Error, Result};
use grammar::tree::{
    AlterRoleStmt, CreateRoleStmt, DefElem, DropRoleStmt, Node, NodeEnum, RoleStmtType,
};

impl RoleStatement {
    pub(crate) fn create(statement: &CreateRoleStmt) -> Result<Self> {
        let mut options = options(&statement.options)?;
        let is_user = statement.stmt_type() == RoleStmtType::RolestmtUser;
        if is_user && !options.iter().any(|option| matches!(option, RoleOption::Login(_))) {
            options.push(RoleOption::Login(true));
        }
        Ok(Self::Create { name: statement.role.clone(), options })
    }

    pub(crate) fn alter(statement: &AlterRoleStmt) -> Result<Self> {
        let is_group = |option: &DefElem| option.defname == "rolemembers";
        if elements(&statement.options).any(is_group) {
            return Err(Error::missing("ALTER GROUP").hint("Use GRANT and REVOKE."));
        }
        let name = statement.role.as_ref().map(RoleName::of).ok_or_else(incomplete)?;
        Ok(Self::Alter { name, options: options(&statement.options)? })
    }

    pub(crate) fn drop_roles(statement: &DropRoleStmt) -> Result<Self> {
        let names = names(&statement.roles, "DROP ROLE")?;
        Ok(Self::Drop { names, if_exists: statement.missing_ok })
    }
}

/// The names of roles that are named by nothing else.
fn names(roles: &[Node], statement: &str) -> Result<Vec<String>> {
    let name = |role: RoleName| match role {
        RoleName::Named(name) => Ok(name),
        _ => {
            let message = format!("cannot use special role specifier in {statement}");
            Err(Error::new("22023", message))
        }
    };
    RoleName::all(roles).into_iter().map(name).collect()
}

fn options(nodes: &[Node]) -> Result<Vec<RoleOption>> {
    refuse_repeated(nodes)?;
    let mut options = Vec::new();
    for element in elements(nodes) {
        options.extend(option(element)?);
    }
    Ok(options)
}

fn option(element: &DefElem) -> Result<Option<RoleOption>> {
    let is_enabled = is_on(element);
    let members = || match element.arg.as_deref().and_then(|arg| arg.node.as_ref()) {
        Some(NodeEnum::List(list)) => names(&list.items, "CREATE ROLE"),
        _ => Ok(Vec::new()),
    };
    let missing = |what: &str| {
        // The capabilities that NO... denies do not exist.
        let error = Error::new("0A000", format!("{what} is not supported for roles"));
        if is_enabled { Err(error.at(element.location)) } else { Ok(None) }
    };
    Ok(Some(match element.defname.as_str() {
        "superuser" => RoleOption::Superuser(is_enabled),
        "canlogin" => RoleOption::Login(is_enabled),
        "createrole" => RoleOption::CreateRole(is_enabled),
        "createdb" => RoleOption::CreateDatabase(is_enabled),
        "inherit" => RoleOption::Inherit(is_enabled),
        "isreplication" => return missing("REPLICATION"),
        "bypassrls" => return missing("BYPASSRLS"),
        "password" => RoleOption::Password(element.arg.as_deref().and_then(text)),
        "connectionlimit" => RoleOption::ConnectionLimit(limit(element)?),
        "validUntil" => {
            let until = element.arg.as_deref().and_then(text);
            RoleOption::ValidUntil(until.ok_or_else(incomplete)?)
        }
        "addroleto" => RoleOption::InRole(members()?),
        "rolemembers" => RoleOption::Members(members()?, false),
        "adminmembers" => RoleOption::Members(members()?, true),
        // As in PostgreSQL, which takes it and has no use for it.
        "sysid" => return Ok(None),
        other => return missing(other),
    }))
}

/// The connection limit; -1 means no limit.
fn limit(element: &DefElem) -> Result<Option<u32>> {
    match integer(element)? {
        Some(-1) | None => Ok(None),
        Some(limit) => u32::try_from(limit)
            .map(Some)
            .map_err(|_| Error::new("22023", format!("invalid connection limit: {limit}"))),
    }
}
