//! GRANT and REVOKE.

use super::{Grant, GrantedOn, RoleName, RoleStatement};
use crate::function::{RoutineKind, RoutineName};
use crate::names::{ObjectKind, RelationName, incomplete, node, texts, words_of};
use crate::options::{elements, is_on};
use crate::{Error, Result};
use grammar::tree::{
    AccessPriv, GrantRoleStmt, GrantStmt, GrantTargetType, Node, NodeEnum, RoleSpec, RoleSpecType,
};

impl RoleStatement {
    pub(crate) fn privileges(statement: &GrantStmt) -> Result<Self> {
        refuse_grantor(statement.grantor.as_ref())?;
        let routines = RoutineKind::of(statement.objtype());
        let kind = match routines {
            Some(_) => Some(ObjectKind::Function),
            None => ObjectKind::of(statement.objtype())
                .filter(|kind| !matches!(kind, ObjectKind::Type | ObjectKind::Domain)),
        };
        let Some(kind) = kind else {
            let kind = words_of(statement.objtype()).to_lowercase();
            return Err(Error::new("0A000", format!("privileges on {kind} are not supported")));
        };
        let given = accesses(&statement.privileges)?;
        let of_columns = given.iter().any(|privilege| !privilege.cols.is_empty());
        let all = given.is_empty() || given.iter().any(|privilege| privilege.priv_name.is_empty());
        let names = given.iter().map(|privilege| privilege.priv_name.to_uppercase());
        let privileges = if all { None } else { Some(names.collect()) };
        let on = match (statement.targtype(), routines) {
            (GrantTargetType::AclTargetAllInSchema, Some(kind)) => {
                GrantedOn::RoutinesIn(kind, texts(&statement.objects))
            }
            (GrantTargetType::AclTargetAllInSchema, None) => {
                GrantedOn::AllIn(texts(&statement.objects))
            }
            (_, Some(kind)) => {
                let named = statement.objects.iter();
                let named = named.map(|object| RoutineName::of_node(kind, Some(object)));
                GrantedOn::Routines(named.collect::<Result<_>>()?)
            }
            _ => {
                let names = statement.objects.iter().map(parts);
                GrantedOn::Named(names.collect::<Result<_>>()?)
            }
        };
        let (revoke, option) = (!statement.is_grant, statement.grant_option);
        let roles = RoleName::all(&statement.grantees);
        Ok(Self::Privileges(Grant { revoke, privileges, of_columns, kind, on, roles, option }))
    }

    pub(crate) fn membership(statement: &GrantRoleStmt) -> Result<Self> {
        refuse_grantor(statement.grantor.as_ref())?;
        let mut admin = false;
        for option in elements(&statement.opt) {
            match option.defname.as_str() {
                "admin" => admin = is_on(option),
                other => {
                    let what = format!("{} of a membership", other.to_uppercase());
                    return Err(Error::missing(what).at(option.location));
                }
            }
        }
        let roles = accesses(&statement.granted_roles)?.into_iter();
        Ok(Self::Membership {
            revoke: !statement.is_grant,
            roles: roles.map(|role| role.priv_name.clone()).collect(),
            members: RoleName::all(&statement.grantee_roles),
            admin,
        })
    }
}

fn accesses(nodes: &[Node]) -> Result<Vec<&AccessPriv>> {
    let access = |node: &'_ Node| match &node.node {
        Some(NodeEnum::AccessPriv(_)) => Ok(()),
        _ => Err(incomplete()),
    };
    nodes.iter().try_for_each(access)?;
    let accesses = nodes.iter().filter_map(|node| match &node.node {
        Some(NodeEnum::AccessPriv(access)) => Some(access),
        _ => None,
    });
    Ok(accesses.collect())
}

/// The parts of an object's name.
fn parts(object: &Node) -> Result<Vec<String>> {
    match node(Some(object))? {
        NodeEnum::String(name) => Ok(vec![name.sval.clone()]),
        _ => {
            let RelationName { schema, name } = RelationName::of_node(object)?;
            Ok(schema.into_iter().chain([name]).collect())
        }
    }
}

/// Privileges are always granted by the owner.
fn refuse_grantor(grantor: Option<&RoleSpec>) -> Result<()> {
    let is_current = |role: &RoleSpec| {
        matches!(
            role.roletype(),
            RoleSpecType::RolespecCurrentUser | RoleSpecType::RolespecCurrentRole
        )
    };
    match grantor {
        Some(role) if !is_current(role) => Err(Error::missing("GRANTED BY").at(role.location)),
        _ => Ok(()),
    }
}
