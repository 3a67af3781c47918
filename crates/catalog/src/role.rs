//! Roles and privileges.

use crate::RelationId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The role that every role is a member of. It cannot log in or be dropped.
pub const PUBLIC: &str = "public";

/// A user or a group of users.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Role {
    /// The name.
    pub name: String,
    /// Whether it has all privileges.
    pub superuser: bool,
    /// Whether it may open a session.
    pub login: bool,
    /// Whether it may create, alter and drop roles other than superusers.
    pub create_role: bool,
    /// Shown only: there is a single database.
    pub create_database: bool,
    /// Maximum number of concurrent sessions; `None` for no limit.
    pub connection_limit: Option<u32>,
    /// Expiry of the password in microseconds since 1970-01-01 UTC; `None` if it does not expire.
    pub valid_until: Option<i64>,
    /// Whether it has the privileges of the roles it is a member of without SET ROLE.
    pub inherit: bool,
    /// The password verifier in PostgreSQL's format; `None` without a password.
    pub verifier: Option<String>,
    /// The roles it is a member of, each with the admin option.
    pub member_of: BTreeMap<String, bool>,
    /// Its privileges on the database.
    pub database: Privileges,
    /// Its privileges on relations.
    pub relations: BTreeMap<RelationId, Privileges>,
    /// Its privileges on schemas.
    pub schemas: BTreeMap<String, Privileges>,
}

impl Role {
    /// Whether it is a superuser that can log in with a password. Without one nobody is authenticated.
    pub fn administers(&self) -> bool {
        self.superuser && self.login && self.verifier.is_some()
    }

    /// Returns a role without attributes and privileges.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            superuser: false,
            login: false,
            create_role: false,
            create_database: false,
            connection_limit: None,
            valid_until: None,
            inherit: true,
            verifier: None,
            member_of: BTreeMap::new(),
            database: Privileges::default(),
            relations: BTreeMap::new(),
            schemas: BTreeMap::new(),
        }
    }

    /// Returns its privileges on an object.
    pub fn privileges(&self, object: &Object) -> Privileges {
        match object {
            Object::Database => self.database,
            Object::Schema(name) => self.schemas.get(name).copied().unwrap_or_default(),
            Object::Relation(id) => self.relations.get(id).copied().unwrap_or_default(),
        }
    }

    pub(super) fn keep_privileges_of(&mut self, old: &Self) {
        self.database = old.database;
        self.relations.clone_from(&old.relations);
        self.schemas.clone_from(&old.schemas);
    }

    pub(super) fn set_privileges(&mut self, object: &Object, privileges: Privileges) {
        match object {
            Object::Database => self.database = privileges,
            Object::Schema(name) if privileges.is_empty() => drop(self.schemas.remove(name)),
            Object::Schema(name) => drop(self.schemas.insert(name.clone(), privileges)),
            Object::Relation(id) if privileges.is_empty() => drop(self.relations.remove(id)),
            Object::Relation(id) => drop(self.relations.insert(*id, privileges)),
        }
    }
}

/// The object of a privilege.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Object {
    /// The one database.
    Database,
    /// A schema, by name.
    Schema(String),
    /// A table, view, sequence or function.
    Relation(RelationId),
}

/// A set of privileges, each with an optional grant option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Privileges(pub(crate) u32);

/// Grant options are stored in the bits above the privileges.
const GRANT_SHIFT: u32 = 16;

impl Privileges {
    /// Read rows.
    pub const SELECT: Self = Self(1);
    /// Add rows.
    pub const INSERT: Self = Self(2);
    /// Change rows.
    pub const UPDATE: Self = Self(4);
    /// Remove rows.
    pub const DELETE: Self = Self(8);
    /// Remove all rows.
    pub const TRUNCATE: Self = Self(16);
    /// Access the objects of a schema; use a sequence.
    pub const USAGE: Self = Self(32);
    /// Create relations in a schema, or schemas in the database.
    pub const CREATE: Self = Self(64);
    /// Ownership: alter, drop and grant.
    pub const OWNER: Self = Self(128);
    /// Shown only: there are no foreign keys.
    pub const REFERENCES: Self = Self(256);
    /// Shown only: there are no triggers.
    pub const TRIGGER: Self = Self(512);
    /// Call a function.
    pub const EXECUTE: Self = Self(1024);
    /// All privileges on functions.
    pub const OF_FUNCTIONS: Self = Self(1024);
    /// All privileges on tables and views.
    pub const OF_TABLES: Self = Self(1 | 2 | 4 | 8 | 16 | 256 | 512);
    /// All privileges on sequences.
    pub const OF_SEQUENCES: Self = Self(1 | 4 | 32);
    /// All privileges on schemas.
    pub const OF_SCHEMAS: Self = Self(32 | 64);
    /// All privileges, ownership included.
    pub const ALL: Self = Self(0xffff);

    /// Returns the privilege with this SQL name, in upper case.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "SELECT" => Self::SELECT,
            "INSERT" => Self::INSERT,
            "UPDATE" => Self::UPDATE,
            "DELETE" => Self::DELETE,
            "TRUNCATE" => Self::TRUNCATE,
            "REFERENCES" => Self::REFERENCES,
            "TRIGGER" => Self::TRIGGER,
            "USAGE" => Self::USAGE,
            "CREATE" => Self::CREATE,
            "EXECUTE" => Self::EXECUTE,
            _ => return None,
        })
    }

    /// Returns the union of both sets.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the intersection of both sets.
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns this set without `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether this set contains all of `other`.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the sets have a privilege in common.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the grant options of these privileges.
    pub const fn grant_option(self) -> Self {
        Self((self.0 & 0xffff) << GRANT_SHIFT)
    }

    /// Returns the privileges that have the grant option.
    pub const fn grantable(self) -> Self {
        Self(self.0 >> GRANT_SHIFT)
    }
}

#[cfg(test)]
mod tests {
    use crate::*;

    #[test]
    fn a_privilege_and_the_right_to_hand_it_on_are_two_things() {
        let read = Privileges::SELECT;
        let both = read.union(read.grant_option());
        assert!(both.contains(read) && both.grantable().contains(read));
        assert!(!read.grantable().contains(read));
        assert!(both.without(read.grant_option()).contains(read));
        assert!(!both.grantable().contains(Privileges::INSERT));
    }
}
