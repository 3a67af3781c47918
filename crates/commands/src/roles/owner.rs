//! ALTER ... OWNER TO of what is no relation, REASSIGN OWNED and DROP OWNED.

use super::{RoleName, RoleStatement};
use crate::function::{RoutineKind, RoutineName};
use crate::names::{ObjectKind, incomplete, node, words_of};
use crate::user_type::type_name;
use crate::{Error, Result};
use grammar::tree::{AlterOwnerStmt, DropOwnedStmt, NodeEnum, ReassignOwnedStmt};

impl RoleStatement {
    pub(crate) fn owner(statement: &AlterOwnerStmt) -> Result<Self> {
        let kind = statement.object_type();
        let owner = statement.newowner.as_ref().map(RoleName::of).ok_or_else(incomplete)?;
        if let Some(kind) = RoutineKind::of(kind) {
            let routine = RoutineName::of_node(kind, statement.object.as_deref())?;
            return Ok(Self::RoutineOwner { routine, owner });
        }
        if let Some(kind @ (ObjectKind::Type | ObjectKind::Domain)) = ObjectKind::of(kind) {
            let name = type_name(statement.object.as_deref())?;
            let name = name.schema.into_iter().chain([name.name]).collect();
            return Ok(Self::Owner { kind, name, owner, if_exists: false });
        }
        let (Some(ObjectKind::Schema), NodeEnum::String(name)) =
            (ObjectKind::of(kind), node(statement.object.as_deref())?)
        else {
            return Err(Error::missing(format!("ALTER {} ... OWNER TO", words_of(kind))));
        };
        let name = vec![name.sval.clone()];
        Ok(Self::Owner { kind: ObjectKind::Schema, name, owner, if_exists: false })
    }

    pub(crate) fn reassign(statement: &ReassignOwnedStmt) -> Result<Self> {
        let to = statement.newrole.as_ref().map(RoleName::of).ok_or_else(incomplete)?;
        Ok(Self::Reassign { from: RoleName::all(&statement.roles), to })
    }

    pub(crate) fn drop_owned(statement: &DropOwnedStmt) -> Self {
        Self::DropOwned(RoleName::all(&statement.roles))
    }
}
