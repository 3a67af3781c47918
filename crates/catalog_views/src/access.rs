//! The privileges of a session: those of its role, of the roles that the role is a member of, and
//! of `PUBLIC`.
//!
//! While a database has no roles, every session has all privileges. A session that began before the
//! first role was created keeps them, and so does a session within the server process.

use crate::names::DATABASE;
use std::collections::BTreeSet;
use std::sync::Arc;
use store::catalog::{
    Catalog, Object, Privileges, Relation, RelationId, Role, View, is_temporary_schema,
};
use values::{Error, Result, SqlState};

/// The privileges of one role in a catalog.
#[derive(Debug, Clone, Copy)]
pub struct Access<'a> {
    catalog: &'a Catalog,
    /// `None` has all privileges.
    role: Option<&'a str>,
}

impl<'a> Access<'a> {
    /// The privileges of a role; all privileges if it is `None`.
    pub fn new(catalog: &'a Catalog, role: Option<&'a str>) -> Self {
        Self { catalog, role }
    }

    /// All privileges, for internal operations.
    pub fn unlimited(catalog: &'a Catalog) -> Self {
        Self { catalog, role: None }
    }

    /// The privileges of a relation's owner.
    pub fn of_owner(self, relation: RelationId) -> Self {
        let owner = owner(self.catalog, &Object::Relation(relation));
        Self { role: owner.map(|role| role.name.as_str()), ..self }
    }

    /// The privileges with which the query of a view is executed: those of its owner, or with `security_invoker` these.
    pub fn of_view(self, view: &View) -> Self {
        if view.options.security_invoker { self } else { self.of_owner(view.id) }
    }

    /// Whether it has all privileges.
    pub fn is_superuser(self) -> bool {
        match self.role {
            None => true,
            Some(name) => self.catalog.role(name).is_some_and(|role| role.superuser),
        }
    }

