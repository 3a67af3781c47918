//! Views and what they read, in commits.
//!
//! A view knows which relations its query named when it was made. Of two transactions that do not know of each other one
//! may drop a table while the other one makes a view of it: the later one is refused, and executed again on what there is
//! then. Views from before this was kept know nothing, and temporary ones are left out.

use crate::{Catalog, CatalogChange, Error, Relation, RelationId};

impl Relation {
    /// Returns the relations that the query of a view, or of a materialized view, has named.
    pub fn reads(&self) -> &[RelationId] {
        match self {
            Self::Table(table) => &table.extension.reads,
            Self::View(view) => &view.options.reads,
            Self::Sequence(_) | Self::Index(_) => &[],
        }
    }
}

impl Catalog {
    /// Refuses changes to this catalog that leave a view without what it reads. `known` is the catalog that the transaction
    /// of the changes has read.
    ///
    /// # Errors
    /// [`Error::Conflict`].
    pub fn refuse_lost_reads(&self, known: &Self, changes: &[CatalogChange]) -> Result<(), Error> {
        let is_lost =
            |id: &RelationId| known.relations.contains_key(id) && !self.relations.contains_key(id);
        let mut dropped = Vec::new();
        for change in changes {
            match change {
                CatalogChange::Create(view) | CatalogChange::Replace(view) => {
                    let is_there = self.relations.contains_key(&view.id());
                    if is_there && !view.is_temporary() && view.reads().iter().any(is_lost) {
                        return Err(Error::Conflict { relation: view.name().to_owned() });
                    }
                }
                CatalogChange::Drop(id) if known.relations.contains_key(id) => dropped.push(*id),
                _ => {}
            }
        }
        if dropped.is_empty() {
            return Ok(());
        }
        let is_left = |view: &&Relation| {
            !known.relations.contains_key(&view.id())
                && !view.is_temporary()
                && view.reads().iter().any(|id| dropped.contains(id))
        };
        match self.relations.values().find(is_left) {
            Some(view) => Err(Error::Conflict { relation: view.name().to_owned() }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DEFAULT_SCHEMA, View, ViewOptions};
    use std::sync::Arc;

    fn view(id: u32, reads: &[u32]) -> Relation {
        let reads = reads.iter().copied().map(RelationId).collect();
        Relation::View(Arc::new(View {
            id: RelationId(id),
            schema: DEFAULT_SCHEMA.to_owned(),
            name: format!("v{id}"),
            sql: String::new(),
            columns: Vec::new(),
            search_path: Vec::new(),
            comment: None,
            options: ViewOptions { reads, ..ViewOptions::default() },
        }))
    }

    fn is_refused(now: &Catalog, known: &Catalog, change: CatalogChange) -> bool {
        let after = now.apply(&change).expect("a valid change");
        after.refuse_lost_reads(known, &[change]).is_err()
    }

    #[test]
    fn of_two_transactions_that_make_and_drop_the_later_one_is_refused() {
        let empty = Catalog::new();
        let base = empty.apply(&CatalogChange::Create(view(1, &[]))).expect("valid");
        let create = CatalogChange::Create(view(2, &[1]));
        assert!(is_refused(&empty, &base, create.clone()), "the base is gone");
        assert!(!is_refused(&base, &base, create.clone()));
        let both = base.apply(&create).expect("valid");
        let drop = CatalogChange::Drop(RelationId(1));
        assert!(is_refused(&both, &base, drop.clone()), "the view is new");
        assert!(!is_refused(&both, &both, drop), "the transaction has known the view");
    }
}
