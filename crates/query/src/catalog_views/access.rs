//! What a session may do: its role's privileges, those of roles that it is a member of, and everybody's.
//!
//! A database without roles belongs to whoever can reach it: every session may do everything. So may one
//! that was open before there were roles, and one inside the process.

use crate::catalog_views::pg_catalog::roles::OWNER_NAME;
use crate::values::error::{Error, Result, SqlState};
use std::collections::BTreeSet;
use std::sync::Arc;
use store::catalog::{
    Catalog, Object, Privileges, Relation, RelationId, Role, is_temporary_schema,
};

/// What one role may do under a catalog.
#[derive(Clone, Copy)]
pub(crate) struct Access<'a> {
    catalog: &'a Catalog,
    /// `None` may do everything.
    role: Option<&'a str>,
}

impl<'a> Access<'a> {
    pub(crate) fn new(catalog: &'a Catalog, role: Option<&'a str>) -> Self {
        Self { catalog, role }
    }

    /// Everything, for what the system does by itself.
    pub(crate) fn unlimited(catalog: &'a Catalog) -> Self {
        Self { catalog, role: None }
    }

    /// What the owner of a relation may do: a view reads with its owner's rights.
    pub(crate) fn of_owner(self, relation: RelationId) -> Self {
        let owner = owner(self.catalog, &Object::Relation(relation));
        Self { role: owner.map(|role| role.name.as_str()), ..self }
    }

    /// Whether there is nothing that it may not do.
    pub(crate) fn is_superuser(self) -> bool {
        match self.role {
            None => true,
            Some(name) => self.catalog.role(name).is_some_and(|role| role.superuser),
        }
    }

    /// The role, unless it is one that may do everything without being known.
    pub(crate) fn role(self) -> Option<&'a str> {
        self.role
    }

    /// Whether it may make roles that are no superusers.
    pub(crate) fn makes_roles(self) -> bool {
        let own = self.role.and_then(|name| self.catalog.role(name));
        self.is_superuser() || own.is_some_and(|role| role.create_role)
    }

    /// Whether it may make others members of a role.
    pub(crate) fn admits_to(self, other: &Role) -> bool {
        let own = self.role.and_then(|name| self.catalog.role(name));
        let admin = own.is_some_and(|role| role.member_of.get(&other.name) == Some(&true));
        self.is_superuser() || admin || self.makes_roles() && !other.superuser
    }

    /// The role of a name.
    pub(crate) fn known(self, name: &str) -> Option<&'a Arc<Role>> {
        self.catalog.role(name)
    }

    /// Whether the role is a member of another, directly or through others.
    pub(crate) fn is_in(self, other: &str) -> bool {
        self.closure(|_| true).iter().any(|role| role.name == other)
    }

    /// Whether the role is another, or has its privileges.
    pub(crate) fn has_role(self, other: &str) -> bool {
        self.is_superuser() || self.roles().iter().any(|role| role.name == other)
    }

    /// The text of a user's statement, for whom it concerns.
    pub(crate) fn shown_text<'b>(self, user: &str, text: &'b str) -> &'b str {
        match self.has_role(user) {
            true => text,
            false => "<insufficient privilege>",
        }
    }

    /// What it may do with something; owners may do everything.
    pub(crate) fn privileges(self, object: &Object) -> Privileges {
        if self.is_superuser() {
            return Privileges::ALL.union(Privileges::ALL.grant_option());
        }
        let all = self
            .roles()
            .into_iter()
            .fold(Privileges::default(), |all, role| all.union(role.privileges(object)));
        match all.contains(Privileges::OWNER) {
            true => Privileges::ALL.union(Privileges::ALL.grant_option()),
            false => all,
        }
    }

    /// The role itself, those that it inherits from, and everybody's.
    fn roles(self) -> Vec<&'a Arc<Role>> {
        let mut found = self.closure(|role| role.inherit);
        found.push(self.catalog.public());
        found
    }

    /// The role and those that it is a member of, followed where a role lets it.
    fn closure(self, follow: impl Fn(&Role) -> bool) -> Vec<&'a Arc<Role>> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut next: Vec<&str> = self.role.into_iter().collect();
        while let Some(name) = next.pop() {
            let Some(role) = self.catalog.role(name).filter(|_| seen.insert(name)) else {
                continue;
            };
            found.push(role);
            if follow(role) {
                next.extend(role.member_of.keys().map(String::as_str));
            }
        }
        found
    }

    /// Refuses what needs privileges on a relation that are not there.
    ///
    /// # Errors
    /// 42501.
    pub(crate) fn require(self, relation: &Relation, needed: Privileges) -> Result<()> {
        if self.is_superuser() {
            return Ok(());
        }
        self.require_schema(relation.schema(), Privileges::USAGE)?;
        match self.privileges(&Object::Relation(relation.id())).contains(needed) {
            true => Ok(()),
            false if needed == Privileges::OWNER => Err(must_own(relation.kind(), relation.name())),
            false => Err(denied(relation.kind(), relation.name())),
        }
    }

    /// Refuses what needs privileges on a schema that are not there. That of a session's temporary relations
    /// is found by nobody else, and is the session's whatever its role.
    ///
    /// # Errors
    /// 42501.
    pub(crate) fn require_schema(self, name: &str, needed: Privileges) -> Result<()> {
        match self.privileges(&Object::Schema(name.to_owned())).contains(needed) {
            true => Ok(()),
            false if is_temporary_schema(name) && needed != Privileges::OWNER => Ok(()),
            false if needed == Privileges::OWNER => Err(must_own("schema", name)),
            false => Err(denied("schema", name)),
        }
    }

    /// Refuses to make schemas where that was not granted.
    ///
    /// # Errors
    /// 42501.
    pub(crate) fn require_create_on_database(self) -> Result<()> {
        match self.privileges(&Object::Database).contains(Privileges::CREATE) {
            true => Ok(()),
            false => Err(denied("database", OWNER_NAME)),
        }
    }

    /// Refuses what only superusers may do.
    ///
    /// # Errors
    /// 42501 with the message.
    pub(crate) fn require_superuser(self, message: &str, hint: &str) -> Result<()> {
        match self.is_superuser() {
            true => Ok(()),
            false => Err(Error::new(SqlState::InsufficientPrivilege, message).with_hint(hint)),
        }
    }

    /// Refuses to read or write files of the server's machine.
    ///
    /// # Errors
    /// 42501.
    pub(crate) fn require_files(self, usage: FileUse) -> Result<()> {
        let (role, what) = match usage {
            FileUse::CopyFrom => ("pg_read_server_files", "COPY from a file"),
            FileUse::CopyTo => ("pg_write_server_files", "COPY to a file"),
            FileUse::Read => ("pg_read_server_files", "read a file as a table"),
        };
        self.require_superuser(
            &format!("must be superuser or have privileges of the {role} role to {what}"),
            "Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone.",
        )
    }
}

/// What a statement wants with files of the server's machine.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FileUse {
    CopyFrom,
    CopyTo,
    Read,
}

/// The role that something belongs to; `None` is the one that is always there.
pub(crate) fn owner<'a>(catalog: &'a Catalog, object: &Object) -> Option<&'a Arc<Role>> {
    catalog.roles().find(|role| role.privileges(object).contains(Privileges::OWNER))
}

/// What a missing privilege is answered with.
pub(crate) fn denied(kind: &str, name: &str) -> Error {
    Error::new(SqlState::InsufficientPrivilege, format!("permission denied for {kind} {name}"))
}

fn must_own(kind: &str, name: &str) -> Error {
    Error::new(SqlState::InsufficientPrivilege, format!("must be owner of {kind} {name}"))
}