    /// The name of the role; `None` if it has all privileges without being a role.
    pub fn role(self) -> Option<&'a str> {
        self.role
    }

    /// Whether it may create roles that are not superusers.
    pub fn makes_roles(self) -> bool {
        let own = self.role.and_then(|name| self.catalog.role(name));
        self.is_superuser() || own.is_some_and(|role| role.create_role)
    }

    /// Whether it may add members to a role.
    pub fn admits_to(self, other: &Role) -> bool {
        let own = self.role.and_then(|name| self.catalog.role(name));
        let admin = own.is_some_and(|role| role.member_of.get(&other.name) == Some(&true));
        self.is_superuser() || admin || self.makes_roles() && !other.superuser
    }

    /// The role with a name.
    pub fn known(self, name: &str) -> Option<&'a Arc<Role>> {
        self.catalog.role(name)
    }

    /// Whether the role is a direct or indirect member of another, or the same.
    pub fn is_in(self, other: &str) -> bool {
        self.closure(|_| true).iter().any(|role| role.name == other)
    }

    /// Whether the role has the privileges of another: it is a superuser, the same, or inherits
    /// from it.
    pub fn has_role(self, other: &str) -> bool {
        self.is_superuser() || self.roles().iter().any(|role| role.name == other)
    }

    /// The text of a user's statement, or a replacement if this role does not have the privileges
    /// of the user.
    pub(crate) fn shown_text<'b>(self, user: &str, text: &'b str) -> &'b str {
        if self.has_role(user) { text } else { "<insufficient privilege>" }
    }

    /// Its privileges on an object. Superusers and the owner have all.
    pub fn privileges(self, object: &Object) -> Privileges {
        if self.is_superuser() {
            return Privileges::ALL.union(Privileges::ALL.grant_option());
        }
        let all = self
            .roles()
            .into_iter()
            .fold(Privileges::default(), |all, role| all.union(role.privileges(object)));
        if all.contains(Privileges::OWNER) {
            Privileges::ALL.union(Privileges::ALL.grant_option())
        } else {
            all
        }
    }

    /// The role, the roles that it inherits from, and `PUBLIC`.
    fn roles(self) -> Vec<&'a Arc<Role>> {
        let mut found = self.closure(|role| role.inherit);
        found.push(self.catalog.public());
        found
    }

    /// The role and those that it is a direct or indirect member of. Memberships of a role are
    /// followed if `follow` is true for it.
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

    /// The refusal of a change of a system table, which nobody makes here: 0A000 for superusers, else 42501.
    pub fn no_change_of_system(self, name: &str) -> Error {
        match self.is_superuser() {
            true => Error::unsupported(format!("a change of the table {name} is not supported")),
            false => denied("table", name),
        }
    }

    /// Checks the privileges on a relation, and USAGE on its schema.
    ///
    /// # Errors
    /// 42501 if one is missing.
    pub fn require(self, relation: &Relation, needed: Privileges) -> Result<()> {
        if self.is_superuser() {
            return Ok(());
        }
        self.require_schema(relation.schema(), Privileges::USAGE)?;
        // An index has the privileges of its table.
        let object = match relation {
            Relation::Index(index) => index.table.relation(),
            _ => relation.id(),
        };
        if self.privileges(&Object::Relation(object)).contains(needed) {
            Ok(())
        } else if needed == Privileges::OWNER {
            Err(must_own(relation.kind(), relation.name()))
        } else {
            Err(denied(relation.kind(), relation.name()))
        }
    }

    /// Checks the privileges on a schema. A session has all but OWNER on its schema of temporary
    /// relations, which no other session can resolve.
    ///
    /// # Errors
    /// 42501 if one is missing.
    pub fn require_schema(self, name: &str, needed: Privileges) -> Result<()> {
        if self.privileges(&Object::Schema(name.to_owned())).contains(needed) {
            Ok(())
        } else if needed == Privileges::OWNER {
            Err(must_own("schema", name))
        } else if is_temporary_schema(name) {
            Ok(())
        } else {
            Err(denied("schema", name))
        }
    }

    /// Checks the privilege to create schemas.
    ///
    /// # Errors
    /// 42501 if it is missing.
    pub fn require_create_on_database(self) -> Result<()> {
        if self.privileges(&Object::Database).contains(Privileges::CREATE) {
            Ok(())
        } else {
            Err(denied("database", DATABASE))
        }
    }

    /// Checks that the role is a superuser.
    ///
    /// # Errors
    /// 42501 with the message and hint if it is not.
    pub fn require_superuser(self, message: &str, hint: &str) -> Result<()> {
        if self.is_superuser() {
            Ok(())
        } else {
            Err(Error::new(SqlState::InsufficientPrivilege, message).with_hint(hint))
        }
    }

    /// Checks the privilege to read or write files on the server's host.
    ///
    /// # Errors
    /// 42501 if the role is not a superuser.
    pub fn require_files(self, usage: FileUse) -> Result<()> {
        let (role, what) = match usage {
            FileUse::CopyFrom => ("pg_read_server_files", "COPY from a file"),
            FileUse::CopyTo => ("pg_write_server_files", "COPY to a file"),
            FileUse::Read => ("pg_read_server_files", "read a file as a table"),
            FileUse::Function => ("pg_read_server_files", "make a function of a file"),
        };
        self.require_superuser(
            &format!("must be superuser or have privileges of the {role} role to {what}"),
            "Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone.",
        )
    }
}

/// How a statement uses files on the server's host.
#[derive(Debug, Clone, Copy)]
pub enum FileUse {
    /// COPY FROM a file.
    CopyFrom,
    /// COPY TO a file.
    CopyTo,
    /// A query of a file as a table.
    Read,
    /// CREATE FUNCTION with a source in a file.
    Function,
}

/// The role that owns an object; `None` means the bootstrap superuser.
pub fn owner<'a>(catalog: &'a Catalog, object: &Object) -> Option<&'a Arc<Role>> {
    catalog.roles().find(|role| role.privileges(object).contains(Privileges::OWNER))
}

/// The error of a missing privilege: 42501.
pub fn denied(kind: &str, name: &str) -> Error {
    Error::new(SqlState::InsufficientPrivilege, format!("permission denied for {kind} {name}"))
}

/// The error for a role that does not own an object: 42501.
pub(crate) fn must_own(kind: &str, name: &str) -> Error {
    Error::new(SqlState::InsufficientPrivilege, format!("must be owner of {kind} {name}"))
}
