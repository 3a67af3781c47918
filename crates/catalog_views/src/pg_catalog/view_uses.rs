//! Which relations views read.

use crate::relation_names::find_in;
use crate::search_path::SearchPath;
use crate::view_context::ViewContext;
use deparse::index_parts::key_columns;
use store::catalog::{Relation, View};
use system_catalog::functions::{self, FunctionKind};

/// A relation that a view reads.
pub(crate) struct Used<'a> {
    /// The relation.
    pub(crate) relation: &'a Relation,
    /// Whether the view groups by its primary key, and reads other columns.
    pub(crate) needs_key: bool,
}

/// The relations that a view reads, each as often as its text names it.
pub(crate) fn of_view<'a>(context: &ViewContext<'a>, view: &View) -> Vec<Used<'a>> {
    let catalog = context.catalog;
    let path = SearchPath::new(&view.search_path, context.session.temporary_schema());
    let Ok(script) = grammar::parse(&view.sql) else { return Vec::new() };
    let query = script.statements().first().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
    let Some(query) = query else { return Vec::new() };
    let grouped = grammar::grouped_by(query, &is_aggregate);
    let used = |(schema, name): (Option<String>, String)| {
        let relation = find_in(catalog, path, schema.as_deref(), &name)?;
        let needs_key = match relation {
            Relation::Table(table) if !table.has_hidden_key() => {
                let keys = key_columns(table);
                grouped.iter().any(|names| keys.iter().all(|of| names.contains(&of.name)))
            }
            _ => false,
        };
        Some(Used { relation, needs_key })
    };
    grammar::relations(query).into_iter().filter_map(used).collect()
}

fn is_aggregate(name: &str) -> bool {
    functions::named(name).any(|function| function.kind == FunctionKind::Aggregate)
}
