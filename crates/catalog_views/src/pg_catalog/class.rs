//! The objects of `pg_class`, by id and by name.

use super::oids;
use crate::search_path::SearchPath;
use crate::shape::{self, Shape};
use std::sync::Arc;
use store::catalog::{Catalog, Relation, Table, TypeId, UserType};

/// An object with a row in `pg_class`.
#[derive(Debug, Clone, Copy)]
pub enum Class<'a> {
    /// A table, view, sequence or index.
    Relation(&'a Relation),
    /// The index under a table's primary key.
    KeyIndex(&'a Arc<Table>),
    /// A system table.
    System(&'static Shape),
    /// A composite type.
    Composite(&'a Arc<UserType>),
}

impl<'a> Class<'a> {
    /// The object with an id.
    pub fn by_oid(catalog: &'a Catalog, oid: i64) -> Option<Self> {
        if let Some(table) = oids::table_of_index(oid) {
            return match catalog.relation_by_id(table)? {
                Relation::Table(table) => Some(Self::KeyIndex(table)),
                Relation::View(_) | Relation::Sequence(_) | Relation::Index(_) => None,
            };
        }
        let own = oids::relation_of(oid).and_then(|id| catalog.relation_by_id(id));
        let composite = || {
            let id = oids::relation_of(oid)?;
            let user = catalog.user_type_by_id(TypeId(id.0))?;
            user.attributes().map(|_| Self::Composite(user))
        };
        own.map(Self::Relation)
            .or_else(composite)
            .or_else(|| shape::all().find(|shape| shape.oid == oid).map(Self::System))
    }

    /// The object of a name. Without a schema, `pg_catalog` is searched before the search path.
    pub fn by_name(
        catalog: &'a Catalog,
        path: SearchPath<'_>,
        schema: Option<&str>,
        name: &str,
    ) -> Option<Self> {
        match schema {
            Some(schema) => Self::in_schema(catalog, path.resolve(schema), name),
            None => std::iter::once("pg_catalog")
                .chain(path.schemas())
                .find_map(|schema| Self::in_schema(catalog, schema, name)),
        }
    }

    fn in_schema(catalog: &'a Catalog, schema: &str, name: &str) -> Option<Self> {
        if let Some(shape) = shape::of(schema, name) {
            return Some(Self::System(shape));
        }
        if let Some(relation) = catalog.relation(schema, name) {
            return Some(Self::Relation(relation));
        }
        if let Some(user) = catalog.user_type(schema, name)
            && user.attributes().is_some()
        {
            return Some(Self::Composite(user));
        }
        catalog.table_of_key(schema, name).map(Self::KeyIndex)
    }

    /// Its object id.
    pub fn oid(self) -> i64 {
        match self {
            Self::Relation(relation) => oids::relation(relation.id()),
            Self::KeyIndex(table) => oids::key_index(table.id.relation()),
            Self::System(shape) => shape.oid,
            Self::Composite(user) => oids::user_type(user.id),
        }
    }

    /// What it is in messages.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Relation(relation) => relation.kind(),
            Self::KeyIndex(_) => "index",
            Self::System(shape) if shape.kind == "v" => "view",
            Self::System(_) => "table",
            Self::Composite(_) => "type",
        }
    }

    /// The name of its schema.
    pub fn schema(self) -> &'a str {
        match self {
            Self::Relation(relation) => relation.schema(),
            Self::KeyIndex(table) => &table.schema,
            Self::System(shape) => shape.schema,
            Self::Composite(user) => &user.schema,
        }
    }

    /// Its name without the schema.
    pub fn name(self) -> String {
        match self {
            Self::Relation(relation) => relation.name().to_owned(),
            Self::KeyIndex(table) => table.key_name(),
            Self::System(shape) => shape.name.to_owned(),
            Self::Composite(user) => user.name.clone(),
        }
    }

    /// Whether its name without a schema refers to it.
    pub(crate) fn is_visible(self, catalog: &Catalog, path: SearchPath<'_>) -> bool {
        Class::by_name(catalog, path, None, &self.name())
            .is_some_and(|found| found.oid() == self.oid())
    }
}
