//! The names that a change concerns.

use crate::Renaming;
use std::collections::BTreeSet;
use store::catalog::{Relation, Table};

/// Names in small letters. Texts with none of them stay as they are.
pub(crate) struct Different {
    names: BTreeSet<String>,
}

impl Different {
    /// The names, old and new, of what is not called as before.
    pub(crate) fn of(renaming: &Renaming<'_>) -> Self {
        let (before, after) = (renaming.before, renaming.after);
        let mut names = BTreeSet::new();
        for old in before.relations() {
            let Some(new) = after.relation_by_id(old.id()) else { continue };
            let is_view = renaming.view.is_some_and(|(view, _)| view == old.id());
            if is_view || is_other(old, new) {
                names.extend([old.name(), new.name()].map(str::to_lowercase));
            }
        }
        for old in before.functions() {
            let new = after.function_by_id(old.id);
            if let Some(new) =
                new.filter(|new| (&new.schema, &new.name) != (&old.schema, &old.name))
            {
                names.extend([&old.name, &new.name].map(|name| name.to_lowercase()));
            }
        }
        for old in before.user_types() {
            let new = after.user_type_by_id(old.id);
            if let Some(new) =
                new.filter(|new| (&new.schema, &new.name) != (&old.schema, &old.name))
            {
                names.extend([&old.name, &new.name].map(|name| name.to_lowercase()));
            }
        }
        Self { names }
    }

    /// Whether a text may have one of the names.
    pub(crate) fn may_be_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        // `U&` writes letters as numbers, and quotes are doubled where names and strings have them.
        if text.contains("u&") {
            return !self.names.is_empty();
        }
        self.names.iter().any(|name| name.contains(['"', '\'']) || text.contains(name.as_str()))
    }
}

/// Whether a relation or its columns are called otherwise.
fn is_other(old: &Relation, new: &Relation) -> bool {
    let columns = match (old, new) {
        (Relation::Table(old), Relation::Table(new)) => names_of(old) != names_of(new),
        _ => false,
    };
    columns || (old.schema(), old.name()) != (new.schema(), new.name())
}

fn names_of(table: &Table) -> Vec<&str> {
    table.columns.iter().map(|column| column.name.as_str()).collect()
}
