//! Comments on what is in no schema: the database, and roles.

use crate::Catalog;
use serde::{Deserialize, Serialize};

/// What is in no schema and can have a comment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Shared {
    /// The database.
    Database,
    /// A role, by its name.
    Role(String),
}

impl Catalog {
    /// Returns the comments on what is in no schema.
    pub fn shared_comments(&self) -> impl Iterator<Item = (&Shared, &str)> {
        self.comments.iter().map(|(on, comment)| (on, comment.as_str()))
    }

    /// Sets a comment, or removes it.
    pub(super) fn put_comment(&mut self, on: &Shared, comment: Option<&str>) {
        match comment {
            Some(comment) => self.comments.insert(on.clone(), comment.to_owned()),
            None => self.comments.remove(on),
        };
    }

    /// Makes the comment of a role follow its new name.
    pub(super) fn move_role_comment(&mut self, from: &str, to: &str) {
        if let Some(comment) = self.comments.remove(&Shared::Role(from.to_owned())) {
            self.comments.insert(Shared::Role(to.to_owned()), comment);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CatalogChange, Role};

    #[test]
    fn comments_follow_their_roles() {
        let role = |name: &str| Shared::Role(name.to_owned());
        let comment = |on| CatalogChange::PutComment { on, comment: Some("c".to_owned()) };
        let names = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        let (from, to) = names("a", "b");
        let changes = [
            CatalogChange::PutRole(Role::new("a")),
            comment(role("a")),
            comment(Shared::Database),
            CatalogChange::RenameRole { from, to },
        ];
        let catalog = changes
            .iter()
            .try_fold(Catalog::new(), |catalog, change| catalog.apply(change))
            .expect("valid changes");
        let all: Vec<_> = catalog.shared_comments().map(|(on, _)| on.clone()).collect();
        assert_eq!(all, [Shared::Database, role("b")]);
        let dropped = catalog.apply(&CatalogChange::DropRole("b".to_owned())).expect("dropped");
        assert_eq!(dropped.shared_comments().count(), 1);
        let removed = CatalogChange::PutComment { on: Shared::Database, comment: None };
        assert_eq!(dropped.apply(&removed).expect("removed").shared_comments().count(), 0);
    }
}
