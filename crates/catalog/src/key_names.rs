//! The names of primary keys. The index of a primary key is no relation of its own, but its name is among theirs.

use crate::{Catalog, CatalogChange, Error, Relation, Table, TableId};
use std::sync::Arc;

impl Catalog {
    /// Finds the table whose primary key has a name.
    pub fn table_of_key(&self, schema: &str, name: &str) -> Option<&Arc<Table>> {
        let id = self.key_names.get(&(schema.to_owned(), name.to_owned()))?;
        self.table_by_id(*id)
    }

    /// Whether a relation or a primary key has a name.
    pub fn has_name(&self, schema: &str, name: &str) -> bool {
        self.relation(schema, name).is_some() || self.table_of_key(schema, name).is_some()
    }

    /// Refuses a change that gives a relation the name of a primary key, or the other way round. [`Catalog::apply`]
    /// does not: databases from before this was refused may have such changes in their journals.
    ///
    /// # Errors
    /// [`Error::RelationExists`].
    pub fn refuse_taken_name(&self, change: &CatalogChange) -> Result<(), Error> {
        let (CatalogChange::Create(new) | CatalogChange::Replace(new)) = change else {
            return Ok(());
        };
        let old = self.relation_by_id(new.id());
        let (schema, name) = (new.schema(), new.name());
        if old.is_none_or(|old| (old.schema(), old.name()) != (schema, name))
            && self.table_of_key(schema, name).is_some_and(|of| of.id.relation() != new.id())
        {
            return Err(Error::RelationExists { relation: name.to_owned() });
        }
        let Some((schema, key)) = key_of(new) else { return Ok(()) };
        let is_other = self.relation(&schema, &key).is_some_and(|other| other.id() != new.id())
            || self.table_of_key(&schema, &key).is_some_and(|of| of.id.relation() != new.id())
            || new.name() == key;
        match is_other && old.and_then(key_of).is_none_or(|old| old != (schema, key.clone())) {
            true => Err(Error::RelationExists { relation: key }),
            false => Ok(()),
        }
    }

    /// Lists the primary key of a relation anew.
    pub(crate) fn key_changed(&mut self, old: Option<&Relation>, new: Option<&Relation>) {
        if let Some(relation) = old
            && let Some(name) = key_of(relation)
            && self.key_names.get(&name) == Some(&TableId(relation.id().0))
        {
            self.key_names.remove(&name);
        }
        if let Some(relation) = new
            && let Some(name) = key_of(relation)
        {
            self.key_names.insert(name, TableId(relation.id().0));
        }
    }
}

/// The schema and the name of a table's primary key.
fn key_of(relation: &Relation) -> Option<(String, String)> {
    match relation {
        Relation::Table(table) if !table.has_hidden_key() => {
            Some((table.schema.clone(), table.key_name()))
        }
        _ => None,
    }
}
