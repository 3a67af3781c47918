//! What system tables are computed from.

use crate::access::Access;
use crate::catalog_tables::{indexes, tables};
use crate::names::{SYSTEM_SCHEMAS, comment_on};
use crate::search_path::SearchPath;
use crate::session_context::{DatabaseContext, SessionContext};
use crate::updatable_views::{self, Updatable};
use std::collections::HashMap;
use std::sync::Arc;
use store::catalog::{
    Catalog, Index, Object, Relation, RelationId, Sequence, SqlType, Table, TableId, View,
};

/// The columns of each view. Only the planner can compute them.
pub type ViewColumns = HashMap<RelationId, Vec<(String, SqlType)>>;

/// The input of system tables, at the snapshot of one statement.
pub(crate) struct ViewContext<'a> {
    pub(crate) database: &'a dyn DatabaseContext,
    /// The session that runs the statement.
    pub(crate) session: &'a dyn SessionContext,
    pub(crate) catalog: &'a Catalog,
    /// Names and values, sorted by name.
    pub(crate) settings: &'a [(String, String)],
    pub(crate) views: &'a ViewColumns,
    /// Whether a function of this name exists.
    pub(crate) functions: &'a dyn Fn(&str) -> bool,
    /// The privileges of the current user.
    pub(crate) access: Access<'a>,
}

impl ViewContext<'_> {
    /// Whether the `information_schema` shows a relation: the current user has some privilege on
    /// it, and it is not a temporary relation of another session.
    pub(crate) fn shows(&self, relation: &Relation) -> bool {
        let is_others =
            relation.is_temporary() && relation.schema() != self.session.temporary_schema();
        !is_others && !self.access.privileges(&Object::Relation(relation.id())).is_empty()
    }

    /// What can be done with the rows of a relation.
    pub(crate) fn updatable(&self, relation: &Relation) -> Updatable {
        updatable_views::of_relation(self.catalog, self.path(), relation)
    }

    /// What can be done with columns of a view.
    pub(crate) fn updatable_columns(&self, view: &Arc<View>, names: &[String]) -> Vec<Updatable> {
        let names: Vec<Option<String>> = names.iter().cloned().map(Some).collect();
        let view = Relation::View(Arc::clone(view));
        updatable_views::of_columns(self.catalog, self.path(), &view, &names)
    }

    /// A path of no schemas but that of temporary relations: views have paths of their own.
    fn path(&self) -> SearchPath<'_> {
        SearchPath::new(&[], self.session.temporary_schema())
    }

    /// The text of a user's statement, or a replacement if the current user may not see it.
    pub(crate) fn text_of<'b>(&self, user: &str, text: &'b str) -> &'b str {
        self.access.shown_text(user, text)
    }

    /// The tables without the materialized views.
    pub(crate) fn base_tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables().filter(|table| table.materialized.is_none())
    }

    /// The tables and the materialized views.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        tables(self.catalog)
    }

    /// The tables with a primary key that is the key of their file.
    pub(crate) fn keyed(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables().filter(|table| !table.has_hidden_key())
    }

    /// The indexes that are not under a primary key, with their tables.
    pub(crate) fn indexes(&self) -> impl Iterator<Item = (&Arc<Index>, &Arc<Table>)> {
        indexes(self.catalog)
    }

    /// The indexes of a table's UNIQUE constraints, and of a primary key that is deferrable.
    pub(crate) fn unique(&self, table: TableId) -> impl Iterator<Item = &Arc<Index>> {
        self.catalog.indexes_of(table).iter().filter(|index| index.is_constraint)
    }

    /// The views with their columns; without columns if a view cannot be planned.
    pub(crate) fn views(&self) -> impl Iterator<Item = (&Arc<View>, &[(String, SqlType)])> {
        let views = self.catalog.relations().filter_map(|relation| match relation {
            Relation::View(view) => Some(view),
            Relation::Table(_) | Relation::Sequence(_) | Relation::Index(_) => None,
        });
        views.map(|view| (view, self.views.get(&view.id).map_or(&[][..], Vec::as_slice)))
    }

    /// The definitions of the views and the materialized views.
    pub(crate) fn queries(&self) -> impl Iterator<Item = Arc<View>> {
        self.catalog.relations().filter_map(|relation| match relation {
            Relation::View(view) => Some(Arc::clone(view)),
            Relation::Table(table) => table.as_view().map(Arc::new),
            Relation::Sequence(_) | Relation::Index(_) => None,
        })
    }

    /// The sequences.
    pub(crate) fn sequences(&self) -> impl Iterator<Item = &Arc<Sequence>> {
        self.catalog.relations().filter_map(|relation| match relation {
            Relation::Sequence(sequence) => Some(sequence),
            Relation::Table(_) | Relation::View(_) | Relation::Index(_) => None,
        })
    }

    /// The type of a sequence: that of its column, or the one whose bounds it has.
    pub(crate) fn type_of(&self, sequence: &Sequence) -> SqlType {
        let column = sequence.owned_by.and_then(|(table, id)| {
            let table = self.catalog.table_by_id(table)?;
            table.columns.iter().find(|column| column.id == id)
        });
        let bounds = [sequence.min, sequence.max];
        let holds = |of: &SqlType, least: i64, most: i64| {
            let fits = bounds.iter().all(|bound| (least..=most).contains(bound));
            let is_own = column.is_some_and(|column| column.sql_type == *of);
            fits && (is_own || bounds.contains(&most) || bounds.contains(&least))
        };
        if holds(&SqlType::SmallInt, i16::MIN.into(), i16::MAX.into()) {
            SqlType::SmallInt
        } else if holds(&SqlType::Integer, i32::MIN.into(), i32::MAX.into()) {
            SqlType::Integer
        } else {
            SqlType::BigInt
        }
    }

    /// Whether a table has an index.
    pub(crate) fn has_index(&self, table: &Table) -> bool {
        !table.has_hidden_key() || !self.catalog.indexes_of(table.id).is_empty()
    }

    /// Whether a table has triggers in PostgreSQL: those of foreign keys, its own and those that refer to it.
    pub(crate) fn has_triggers(&self, table: &Table) -> bool {
        !table.foreign_keys.is_empty()
            || !self.catalog.referring_to(table.id).is_empty()
            || !self.catalog.triggers_of(table.id).is_empty()
    }

    /// Number of live rows of a table on this server.
    pub(crate) fn row_count(&self, table: &Table) -> i64 {
        let rows: u64 =
            self.database.store().bucket_infos(table.id).iter().map(|bucket| bucket.rows).sum();
        i64::try_from(rows).unwrap_or(i64::MAX)
    }

    /// The names of all schemas, with their comments.
    pub(crate) fn schemas(&self) -> Vec<(String, Option<String>)> {
        let own = self.catalog.schemas().map(|schema| (schema.name.clone(), comment_on(schema)));
        let system = SYSTEM_SCHEMAS.map(|name| (name.to_owned(), None));
        own.chain(system).collect()
    }
}
