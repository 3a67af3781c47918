//! Roles: who may log in, and what each may do.

use super::RelationId;
use std::collections::BTreeMap;

/// A user or a group of privileges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// The name that it logs in with.
    pub name: String,
    /// May do everything.
    pub superuser: bool,
    /// May open a session.
    pub login: bool,
    /// What a password is checked against, in PostgreSQL's form; `None` where it has none.
    pub verifier: Option<String>,
    /// What it may do with relations.
    pub relations: BTreeMap<RelationId, Privileges>,
    /// What it may do with schemas.
    pub schemas: BTreeMap<String, Privileges>,
}

impl Role {
    /// A role that may do nothing yet.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            superuser: false,
            login: false,
            verifier: None,
            relations: BTreeMap::new(),
            schemas: BTreeMap::new(),
        }
    }
}

/// A set of privileges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Privileges(u16);

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
    /// Name what is in a schema; take values of a sequence.
    pub const USAGE: Self = Self(32);
    /// Make relations in a schema.
    pub const CREATE: Self = Self(64);
    /// Change the definition, drop it, grant it to others.
    pub const OWNER: Self = Self(128);
    /// Everything.
    pub const ALL: Self = Self(255);

    /// Both sets.
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This set without another.
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether all of another set is in this one.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether nothing is in it.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}
