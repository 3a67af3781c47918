//! Roles: who may log in, and what each may do.

use super::RelationId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The role that everybody is a member of. Nobody can log in as it, and it always exists.
pub const PUBLIC: &str = "public";

/// A user or a group of privileges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Role {
    /// The name that it logs in with.
    pub name: String,
    /// May do everything.
    pub superuser: bool,
    /// May open a session.
    pub login: bool,
    /// May make, change and drop roles that are no superusers.
    pub create_role: bool,
    /// Kept and shown: there is one database, and no more can be made.
    pub create_database: bool,
    /// How many sessions it may have at a time; `None` for any number.
    pub connection_limit: Option<u32>,
    /// When its password ends to count, in microseconds since 1970; `None` where that was never said.
    pub valid_until: Option<i64>,
    /// May do what the roles may do that it is a member of, without becoming one of them.
    pub inherit: bool,
    /// What a password is checked against, in PostgreSQL's form; `None` where it has none.
    pub verifier: Option<String>,
    /// The roles that it is a member of, and whether it may make others members.
    pub member_of: BTreeMap<String, bool>,
    /// What it may do with the database as a whole.
    pub database: Privileges,
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

    /// What it may do with something.
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

/// What privileges are about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Object {
    /// The one database.
    Database,
    /// A schema, by name.
    Schema(String),
    /// A table, view or sequence.
    Relation(RelationId),
}

/// A set of privileges; each may come with the right to hand it on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Privileges(u32);

/// Above each privilege, the right to hand it on.
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
    /// Name what is in a schema; take values of a sequence.
    pub const USAGE: Self = Self(32);
    /// Make relations in a schema, or schemas in the database.
    pub const CREATE: Self = Self(64);
    /// Change the definition, drop it, grant it to others.
    pub const OWNER: Self = Self(128);
    /// Kept and shown: there are no foreign keys.
    pub const REFERENCES: Self = Self(256);
    /// Kept and shown: there are no triggers.
    pub const TRIGGER: Self = Self(512);
    /// Everything that there is to do with a table or view.
    pub const OF_TABLES: Self = Self(1 | 2 | 4 | 8 | 16 | 256 | 512);
    /// Everything that there is to do with a sequence.
    pub const OF_SEQUENCES: Self = Self(1 | 4 | 32);
    /// Everything that there is to do with a schema.
    pub const OF_SCHEMAS: Self = Self(32 | 64);
    /// Everything, and to whom it belongs.
    pub const ALL: Self = Self(0xffff);

    /// The privilege that SQL calls so, in capitals: what GRANT names and `has_table_privilege` asks for.
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
            _ => return None,
        })
    }

    /// Both sets.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in both sets.
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// This set without another.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether all of another set is in this one.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether something of another set is in this one.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether nothing is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The right to hand these privileges on.
    pub const fn grant_option(self) -> Self {
        Self((self.0 & 0xffff) << GRANT_SHIFT)
    }

    /// The privileges that may be handed on.
    pub const fn grantable(self) -> Self {
        Self(self.0 >> GRANT_SHIFT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
