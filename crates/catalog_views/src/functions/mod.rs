//! The functions that read the catalog or depend on the session.

mod access_lists;
mod advisory;
mod backups;
mod cluster;
mod comments;
mod current_schema;
mod definitions;
mod formatted;
mod index_properties;
mod names;
mod partitions;
mod privileges;
mod registry;
mod routines;
mod sequences;
mod server;
mod sessions;
mod sizes;
mod texts;
mod updatable;

use crate::pg_catalog::class::Class;
use crate::pg_catalog::quote_ident;
use crate::search_path::SearchPath;
use crate::session_context::SessionContext;
use datafusion::logical_expr::ScalarUDF;
use functions::row_function::Row;
pub use names::{OBJECT_IDS, OBJECT_NAMES};
pub use partitions::PARTITIONS;
pub use registry::Functions;
pub use server::current_setting;
pub use sessions::CHANNELS;
use std::sync::Arc;
use store::catalog::{Catalog, RelationId};
pub use texts::{OPTION_NAMES, OPTION_VALUES, SUBSCRIPTS};

/// All of these functions, for one session.
fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let groups = [
        access_lists::all,
        advisory::all,
        backups::all,
        cluster::all,
        comments::all,
        current_schema::all,
        definitions::all,
        index_properties::all,
        names::all,
        partitions::all,
        privileges::all,
        routines::all,
        sequences::all,
        server::all,
        sessions::all,
        sizes::all,
        texts::all,
        updatable::all,
    ];
    let of_chance = functions::chance::all(session.chance());
    groups.into_iter().flat_map(|group| group(session)).chain(of_chance).collect()
}

/// The catalog and the search path of the running statement.
struct Scope {
    catalog: Arc<Catalog>,
    search_path: Arc<Vec<String>>,
    /// The schema of temporary relations.
    temporary: String,
}

impl Scope {
    /// Those of the session's running statement.
    fn of(session: &dyn SessionContext) -> Self {
        Self {
            catalog: session.catalog(),
            search_path: session.search_path(),
            temporary: session.temporary_schema().to_owned(),
        }
    }

    fn path(&self) -> SearchPath<'_> {
        SearchPath::new(&self.search_path, &self.temporary)
    }

    /// The relation of an argument, which is an id or a name.
    fn class(&self, row: &Row<'_>, index: usize) -> Option<Class<'_>> {
        match row.number(index) {
            Some(oid) => Class::by_oid(&self.catalog, oid),
            None => self.class_by_name(row.text(index)?),
        }
    }

    /// The name of a relation, with its schema unless the search path finds it.
    fn shown_name(&self, id: RelationId) -> Option<String> {
        let shown = self.catalog.relation_by_id(id)?;
        let found = Class::by_name(&self.catalog, self.path(), None, shown.name());
        let is_it = |class: &Class<'_>| match class {
            Class::Relation(relation) => relation.id() == id,
            _ => false,
        };
        let name = quote_ident(shown.name());
        Some(match found.is_some_and(|class| is_it(&class)) {
            true => name,
            false => format!("{}.{name}", quote_ident(shown.schema())),
        })
    }

    fn class_by_name(&self, text: &str) -> Option<Class<'_>> {
        let (schema, name) = names::split(text)?;
        Class::by_name(&self.catalog, self.path(), schema.as_deref(), &name)
    }
}
