//! The functions of `pg_catalog` that look into the catalog, for one session.

mod cluster;
mod comments;
mod definitions;
mod names;
mod privileges;
mod routines;
mod server;
mod sessions;
mod sizes;
mod texts;

use super::row_function::Row;
use crate::planner::search_path::SearchPath;
use crate::session::Names;
use crate::system::pg_catalog::world::Class;
use datafusion::logical_expr::ScalarUDF;
pub(crate) use names::CAST_FUNCTIONS;
pub(crate) use server::current_setting;
use std::sync::Arc;
use store::catalog::Catalog;
pub(crate) use texts::SUBSCRIPTS;

/// All of them.
pub(super) fn all(names: &Arc<Names>) -> Vec<ScalarUDF> {
    let groups = [
        cluster::all,
        comments::all,
        definitions::all,
        names::all,
        privileges::all,
        routines::all,
        server::all,
        sessions::all,
        sizes::all,
        texts::all,
    ];
    groups.into_iter().flat_map(|group| group(names)).collect()
}

/// What the running statement sees.
struct Sight {
    catalog: Arc<Catalog>,
    search_path: Arc<Vec<String>>,
    temporary: String,
}

impl Sight {
    fn of(names: &Names) -> Self {
        Self {
            catalog: names.catalog.load_full(),
            search_path: names.search_path.load_full(),
            temporary: names.temporary.clone(),
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
