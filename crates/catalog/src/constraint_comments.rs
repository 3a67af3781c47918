//! Comments of constraints, which go with their constraints.
//!
//! A table has the comments of its constraints by their names ([`crate::TableExtension`]). Constraints are changed in many
//! ways, also as indexes; so the comments of those that are not there any more are removed here, after each change.

use crate::{Catalog, Relation, Table, TableId};
use std::sync::Arc;

impl Table {
    /// Whether it has a constraint of a name that is no index.
    fn has_own_constraint(&self, name: &str) -> bool {
        self.checks.iter().any(|check| check.name == name)
            || self.foreign_keys.iter().any(|key| key.name == name)
            || self.is_key_name(name)
    }
}

impl Catalog {
    /// Whether a table has a constraint of a name. Constraint triggers are none.
    pub fn has_constraint(&self, table: &Table, name: &str) -> bool {
        let mut indexes = self.indexes_of(table.id).iter();
        table.has_own_constraint(name)
            || indexes.any(|index| index.is_constraint && index.file.name == name)
    }

    /// Removes the comments of constraints that a table does not have any more. The comment of a constraint with an index
    /// follows a new name, `from` and then `to`.
    pub(super) fn follow_comments(&mut self, id: TableId, renamed: Option<(&str, &str)>) {
        let Some(Relation::Table(table)) = self.relations.get(&id.relation()) else { return };
        if table.extension.comments.is_empty() {
            return;
        }
        let mut next = Table::clone(table);
        if let Some((from, to)) = renamed {
            next.move_constraint_comment(from, to);
        }
        let comments = std::mem::take(&mut next.extension.comments);
        let kept = comments.into_iter().filter(|(name, _)| self.has_constraint(table, name));
        next.extension.comments = kept.collect();
        if next.extension != table.extension {
            self.relations.insert(id.relation(), Relation::Table(Arc::new(next)));
        }
    }

    /// Makes comments follow a changed, new or dropped relation.
    pub(super) fn comments_changed(&mut self, old: Option<&Relation>, new: Option<&Relation>) {
        match (old, new) {
            (_, Some(Relation::Table(table))) => self.follow_comments(table.id, None),
            (Some(Relation::Index(index)), None) if index.is_constraint => {
                self.follow_comments(index.table, None);
            }
            (Some(Relation::Index(old)), Some(Relation::Index(new))) if old.is_constraint => {
                self.follow_comments(old.table, Some((&old.file.name, &new.file.name)));
            }
            _ => {}
        }
    }
}
