//! Which foreign keys refer to a table.

use crate::{Catalog, ForeignKey, Index, Table, TableId};
use std::sync::Arc;

impl Catalog {
    /// Returns the tables with foreign keys that refer to a table.
    pub fn referring_to(&self, table: TableId) -> &[TableId] {
        self.referring.get(&table).map_or(&[], |tables| tables)
    }

    /// Whether a table has a UNIQUE constraint that is checked later than its rows are written.
    pub fn has_deferrable(&self, table: TableId) -> bool {
        self.indexes_of(table).iter().any(|index| index.is_deferrable())
    }

    /// Returns the index of the primary key of a table, if the key is deferrable.
    pub fn deferrable_key(&self, table: TableId) -> Option<&Arc<Index>> {
        self.indexes_of(table).iter().find(|index| index.is_primary)
    }

    /// Returns the foreign keys that refer to a table, each with its own table.
    pub fn references_to(
        &self,
        table: TableId,
    ) -> impl Iterator<Item = (&Arc<Table>, &ForeignKey)> {
        let tables = self.referring_to(table).iter().filter_map(|id| self.table_by_id(*id));
        tables.flat_map(move |of| {
            let keys = of.foreign_keys.iter().filter(move |key| key.references == table);
            keys.map(move |key| (of, key))
        })
    }

    /// Lists a table anew under those that its foreign keys refer to.
    pub(crate) fn list_references(&mut self, old: &[ForeignKey], table: TableId) {
        let new: Vec<TableId> = match self.table_by_id(table) {
            Some(table) => table.foreign_keys.iter().map(|key| key.references).collect(),
            None => Vec::new(),
        };
        let mut changed: Vec<TableId> = old.iter().map(|key| key.references).collect();
        changed.extend(&new);
        changed.sort_unstable();
        changed.dedup();
        for referenced in changed {
            let mut tables = self.referring_to(referenced).to_vec();
            tables.retain(|other| *other != table);
            if new.contains(&referenced) {
                tables.push(table);
                tables.sort_unstable();
            }
            match tables.is_empty() {
                true => drop(self.referring.remove(&referenced)),
                false => drop(self.referring.insert(referenced, tables.into())),
            }
        }
    }
}
