//! What `*` stands for, so that texts that are kept can write it out.

use super::scope::{Item, Scope};

/// A `*` or `t.*` of a select list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Star {
    /// The byte of the statement's text at which it begins.
    pub location: usize,
    /// The columns, with the names of their relations if they need them; empty if names cannot refer to all of them.
    pub columns: Vec<(Option<String>, String)>,
}

/// The columns of items of a level, as names refer to them.
pub(super) fn written(scope: &Scope, items: &[&Item]) -> Vec<(Option<String>, String)> {
    let mut columns = Vec::new();
    for item in items {
        for (name, _) in &item.columns {
            let is_once = item.columns.iter().filter(|(other, _)| other == name).count() == 1;
            let is_found = item.is_named && !item.name.is_empty();
            if is_once && is_found && scope.item(None, &item.name, -1).is_ok() {
                columns.push((Some(item.name.clone()), name.clone()));
            } else if matches!(scope.column(name, -1), Ok(Some(_))) {
                columns.push((None, name.clone()));
            } else {
                return Vec::new();
            }
        }
    }
    columns
}
