//! What system tables are computed from, and how other catalogs refer to what is in it.

use super::super::shape::{self, Shape};
use super::oids;
use crate::catalog_views::access::Access;
use crate::catalog_views::search_path::SearchPath;
use crate::catalog_views::session_context::DatabaseContext;
use crate::catalog_views::session_context::SessionContext;
use std::collections::HashMap;
use std::sync::Arc;
use store::catalog::{
    Catalog, Column, Object, Relation, RelationId, Sequence, SqlType, Table, View,
};

/// The name of the database.
pub(crate) const DATABASE: &str = "pando";
/// The schemas that are the system's own.
pub(crate) const SYSTEM_SCHEMAS: [&str; 3] = ["pg_catalog", "information_schema", "pando"];

/// The columns of views, which only planning the views can tell.
pub(crate) type ViewColumns = HashMap<RelationId, Vec<(String, SqlType)>>;

/// What there is, at one statement's snapshot.
pub(crate) struct World<'a> {
    pub(crate) database: &'a dyn DatabaseContext,
    /// The session that asks.
    pub(crate) session: &'a dyn SessionContext,
    pub(crate) catalog: &'a Catalog,
    pub(crate) settings: &'a [(String, String)],
    pub(crate) views: &'a ViewColumns,
    /// Names of the functions that can be called.
    pub(crate) functions: &'a dyn Fn(&str) -> bool,
    /// What whoever asks may do.
    pub(crate) access: Access<'a>,
}

impl World<'_> {
    /// Whether the views for everybody show a relation to whoever asks: he may do something with it.
    pub(crate) fn shows(&self, relation: &Relation) -> bool {
        let is_others =
            relation.is_temporary() && relation.schema() != self.session.temporary_schema();
        !is_others && !self.access.privileges(&Object::Relation(relation.id())).is_empty()
    }

    /// The text of a user's statement, for whom it concerns.
    pub(crate) fn text_of<'b>(&self, user: &str, text: &'b str) -> &'b str {
        self.access.shown_text(user, text)
    }

    /// The tables.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        tables(self.catalog)
    }

    /// The tables that have a primary key.
    pub(crate) fn keyed(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables().filter(|table| !table.has_hidden_key())
    }

    /// The views, with their columns where they can be told.
    pub(crate) fn views(&self) -> impl Iterator<Item = (&Arc<View>, &[(String, SqlType)])> {
        let views = self.catalog.relations().filter_map(|relation| match relation {
            Relation::View(view) => Some(view),
            Relation::Table(_) | Relation::Sequence(_) => None,
        });
        views.map(|view| (view, self.views.get(&view.id).map_or(&[][..], Vec::as_slice)))
    }

    /// The sequences.
    pub(crate) fn sequences(&self) -> impl Iterator<Item = &Arc<Sequence>> {
        self.catalog.relations().filter_map(|relation| match relation {
            Relation::Sequence(sequence) => Some(sequence),
            Relation::Table(_) | Relation::View(_) => None,
        })
    }

    /// Live rows of a table.
    pub(crate) fn row_count(&self, table: &Table) -> i64 {
        let rows: u64 =
            self.database.store().bucket_infos(table.id).iter().map(|bucket| bucket.rows).sum();
        i64::try_from(rows).unwrap_or(i64::MAX)
    }

    /// The names of all schemas, with their comments.
    pub(crate) fn schemas(&self) -> Vec<(String, Option<String>)> {
        let own =
            self.catalog.schemas().map(|schema| (schema.name.clone(), schema.comment.clone()));
        let system = SYSTEM_SCHEMAS.map(|name| (name.to_owned(), None));
        own.chain(system).collect()
    }
}

/// The tables of a catalog.
pub(crate) fn tables(catalog: &Catalog) -> impl Iterator<Item = &Arc<Table>> {
    catalog.relations().filter_map(|relation| match relation {
        Relation::Table(table) => Some(table),
        Relation::View(_) | Relation::Sequence(_) => None,
    })
}

/// The columns that a user declared, each with its number.
pub(crate) fn declared(table: &Table) -> impl Iterator<Item = (i64, &Column)> {
    (1..).zip(table.columns.iter().filter(|column| !column.hidden))
}

/// The numbers of the primary key's columns, in key order.
pub(crate) fn key_numbers(table: &Table) -> Vec<i64> {
    let number = |id| declared(table).find(|(_, column)| column.id == id).map(|(number, _)| number);
    table.key.iter().filter_map(|id| number(*id)).collect()
}

/// The primary key's columns, in key order.
pub(crate) fn key_columns(table: &Table) -> Vec<&Column> {
    table.key_indices().into_iter().map(|index| &table.columns[index]).collect()
}

/// What an object id in `pg_class` stands for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Class<'a> {
    /// A table, view or sequence.
    Relation(&'a Relation),
    /// The index under a table's primary key.
    KeyIndex(&'a Arc<Table>),
    /// A system table.
    System(&'static Shape),
}

impl<'a> Class<'a> {
    /// The object of an id.
    pub(crate) fn by_oid(catalog: &'a Catalog, oid: i64) -> Option<Self> {
        if let Some(table) = oids::table_of_index(oid) {
            return match catalog.relation_by_id(table)? {
                Relation::Table(table) => Some(Self::KeyIndex(table)),
                Relation::View(_) | Relation::Sequence(_) => None,
            };
        }
        let own = oids::relation_of(oid).and_then(|id| catalog.relation_by_id(id));
        own.map(Self::Relation)
            .or_else(|| shape::all().find(|shape| shape.oid == oid).map(Self::System))
    }

    /// The object of a name; `pg_catalog` comes first where the search path does not name it.
    pub(crate) fn by_name(
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
        let table = name.strip_suffix("_pkey")?;
        match catalog.relation(schema, table)? {
            Relation::Table(table) if !table.has_hidden_key() => Some(Self::KeyIndex(table)),
            _ => None,
        }
    }

    pub(crate) fn oid(self) -> i64 {
        match self {
            Self::Relation(relation) => oids::relation(relation.id()),
            Self::KeyIndex(table) => oids::key_index(table.id.relation()),
            Self::System(shape) => shape.oid,
        }
    }

    pub(crate) fn schema(self) -> &'a str {
        match self {
            Self::Relation(relation) => relation.schema(),
            Self::KeyIndex(table) => &table.schema,
            Self::System(shape) => shape.schema,
        }
    }

    pub(crate) fn name(self) -> String {
        match self {
            Self::Relation(relation) => relation.name().to_owned(),
            Self::KeyIndex(table) => table.key_name(),
            Self::System(shape) => shape.name.to_owned(),
        }
    }

    /// Whether the bare name leads to it.
    pub(crate) fn is_visible(self, catalog: &Catalog, path: SearchPath<'_>) -> bool {
        Class::by_name(catalog, path, None, &self.name())
            .is_some_and(|found| found.oid() == self.oid())
    }
}
