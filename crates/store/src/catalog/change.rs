//! Changes of the catalog: each is a value, and applying it gives a new catalog or a reason why not.

use super::{
    Catalog, Object, PUBLIC, Privileges, RESERVED_SCHEMAS, Relation, RelationId, Role, Schema,
    TableId, is_temporary_schema,
};
use crate::Error;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One change.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum CatalogChange {
    /// A new schema.
    CreateSchema(Schema),
    /// The schema's comment is another.
    ReplaceSchema(Schema),
    /// An empty schema goes.
    DropSchema(String),
    /// A new relation.
    Create(Relation),
    /// A relation keeps its id and gets another definition, perhaps another name. A table's version
    /// must be one more than it was.
    Replace(Relation),
    /// A relation goes.
    Drop(RelationId),
    /// A table loses all rows.
    Truncate(TableId),
    /// A role is new, or is another than it was. One that exists keeps its privileges, which are not for
    /// this change to say: somebody else may have granted and revoked in between.
    PutRole(Role),
    /// A role gets another name, also as one that others are members of.
    RenameRole {
        /// The old name.
        from: String,
        /// The new name.
        to: String,
    },
    /// A role goes, also as one that others were members of.
    DropRole(String),
    /// What a role, or everybody, may do with something. A role that is gone meanwhile needs nothing.
    SetPrivileges {
        /// Who.
        role: String,
        /// With what.
        object: Object,
        /// All that it may do from now on.
        privileges: Privileges,
    },
}

impl Catalog {
    /// The catalog after a change.
    ///
    /// # Errors
    /// Names that exist already or do not exist, reserved names, schemas that are not empty, and
    /// [`Error::SchemaConflict`] where a table was changed by somebody else in between.
    pub fn apply(&self, change: &CatalogChange) -> Result<Self, Error> {
        let mut next = self.clone();
        match change {
            CatalogChange::CreateSchema(schema) => next.create_schema(schema)?,
            CatalogChange::ReplaceSchema(schema) => {
                self.require_schema(&schema.name)?;
                next.schemas.insert(schema.name.clone(), Arc::new(schema.clone()));
            }
            CatalogChange::DropSchema(name) => next.drop_schema(name)?,
            CatalogChange::Create(relation) => next.create(relation)?,
            CatalogChange::Replace(relation) => next.replace(relation)?,
            CatalogChange::Drop(id) => next.drop_relation(*id)?,
            CatalogChange::PutRole(role) => {
                let mut role = role.clone();
                if let Some(old) = self.roles.get(&role.name) {
                    role.keep_privileges_of(old);
                }
                next.roles.insert(role.name.clone(), Arc::new(role));
            }
            CatalogChange::RenameRole { from, to } => {
                if let Some(old) = next.roles.remove(from) {
                    let renamed = Role { name: to.clone(), ..Role::clone(&old) };
                    next.roles.insert(to.clone(), Arc::new(renamed));
                }
                next.change_roles(
                    |role| role.member_of.contains_key(from),
                    |role| {
                        if let Some(admin) = role.member_of.remove(from) {
                            role.member_of.insert(to.clone(), admin);
                        }
                    },
                );
            }
            CatalogChange::DropRole(name) => {
                next.roles.remove(name);
                next.change_roles(
                    |role| role.member_of.contains_key(name),
                    |role| {
                        role.member_of.remove(name);
                    },
                );
            }
            CatalogChange::SetPrivileges { role, object, privileges } => {
                next.change_roles(
                    |known| known.name == *role,
                    |known| {
                        known.set_privileges(object, *privileges);
                    },
                );
            }
            CatalogChange::Truncate(id) => {
                self.table_by_id(*id).ok_or_else(|| missing(id.relation()))?;
            }
        }
        Ok(next)
    }

    fn require_schema(&self, name: &str) -> Result<(), Error> {
        match self.schemas.contains_key(name) {
            true => Ok(()),
            false => Err(Error::SchemaMissing { schema: name.to_owned() }),
        }
    }

    fn create_schema(&mut self, schema: &Schema) -> Result<(), Error> {
        let name = &schema.name;
        let is_reserved = name.starts_with("pg_") && !is_temporary_schema(name);
        if RESERVED_SCHEMAS.contains(&name.as_str()) || is_reserved {
            return Err(Error::ReservedName { name: name.clone() });
        }
        if self.schemas.contains_key(name) {
            return Err(Error::SchemaExists { schema: name.clone() });
        }
        self.schemas.insert(name.clone(), Arc::new(schema.clone()));
        Ok(())
    }

    fn drop_schema(&mut self, name: &str) -> Result<(), Error> {
        self.require_schema(name)?;
        if let Some(relation) = self.relations_in(name).next() {
            let relation = format!("{} {}", relation.kind(), relation.name());
            return Err(Error::SchemaNotEmpty { schema: name.to_owned(), relation });
        }
        self.schemas.remove(name);
        self.forget(&Object::Schema(name.to_owned()));
        Ok(())
    }

    fn create(&mut self, relation: &Relation) -> Result<(), Error> {
        self.claim_name(relation)?;
        self.relations.insert(relation.id(), relation.clone());
        Ok(())
    }

    fn claim_name(&mut self, relation: &Relation) -> Result<(), Error> {
        self.require_schema(relation.schema())?;
        let name = (relation.schema().to_owned(), relation.name().to_owned());
        if self.names.contains_key(&name) {
            return Err(Error::RelationExists { relation: relation.name().to_owned() });
        }
        self.names.insert(name, relation.id());
        Ok(())
    }

    fn replace(&mut self, relation: &Relation) -> Result<(), Error> {
        let id = relation.id();
        let old = self.relations.get(&id).cloned().ok_or_else(|| missing(id))?;
        if let (Relation::Table(old), Relation::Table(new)) = (&old, relation)
            && new.version != old.version + 1
        {
            return Err(Error::SchemaConflict { relation: new.name.clone() });
        }
        if (old.schema(), old.name()) != (relation.schema(), relation.name()) {
            self.names.remove(&(old.schema().to_owned(), old.name().to_owned()));
            self.claim_name(relation)?;
        }
        self.relations.insert(id, relation.clone());
        Ok(())
    }

    fn drop_relation(&mut self, id: RelationId) -> Result<(), Error> {
        let old = self.relations.remove(&id).ok_or_else(|| missing(id))?;
        self.names.remove(&(old.schema().to_owned(), old.name().to_owned()));
        self.forget(&Object::Relation(id));
        Ok(())
    }

    /// Nobody may do anything with what is gone.
    fn forget(&mut self, object: &Object) {
        self.change_roles(
            |role| !role.privileges(object).is_empty(),
            |role| {
                role.set_privileges(object, Privileges::default());
            },
        );
    }

    /// Changes some roles; that of everybody is one of them.
    fn change_roles(&mut self, which: impl Fn(&Role) -> bool, change: impl Fn(&mut Role)) {
        let found: Vec<Arc<Role>> =
            self.roles.values().chain([&self.public]).filter(|role| which(role)).cloned().collect();
        for role in found {
            let mut changed = Role::clone(&role);
            change(&mut changed);
            match changed.name == PUBLIC {
                true => self.public = Arc::new(changed),
                false => drop(self.roles.insert(changed.name.clone(), Arc::new(changed))),
            }
        }
    }
}

fn missing(id: RelationId) -> Error {
    Error::RelationMissing { relation: format!("with id {}", id.0) }
}
