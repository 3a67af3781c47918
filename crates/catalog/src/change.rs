//! Catalog changes as values.

use crate::{
    AggregateDetails, Catalog, Error, Extension, Function, Object, PUBLIC, Privileges,
    RESERVED_SCHEMAS, Relation, RelationId, Role, Schema, Shared, TableId, Trigger, TypeId,
    UserType, is_temporary_schema,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A change of the catalog.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum CatalogChange {
    /// Creates a schema.
    CreateSchema(Schema),
    /// Replaces the comment of a schema.
    ReplaceSchema(Schema),
    /// Drops an empty schema.
    DropSchema(String),
    /// Creates a relation.
    Create(Relation),
    /// Replaces the definition of a relation, which keeps its id. The name may change. The version
    /// of a table must be one more than before.
    Replace(Relation),
    /// Drops a relation.
    Drop(RelationId),
    /// Removes all rows of a table.
    Truncate(TableId),
    /// Creates or alters a role. An existing role keeps its privileges: other transactions may
    /// grant and revoke concurrently.
    PutRole(Role),
    /// Renames a role, also in the memberships of other roles.
    RenameRole {
        /// The old name.
        from: String,
        /// The new name.
        to: String,
    },
    /// Drops a role, also from the memberships of other roles.
    DropRole(String),
    /// Sets the privileges of a role on an object. Has no effect if the role does not exist.
    SetPrivileges {
        /// The role; [`PUBLIC`] for everybody.
        role: String,
        /// The object.
        object: Object,
        /// The new set of privileges.
        privileges: Privileges,
    },
    /// Creates a type.
    CreateType(UserType),
    /// Replaces the definition of a type, which keeps its id. The name may change.
    ReplaceType(UserType),
    /// Drops a type.
    DropType(TypeId),
    /// Creates a function, or replaces the one with its id. The name may change.
    PutFunction(Function),
    /// As [`Self::PutFunction`], with what only some functions have.
    PutExtended(Function, Extension),
    /// Drops a function.
    DropFunction(RelationId),
    /// Creates a trigger, or replaces the one with its id. The name may change.
    PutTrigger(Trigger),
    /// Drops a trigger.
    DropTrigger {
        /// Its table.
        table: TableId,
        /// Its id.
        id: RelationId,
    },
    /// As [`Self::PutExtended`], with what only some aggregates have.
    PutAggregate(Function, Extension, AggregateDetails),
    /// Sets or removes the comment on what is in no schema.
    PutComment {
        /// What has it.
        on: Shared,
        /// The text; `None` removes it.
        comment: Option<String>,
    },
}

impl CatalogChange {
    /// The change that creates a function, or replaces the one with its id.
    pub fn put_function(mut function: Function) -> Self {
        let mut extension = std::mem::take(&mut function.extension);
        let details = std::mem::take(&mut extension.details);
        if details != AggregateDetails::default() {
            return Self::PutAggregate(function, extension, details);
        }
        match extension {
            none if none == Extension::default() => Self::PutFunction(function),
            extension => Self::PutExtended(function, extension),
        }
    }

    /// Returns the table that the change needs exclusively.
    pub fn table(&self) -> Option<TableId> {
        match self {
            Self::Replace(Relation::Table(table)) => Some(table.id),
            Self::Truncate(id) => Some(*id),
            Self::Drop(id) => Some(TableId(id.0)),
            _ => None,
        }
    }

    /// Whether the change concerns only the session that makes it: it is about a temporary schema
    /// or relation. `before` and
    /// `changes` are the catalog before the transaction, and all changes of the transaction.
    pub fn is_temporary(&self, before: &Catalog, changes: &[Self]) -> bool {
        let is_temporary_function = |id: RelationId| {
            let created = || {
                changes.iter().find_map(|change| match change {
                    Self::PutFunction(function) if function.id == id => Some(function),
                    _ => None,
                })
            };
            let known = before.function_by_id(id).map(|function| &**function);
            known.or_else(created).is_some_and(Function::is_temporary)
        };
        let is_temporary = |id: RelationId| {
            let created = || {
                changes.iter().find_map(|change| match change {
                    Self::Create(relation) if relation.id() == id => Some(relation),
                    _ => None,
                })
            };
            before.relation_by_id(id).or_else(created).is_some_and(Relation::is_temporary)
                || is_temporary_function(id)
        };
        match self {
            Self::CreateSchema(schema) | Self::ReplaceSchema(schema) => {
                is_temporary_schema(&schema.name)
            }
            Self::DropSchema(name) => is_temporary_schema(name),
            Self::Create(relation) | Self::Replace(relation) => relation.is_temporary(),
            Self::Drop(id) => is_temporary(*id),
            Self::Truncate(id) => is_temporary(id.relation()),
            Self::SetPrivileges { object, .. } => match object {
                Object::Database => false,
                Object::Schema(name) => is_temporary_schema(name),
                Object::Relation(id) => is_temporary(*id),
            },
            Self::PutTrigger(trigger) => is_temporary(trigger.table.relation()),
            Self::DropTrigger { table, .. } => is_temporary(table.relation()),
            Self::PutFunction(function)
            | Self::PutExtended(function, _)
            | Self::PutAggregate(function, ..) => function.is_temporary(),
            Self::DropFunction(id) => is_temporary_function(*id),
            Self::PutRole(_)
            | Self::PutComment { .. }
            | Self::RenameRole { .. }
            | Self::DropRole(_)
            | Self::CreateType(_)
            | Self::ReplaceType(_)
            | Self::DropType(_) => false,
        }
    }
}

impl Catalog {
    /// Returns the catalog after a change.
    ///
    /// # Errors
    /// Names that exist already or do not exist, reserved names, schemas that are not empty, and
    /// [`Error::Conflict`] if the version of a table does not follow its current one.
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
            CatalogChange::CreateType(user) => next.create_type(user)?,
            CatalogChange::ReplaceType(user) => {
                next.remove_type(user.id)?;
                next.create_type(user)?;
            }
            CatalogChange::DropType(id) => {
                next.remove_type(*id)?;
                next.forget(&Object::Relation(id.object()));
            }
            CatalogChange::PutRole(role) => {
                let mut role = role.clone();
                if let Some(old) = self.roles.get(&role.name) {
                    role.keep_privileges_of(old);
                }
                next.roles.insert(role.name.clone(), Arc::new(role));
            }
            CatalogChange::RenameRole { from, to } => {
                next.move_role_comment(from, to);
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
            CatalogChange::DropRole(name) => next.drop_role(name),
            CatalogChange::PutComment { on, comment } => next.put_comment(on, comment.as_deref()),
            CatalogChange::SetPrivileges { role, object, privileges } => {
                next.change_roles(
                    |known| known.name == *role,
                    |known| known.set_privileges(object, *privileges),
                );
            }
            CatalogChange::PutFunction(function) => next.put_function(function)?,
            CatalogChange::PutExtended(function, of) => next.put_extended(function, of)?,
            CatalogChange::PutAggregate(function, of, details) => {
                next.put_aggregate(function, of, details)?;
            }
            CatalogChange::DropFunction(id) => next.drop_function(*id)?,
            CatalogChange::PutTrigger(trigger) => next.put_trigger(trigger)?,
            CatalogChange::DropTrigger { table, id } => next.drop_trigger(*table, *id)?,
            CatalogChange::Truncate(id) => {
                self.table_by_id(*id).ok_or_else(|| Error::missing(id.relation()))?;
            }
        }
        Ok(next)
    }

    pub(super) fn require_schema(&self, name: &str) -> Result<(), Error> {
        if self.schemas.contains_key(name) {
            Ok(())
        } else {
            Err(Error::SchemaMissing { schema: name.to_owned() })
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
        if let Some(user) = self.types.values().find(|user| user.schema == name) {
            let relation = format!("type {}", user.name);
            return Err(Error::SchemaNotEmpty { schema: name.to_owned(), relation });
        }
        if let Some(function) = self.functions_in(name).next() {
            let relation = format!("{} {}", function.kind(), function.name);
            return Err(Error::SchemaNotEmpty { schema: name.to_owned(), relation });
        }
        self.schemas.remove(name);
        self.forget(&Object::Schema(name.to_owned()));
        Ok(())
    }

    fn create(&mut self, relation: &Relation) -> Result<(), Error> {
        self.claim_name(relation)?;
        self.relations.insert(relation.id(), relation.clone());
        self.index_changed(relation);
        self.key_changed(None, Some(relation));
        self.references_changed(None, relation);
        Ok(())
    }

    fn claim_name(&mut self, relation: &Relation) -> Result<(), Error> {
        self.require_schema(relation.schema())?;
        let name = (relation.schema().to_owned(), relation.name().to_owned());
        if self.names.contains_key(&name) {
            return Err(Error::RelationExists { relation: relation.name().to_owned() });
        }
        match self.types.get(&name) {
            // It stands among the relations.
            Some(user) if user.attributes().is_some() => {
                return Err(Error::RelationExists { relation: relation.name().to_owned() });
            }
            Some(_) if has_row_type(relation) => {
                return Err(Error::TypeExists { name: relation.name().to_owned() });
            }
            _ => {}
        }
        self.names.insert(name, relation.id());
        Ok(())
    }

    fn replace(&mut self, relation: &Relation) -> Result<(), Error> {
        let id = relation.id();
        let old = self.relations.get(&id).cloned().ok_or_else(|| Error::missing(id))?;
        if let (Relation::Table(old), Relation::Table(new)) = (&old, relation)
            && new.version != old.version + 1
        {
            return Err(Error::Conflict { relation: new.name.clone() });
        }
        if (old.schema(), old.name()) != (relation.schema(), relation.name()) {
            self.names.remove(&(old.schema().to_owned(), old.name().to_owned()));
            self.claim_name(relation)?;
        }
        self.relations.insert(id, relation.clone());
        self.index_changed(relation);
        self.key_changed(Some(&old), Some(relation));
        self.references_changed(Some(&old), relation);
        self.comments_changed(Some(&old), Some(relation));
        Ok(())
    }

    fn drop_relation(&mut self, id: RelationId) -> Result<(), Error> {
        let old = self.relations.remove(&id).ok_or_else(|| Error::missing(id))?;
        self.names.remove(&(old.schema().to_owned(), old.name().to_owned()));
        self.index_changed(&old);
        self.key_changed(Some(&old), None);
        self.references_changed(Some(&old), &old);
        self.comments_changed(Some(&old), None);
        self.triggers.remove(&TableId(id.0));
        self.forget(&Object::Relation(id));
        Ok(())
    }

    fn create_type(&mut self, user: &UserType) -> Result<(), Error> {
        self.require_schema(&user.schema)?;
        let name = (user.schema.clone(), user.name.clone());
        let namesake = self.relation(&user.schema, &user.name);
        if namesake.is_some_and(has_row_type) || self.types.contains_key(&name) {
            return Err(Error::TypeExists { name: user.name.clone() });
        }
        // It stands among the relations.
        if namesake.is_some() && user.attributes().is_some() {
            return Err(Error::RelationExists { relation: user.name.clone() });
        }
        self.types.insert(name, Arc::new(user.clone()));
        Ok(())
    }

    fn remove_type(&mut self, id: TypeId) -> Result<(), Error> {
        let old = self.user_type_by_id(id).ok_or_else(|| Error::missing(id.object()))?;
        let name = (old.schema.clone(), old.name.clone());
        self.types.remove(&name);
        Ok(())
    }

    fn index_changed(&mut self, relation: &Relation) {
        if let Relation::Index(index) = relation {
            self.list_indexes(index.table);
        }
    }

    fn references_changed(&mut self, old: Option<&Relation>, new: &Relation) {
        let keys = |relation: &Relation| match relation {
            Relation::Table(table) => table.foreign_keys.clone(),
            _ => Vec::new(),
        };
        let before = old.map_or_else(Vec::new, keys);
        if !before.is_empty() || !keys(new).is_empty() {
            self.list_references(&before, TableId(new.id().0));
        }
    }

    /// Removes all privileges on a dropped object.
    pub(super) fn forget(&mut self, object: &Object) {
        self.change_roles(
            |role| !role.privileges(object).is_empty(),
            |role| {
                role.set_privileges(object, Privileges::default());
            },
        );
    }

    /// Drops a role, also as one that others are members of.
    fn drop_role(&mut self, name: &str) {
        self.roles.remove(name);
        self.put_comment(&Shared::Role(name.to_owned()), None);
        self.change_roles(
            |role| role.member_of.contains_key(name),
            |role| {
                role.member_of.remove(name);
            },
        );
    }

    /// Changes the roles that satisfy a condition, [`PUBLIC`] included.
    fn change_roles(&mut self, which: impl Fn(&Role) -> bool, change: impl Fn(&mut Role)) {
        let found: Vec<Arc<Role>> =
            self.roles.values().chain([&self.public]).filter(|role| which(role)).cloned().collect();
        for role in found {
            let mut changed = Role::clone(&role);
            change(&mut changed);
            if changed.name == PUBLIC {
                self.public = Arc::new(changed);
            } else {
                self.roles.insert(changed.name.clone(), Arc::new(changed));
            }
        }
    }
}

/// Whether there is a type of the rows of a relation, with its name.
fn has_row_type(relation: &Relation) -> bool {
    matches!(relation, Relation::Table(_) | Relation::View(_))
}
