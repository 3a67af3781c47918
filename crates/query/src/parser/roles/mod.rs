//! Statements about roles and privileges: CREATE, ALTER and DROP ROLE, GRANT, REVOKE.
//!
//! The SQL parser knows other databases' forms of these statements, so they are parsed here.

mod grant;
mod role;

pub(crate) use role::{parse, redacted};

/// A statement about roles.
#[derive(Debug, Clone)]
pub(crate) enum RoleStatement {
    /// CREATE ROLE or USER.
    Create { name: String, options: Vec<RoleOption> },
    /// ALTER ROLE or USER.
    Alter { name: RoleName, options: Vec<RoleOption> },
    /// ALTER ROLE ... RENAME TO.
    Rename { name: String, to: String },
    /// DROP ROLE or USER.
    Drop { names: Vec<String>, if_exists: bool },
    /// GRANT and REVOKE of privileges.
    Privileges(Grant),
    /// GRANT and REVOKE of roles.
    Membership {
        revoke: bool,
        roles: Vec<String>,
        members: Vec<RoleName>,
        /// WITH ADMIN OPTION, or ADMIN OPTION FOR.
        admin: bool,
    },
    /// What the whole statement wants, which nobody can do here.
    Unsupported(&'static str),
    /// REASSIGN OWNED.
    Reassign { from: Vec<RoleName>, to: RoleName },
    /// DROP OWNED.
    DropOwned(Vec<RoleName>),
    /// ALTER ... OWNER TO.
    Owner { kind: ObjectKind, name: Vec<String>, owner: RoleName, if_exists: bool },
}

/// One option of CREATE and ALTER ROLE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RoleOption {
    Superuser(bool),
    Login(bool),
    CreateRole(bool),
    Inherit(bool),
    CreateDatabase(bool),
    /// Sessions at a time; `None` for any number.
    ConnectionLimit(Option<u32>),
    /// When the password ends to count, as text.
    ValidUntil(String),
    /// What roles cannot have here.
    Unsupported(&'static str),
    /// `None` takes the password away.
    Password(Option<String>),
    /// The roles that it becomes a member of.
    InRole(Vec<String>),
    /// The roles that become members of it, and whether they may make others members.
    Members(Vec<String>, bool),
}

/// A role as statements name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RoleName {
    Named(String),
    Public,
    Current,
    Session,
}

/// What kind of thing a statement names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Table,
    View,
    Sequence,
    Schema,
    Database,
}

impl ObjectKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::View => "view",
            Self::Sequence => "sequence",
            Self::Schema => "schema",
            Self::Database => "database",
        }
    }
}

/// GRANT or REVOKE of privileges on things.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    pub(crate) revoke: bool,
    /// The privileges' names; `None` is all of them.
    pub(crate) privileges: Option<Vec<String>>,
    /// Whether they are for single columns.
    pub(crate) of_columns: bool,
    pub(crate) kind: ObjectKind,
    pub(crate) on: GrantedOn,
    pub(crate) roles: Vec<RoleName>,
    /// WITH GRANT OPTION, or GRANT OPTION FOR.
    pub(crate) option: bool,
}

/// What privileges are granted on.
#[derive(Debug, Clone)]
pub(crate) enum GrantedOn {
    /// Names, each of one to three parts.
    Named(Vec<Vec<String>>),
    /// Everything of the kind in some schemas.
    AllIn(Vec<String>),
}

impl RoleStatement {
    /// The password that it gives to a role.
    pub(crate) fn password(&self) -> Option<&str> {
        let (Self::Create { options, .. } | Self::Alter { options, .. }) = self else {
            return None;
        };
        options.iter().find_map(|option| match option {
            RoleOption::Password(password) => password.as_deref(),
            _ => None,
        })
    }

    /// What the statement is called.
    pub(crate) fn command(&self) -> &'static str {
        match self {
            Self::Create { .. } => "CREATE ROLE",
            Self::Alter { .. } | Self::Rename { .. } => "ALTER ROLE",
            Self::Drop { .. } => "DROP ROLE",
            Self::Privileges(grant) if grant.revoke => "REVOKE",
            Self::Privileges(_) => "GRANT",
            Self::Membership { revoke: true, .. } => "REVOKE ROLE",
            Self::Membership { .. } => "GRANT ROLE",
            Self::Unsupported(what) => what,
            Self::Reassign { .. } => "REASSIGN OWNED",
            Self::DropOwned(_) => "DROP OWNED",
            Self::Owner { kind: ObjectKind::View, .. } => "ALTER VIEW",
            Self::Owner { kind: ObjectKind::Sequence, .. } => "ALTER SEQUENCE",
            Self::Owner { kind: ObjectKind::Schema, .. } => "ALTER SCHEMA",
            Self::Owner { .. } => "ALTER TABLE",
        }
    }
}
