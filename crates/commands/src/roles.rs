//! Statements about roles, privileges and owners: CREATE, ALTER and DROP ROLE, GRANT, REVOKE, ALTER ... OWNER TO.

mod define;
mod grant;
mod owner;

use crate::{ObjectKind, RoutineKind, RoutineName};
use grammar::tree::{Node, NodeEnum, RoleSpec, RoleSpecType};

/// A statement about roles.
#[derive(Debug, Clone)]
pub enum RoleStatement {
    /// CREATE ROLE or USER.
    Create {
        /// The name of the new role.
        name: String,
        /// The options, as written.
        options: Vec<RoleOption>,
    },
    /// ALTER ROLE or USER.
    Alter {
        /// The role.
        name: RoleName,
        /// The options, as written.
        options: Vec<RoleOption>,
    },
    /// ALTER ROLE ... RENAME TO.
    Rename {
        /// The role.
        name: String,
        /// The new name.
        to: String,
    },
    /// DROP ROLE or USER.
    Drop {
        /// The roles.
        names: Vec<String>,
        /// Whether IF EXISTS is given.
        if_exists: bool,
    },
    /// GRANT and REVOKE of privileges.
    Privileges(Grant),
    /// GRANT and REVOKE of roles.
    Membership {
        /// Whether it is REVOKE.
        revoke: bool,
        /// The roles whose membership is granted.
        roles: Vec<String>,
        /// The roles that become members.
        members: Vec<RoleName>,
        /// Whether WITH ADMIN OPTION or ADMIN OPTION FOR is given.
        admin: bool,
    },
    /// REASSIGN OWNED.
    Reassign {
        /// The current owners.
        from: Vec<RoleName>,
        /// The new owner.
        to: RoleName,
    },
    /// DROP OWNED.
    DropOwned(Vec<RoleName>),
    /// ALTER FUNCTION ... OWNER TO.
    RoutineOwner {
        /// The function.
        routine: RoutineName,
        /// The new owner.
        owner: RoleName,
    },
    /// ALTER ... OWNER TO.
    Owner {
        /// The kind of the object.
        kind: ObjectKind,
        /// The name of the object, in one to three parts.
        name: Vec<String>,
        /// The new owner.
        owner: RoleName,
        /// Whether IF EXISTS is given.
        if_exists: bool,
    },
}

/// One option of CREATE and ALTER ROLE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleOption {
    /// SUPERUSER or NOSUPERUSER.
    Superuser(bool),
    /// LOGIN or NOLOGIN.
    Login(bool),
    /// CREATEROLE or NOCREATEROLE.
    CreateRole(bool),
    /// INHERIT or NOINHERIT.
    Inherit(bool),
    /// CREATEDB or NOCREATEDB.
    CreateDatabase(bool),
    /// CONNECTION LIMIT: concurrent sessions; `None` for no limit.
    ConnectionLimit(Option<u32>),
    /// VALID UNTIL: when the password expires, as text.
    ValidUntil(String),
    /// PASSWORD; `None` removes the password.
    Password(Option<String>),
    /// IN ROLE: the roles that the new role becomes a member of.
    InRole(Vec<String>),
    /// ROLE or ADMIN: the roles that become members of the new role, and whether they have the
    /// admin option.
    Members(Vec<String>, bool),
}

/// A role as named in a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleName {
    /// A role of a name.
    Named(String),
    /// PUBLIC: all roles.
    Public,
    /// CURRENT_USER or CURRENT_ROLE.
    Current,
    /// SESSION_USER.
    Session,
}

/// GRANT or REVOKE of privileges on objects.
#[derive(Debug, Clone)]
pub struct Grant {
    /// Whether it is REVOKE.
    pub revoke: bool,
    /// The names of the privileges in upper case; `None` means ALL.
    pub privileges: Option<Vec<String>>,
    /// Whether a privilege is limited to columns.
    pub of_columns: bool,
    /// The kind of the objects.
    pub kind: ObjectKind,
    /// The objects.
    pub on: GrantedOn,
    /// The grantees.
    pub roles: Vec<RoleName>,
    /// Whether WITH GRANT OPTION or GRANT OPTION FOR is given.
    pub option: bool,
}

/// The objects on which privileges are granted.
#[derive(Debug, Clone)]
pub enum GrantedOn {
    /// Names, each of one to three parts.
    Named(Vec<Vec<String>>),
    /// Functions and procedures.
    Routines(Vec<RoutineName>),
    /// All objects of the kind in some schemas.
    AllIn(Vec<String>),
    /// All functions, procedures or both in some schemas.
    RoutinesIn(RoutineKind, Vec<String>),
}

impl RoleStatement {
    /// The password that it sets.
    pub fn password(&self) -> Option<&str> {
        let (Self::Create { options, .. } | Self::Alter { options, .. }) = self else {
            return None;
        };
        options.iter().find_map(|option| match option {
            RoleOption::Password(password) => password.as_deref(),
            _ => None,
        })
    }

    /// The command tag.
    pub fn command(&self) -> &'static str {
        match self {
            Self::Create { .. } => "CREATE ROLE",
            Self::Alter { .. } | Self::Rename { .. } => "ALTER ROLE",
            Self::Drop { .. } => "DROP ROLE",
            Self::Privileges(grant) if grant.revoke => "REVOKE",
            Self::Privileges(_) => "GRANT",
            Self::Membership { revoke: true, .. } => "REVOKE ROLE",
            Self::Membership { .. } => "GRANT ROLE",
            Self::Reassign { .. } => "REASSIGN OWNED",
            Self::DropOwned(_) => "DROP OWNED",
            Self::Owner { kind, .. } => kind.alter_tag(),
            Self::RoutineOwner { routine, .. } => routine.alter_tag(),
        }
    }
}

impl RoleName {
    /// The role that a statement names.
    pub(crate) fn of(role: &RoleSpec) -> Self {
        match role.roletype() {
            RoleSpecType::RolespecPublic => Self::Public,
            RoleSpecType::RolespecSessionUser => Self::Session,
            RoleSpecType::RolespecCurrentUser | RoleSpecType::RolespecCurrentRole => Self::Current,
            RoleSpecType::RolespecCstring | RoleSpecType::Undefined => {
                Self::Named(role.rolename.clone())
            }
        }
    }

    /// The roles of a list.
    pub(crate) fn all(nodes: &[Node]) -> Vec<Self> {
        let role = |node: &Node| match &node.node {
            Some(NodeEnum::RoleSpec(role)) => Some(Self::of(role)),
            _ => None,
        };
        nodes.iter().filter_map(role).collect()
    }
}
