//! Changes of the catalog: each is a value, and applying it gives a new catalog or a reason why not.

use super::{Catalog, RESERVED_SCHEMAS, Relation, RelationId, Role, Schema, TableId};
use crate::Error;
use std::sync::Arc;

/// One change.
#[derive(Debug, Clone)]
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
    /// A role is new, or is another than it was.
    PutRole(Role),
    /// A role goes.
    DropRole(String),
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
                next.roles.insert(role.name.clone(), Arc::new(role.clone()));
            }
            CatalogChange::DropRole(name) => {
                next.roles.remove(name);
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
        if RESERVED_SCHEMAS.contains(&name.as_str()) || name.starts_with("pg_") {
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
        Ok(())
    }
}

fn missing(id: RelationId) -> Error {
    Error::RelationMissing { relation: format!("with id {}", id.0) }
}
