//! Orphans: an index, a foreign key, a sequence that a column owns, or a trigger without what it belongs to.
//!
//! A transaction that drops a table drops what belongs to it, as far as its snapshot shows. Of two transactions that do
//! not know of each other one may drop a table while the other one adds to it: the later one is refused. Temporary
//! relations are left out: only their session changes them.

use crate::{
    Catalog, CatalogChange, Error, Relation, RelationId, TableId, Trigger, is_temporary_schema,
};
use std::collections::BTreeSet;

impl Catalog {
    /// Refuses changes, from `before` to this catalog, that leave an orphan which was none before. [`Catalog::apply`] does
    /// not: databases from before this was refused may have orphans, and such changes in their journals.
    ///
    /// # Errors
    /// [`Error::Conflict`].
    pub fn refuse_orphans(&self, before: &Self, changes: &[CatalogChange]) -> Result<(), Error> {
        for change in changes {
            match change {
                CatalogChange::Create(relation) | CatalogChange::Replace(relation) => {
                    self.refuse_orphan(before, relation.id())?;
                }
                CatalogChange::PutTrigger(trigger) => self.refuse_trigger(before, trigger)?,
                CatalogChange::DropFunction(id) => self.refuse_triggers_of(before, *id)?,
                _ => {}
            }
        }
        self.refuse_stale(before, changes)?;
        self.refuse_left(before, changes)
    }

    /// Refuses a relation without what it belongs to.
    fn refuse_orphan(&self, before: &Self, id: RelationId) -> Result<(), Error> {
        let relation = self.relations.get(&id).filter(|relation| !relation.is_temporary());
        let Some(relation) = relation.filter(|relation| self.is_orphan(relation)) else {
            return Ok(());
        };
        match before.relations.get(&id).is_some_and(|old| before.is_orphan(old)) {
            true => Ok(()),
            false => Err(Error::Conflict { relation: relation.name().to_owned() }),
        }
    }

    fn is_orphan(&self, relation: &Relation) -> bool {
        let lacks = |table: TableId| {
            !matches!(self.relations.get(&table.relation()), Some(Relation::Table(_)))
        };
        match relation {
            Relation::Index(index) => lacks(index.table),
            Relation::Sequence(sequence) => {
                sequence.owned_by.is_some_and(|(table, _)| lacks(table))
            }
            Relation::Table(table) => table.foreign_keys.iter().any(|key| lacks(key.references)),
            Relation::View(_) => false,
        }
    }

    /// Refuses to leave what belongs to tables that changes have dropped.
    fn refuse_left(&self, before: &Self, changes: &[CatalogChange]) -> Result<(), Error> {
        let dropped = |change: &CatalogChange| match change {
            CatalogChange::Drop(id) => match before.relations.get(id) {
                Some(Relation::Table(table)) if !is_temporary_schema(&table.schema) => {
                    Some(table.id)
                }
                _ => None,
            },
            _ => None,
        };
        let tables: BTreeSet<TableId> = changes.iter().filter_map(dropped).collect();
        if tables.is_empty() {
            return Ok(());
        }
        let is_owned = |relation: &&Relation| match relation {
            Relation::Sequence(sequence) => {
                sequence.owned_by.is_some_and(|(table, _)| tables.contains(&table))
            }
            _ => false,
        };
        let owned = self.relations.values().filter(is_owned).map(Relation::id);
        let indexes = tables.iter().flat_map(|table| self.indexes_of(*table));
        let referring = tables.iter().flat_map(|table| self.referring_to(*table));
        let mut left = owned
            .chain(indexes.map(|index| index.file.id.relation()))
            .chain(referring.map(|table| table.relation()));
        left.try_for_each(|id| self.refuse_orphan(before, id))
    }

