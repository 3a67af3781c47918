//! The functions of `pg_catalog` that look into the catalog, for one session.

mod cluster;
mod comments;
mod current_schema;
mod definitions;
mod names;
mod privileges;
mod registry;
mod routines;
mod sequences;
mod server;
mod sessions;
mod sizes;
mod texts;

use crate::catalog_views::pg_catalog::world::Class;
use crate::catalog_views::search_path::SearchPath;
use crate::catalog_views::session_context::SessionContext;
use crate::functions::row_function::Row;
use datafusion::logical_expr::ScalarUDF;
pub(crate) use names::CAST_FUNCTIONS;
pub(crate) use registry::Functions;
pub(crate) use server::current_setting;
use std::sync::Arc;
use store::catalog::Catalog;
pub(crate) use texts::SUBSCRIPTS;

/// All of them.
fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let groups = [
        cluster::all,
        comments::all,
        current_schema::all,
        definitions::all,
        names::all,
        privileges::all,
        routines::all,
        sequences::all,
        server::all,
        sessions::all,
        sizes::all,
        texts::all,
    ];
    groups.into_iter().flat_map(|group| group(session)).collect()
}

/// What the running statement sees.
struct Sight {
    catalog: Arc<Catalog>,
    search_path: Arc<Vec<String>>,
    temporary: String,
}

impl Sight {
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

    /// The relation that an argument means: by id, or by name.
    fn class(&self, row: &Row<'_>, index: usize) -> Option<Class<'_>> {
        match row.number(index) {
            Some(oid) => Class::by_oid(&self.catalog, oid),
            None => self.class_by_name(row.text(index)?),
        }
    }

    fn class_by_name(&self, text: &str) -> Option<Class<'_>> {
        let (schema, name) = names::split(text)?;
        Class::by_name(&self.catalog, self.path(), schema.as_deref(), &name)
    }
}