    /// Refuses a trigger whose function is not there.
    fn refuse_trigger(&self, before: &Self, trigger: &Trigger) -> Result<(), Error> {
        let is_orphan = |catalog: &Self| {
            let known = catalog.triggers_of(trigger.table).iter().find(|of| of.id == trigger.id);
            known.is_some_and(|known| catalog.function_by_id(known.function).is_none())
        };
        match is_orphan(self) && !is_orphan(before) {
            true => Err(Error::Conflict { relation: trigger.name.clone() }),
            false => Ok(()),
        }
    }

    /// Refuses to leave the triggers of a function that was dropped.
    fn refuse_triggers_of(&self, before: &Self, id: RelationId) -> Result<(), Error> {
        let function = before.function_by_id(id).filter(|function| !function.is_temporary());
        if function.is_none() || self.function_by_id(id).is_some() {
            return Ok(());
        }
        match self.triggers().find(|trigger| trigger.function == id) {
            Some(trigger) => Err(Error::Conflict { relation: trigger.name.clone() }),
            None => Ok(()),
        }
    }
}

impl Error {
    /// Returns a conflict instead of the error for what is not there any more. `known` is the catalog that the transaction
    /// of the change has read: another one has dropped it since.
    pub fn of_dropped(self, change: &CatalogChange, known: &Catalog) -> Self {
        let Self::RelationMissing { relation } = self else { return self };
        let name = match change {
            CatalogChange::Replace(of) => Some(of.name()),
            CatalogChange::Drop(id) => known.relation_by_id(*id).map(Relation::name),
            _ => None,
        };
        Self::Conflict {
            relation: name.map_or_else(|| format!("relation {relation}"), str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Catalog, CatalogChange, Column, ColumnId, DEFAULT_BUCKET_SIZE, DEFAULT_SCHEMA, Error,
        ForeignKey, Index, IndexColumn, OnCommit, ReferentialAction, Relation, RelationId,
        Sequence, Table, TableExtension, TableId, Timing, Trigger, TriggerEvents, TriggerState,
    };
    use sdds::GroupId;
    use std::sync::Arc;

    fn table(id: u32) -> Table {
        Table {
            id: TableId(id),
            schema: DEFAULT_SCHEMA.to_owned(),
            name: format!("t{id}"),
            columns: vec![Column::row_id(ColumnId(0))],
            key: vec![ColumnId(0)],
            key_constraint: None,
            is_unlogged: false,
            extension: TableExtension::default(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            bucket_size: DEFAULT_BUCKET_SIZE,
            colocate_with: None,
            on_commit: OnCommit::PreserveRows,
            home: GroupId(0),
            next_column: 1,
            version: 1,
            materialized: None,
            comment: None,
        }
    }

    fn index(id: u32, of: &Table) -> Relation {
        let columns = vec![IndexColumn::new(ColumnId(0))];
        Relation::Index(Arc::new(Index::new(TableId(id), format!("i{id}"), of, columns)))
    }

    fn owned_sequence(id: u32, of: u32) -> Relation {
        Relation::Sequence(Arc::new(Sequence {
            id: RelationId(id),
            schema: DEFAULT_SCHEMA.to_owned(),
            name: format!("s{id}"),
            start: 1,
            increment: 1,
            min: 1,
            max: i64::MAX,
            cycle: false,
            owned_by: Some((TableId(of), ColumnId(0))),
            comment: None,
        }))
    }

    fn referring_table(id: u32, to: u32) -> Relation {
        let key = ForeignKey {
            name: "f".to_owned(),
            columns: vec![ColumnId(0)],
            references: TableId(to),
            referenced: vec![ColumnId(0)],
            index: None,
            on_delete: ReferentialAction::NoAction,
            on_update: ReferentialAction::NoAction,
            on_delete_set: Vec::new(),
            is_full: false,
            timing: Timing::NotDeferrable,
            is_valid: true,
        };
        Relation::Table(Arc::new(Table { foreign_keys: vec![key], ..table(id) }))
    }

    fn trigger(name: &str) -> CatalogChange {
        CatalogChange::PutTrigger(Trigger {
            id: RelationId(10),
            table: TableId(1),
            name: name.to_owned(),
            function: RelationId(9),
            is_before: true,
            is_instead: false,
            constraint: None,
            old_table: None,
            new_table: None,
            is_row: true,
            events: TriggerEvents { insert: true, ..TriggerEvents::default() },
            columns: Vec::new(),
            condition: None,
            arguments: Vec::new(),
            state: TriggerState::Enabled,
            comment: None,
        })
    }

    fn create(relation: &Relation) -> CatalogChange {
        CatalogChange::Create(relation.clone())
    }

    fn drop_of(id: u32) -> CatalogChange {
        CatalogChange::Drop(RelationId(id))
    }

    /// The catalog after changes, as journals have them.
    fn applied(before: &Catalog, changes: &[CatalogChange]) -> Catalog {
        let applied = changes.iter().try_fold(before.clone(), |catalog, next| catalog.apply(next));
        applied.expect("valid changes")
    }

    /// Whether a commit with changes is refused.
    fn is_refused(before: &Catalog, changes: &[CatalogChange]) -> bool {
        match applied(before, changes).refuse_orphans(before, changes) {
            Err(error) => {
                assert!(matches!(error, Error::Conflict { .. }), "it is tried again: {error}");
                true
            }
            Ok(()) => false,
        }
    }

    fn with_table() -> Catalog {
        applied(&Catalog::new(), &[create(&Relation::Table(Arc::new(table(1))))])
    }

    #[test]
    fn nothing_is_created_for_a_table_that_is_not_there() {
        for orphan in [index(2, &table(1)), owned_sequence(2, 1), referring_table(2, 1)] {
            assert!(is_refused(&Catalog::new(), &[create(&orphan)]), "{orphan:?}");
            assert!(!is_refused(&with_table(), &[create(&orphan)]), "{orphan:?}");
        }
    }

    #[test]
    fn a_dropped_table_leaves_nothing_that_its_transaction_did_not_know() {
        for other in [index(2, &table(1)), owned_sequence(2, 1), referring_table(2, 1)] {
            let all = applied(&with_table(), &[create(&other)]);
            assert!(is_refused(&all, &[drop_of(1)]), "{other:?}");
            assert!(!is_refused(&all, &[drop_of(2), drop_of(1)]), "{other:?}");
            assert!(!is_refused(&all, &[drop_of(1), drop_of(2)]), "{other:?}");
            assert!(!is_refused(&all, &[drop_of(2)]), "{other:?}");
        }
        assert!(!is_refused(&with_table(), &[drop_of(1)]));
    }

    #[test]
    fn orphans_from_before_may_be_changed_and_dropped() {
        for orphan in [index(2, &table(1)), owned_sequence(2, 1)] {
            let all = applied(&with_table(), &[create(&orphan), drop_of(1)]);
            let replaced = CatalogChange::Replace(orphan.clone());
            assert!(!is_refused(&all, &[replaced]), "{orphan:?}");
            assert!(!is_refused(&all, &[drop_of(2)]), "{orphan:?}");
            let new = create(&Relation::Table(Arc::new(table(3))));
            assert!(!is_refused(&all, &[new, drop_of(3)]), "{orphan:?}");
        }
    }

    #[test]
    fn a_change_of_what_was_dropped_meanwhile_is_a_conflict() {
        let refused = |change: &CatalogChange| {
            let error = Catalog::new().apply(change).expect_err("it is gone");
            error.of_dropped(change, &with_table())
        };
        let conflict = Error::Conflict { relation: "t1".to_owned() };
        assert_eq!(refused(&drop_of(1)), conflict);
        let replaced = Relation::Table(Arc::new(Table { version: 2, ..table(1) }));
        assert_eq!(refused(&CatalogChange::Replace(replaced)), conflict);
    }

    #[test]
    fn a_trigger_has_its_function() {
        assert!(is_refused(&with_table(), &[trigger("a")]));
        let with_orphan = applied(&with_table(), &[trigger("a")]);
        assert!(!is_refused(&with_orphan, &[trigger("b")]), "it was one before");
        assert!(!is_refused(&with_orphan, &[drop_of(1)]));
    }
}
