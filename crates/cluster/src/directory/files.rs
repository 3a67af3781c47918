//! The files of all tables.

use super::file::File;
use crate::membership::Membership;
use parking_lot::Mutex;
use sdds::directory::Coverage;
use sdds::{GroupId, KeyRange};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::catalog::{Relation, Table, TableId};
use store::{Error, Store};

/// The files of all tables. A file is opened on first use.
#[derive(Debug)]
pub(crate) struct Files {
    membership: Arc<Membership>,
    store: Arc<Store>,
    open: Mutex<BTreeMap<TableId, Arc<File>>>,
}

impl Files {
    pub(crate) fn new(membership: Arc<Membership>, store: Arc<Store>) -> Self {
        Self { membership, store, open: Mutex::default() }
    }

    /// The file of a table.
    pub(crate) fn of(&self, table: &Table) -> Arc<File> {
        let members = self.membership.list();
        let all = members.list.iter();
        let here = members.group_of(self.membership.here);
        let groups: Vec<GroupId> = all.map(|member| members.group_of(member.server)).collect();
        drop(members);
        let mut open = self.open.lock();
        let file = open.entry(table.id);
        let file = file.or_insert_with(|| Arc::new(File::open(table, here, &groups)));
        Arc::clone(file)
    }

    /// Opens the files of all tables after a restart: this server owns what it has kept, without what is frozen.
    pub(crate) fn restore(&self, start: u64) {
        let frozen = self.store.frozen();
        let catalog = self.store.catalog();
        let shared = catalog.relations().filter(|relation| !relation.is_temporary());
        for table in shared.filter_map(Relation::file) {
            let frozen = frozen.iter().filter(|frozen| frozen.table == table.id);
            let frozen: Vec<&KeyRange> = frozen.map(|frozen| &frozen.range).collect();
            let mut owned = Vec::new();
            for range in self.store.owned(table.id) {
                owned.extend(without(range, &frozen));
            }
            let file = File::restored(table, self.membership.own_group(), &owned, start);
            self.open.lock().insert(table.id, Arc::new(file));
        }
    }

    /// The file of a table in the newest catalog.
    ///
    /// # Errors
    /// [`Error::Catalog`].
    pub(crate) fn by_id(&self, table: TableId) -> Result<Arc<File>, Error> {
        let missing = || store::catalog::Error::missing(table.relation());
        let catalog = self.store.catalog();
        let definition = catalog.table_by_id(table).ok_or_else(missing)?;
        Ok(self.of(definition))
    }

    /// All open files.
    pub(crate) fn all(&self) -> Vec<Arc<File>> {
        self.open.lock().values().cloned().collect()
    }

    /// The file of a table, if it is open.
    pub(crate) fn find(&self, table: TableId) -> Option<Arc<File>> {
        self.open.lock().get(&table).cloned()
    }

    /// Closes the files of dropped tables.
    pub(crate) fn close_dropped(&self) {
        let mut open = self.open.lock();
        // Loaded under the lock: it has the tables of all open files that were not dropped.
        let catalog = self.store.catalog();
        open.retain(|table, _| catalog.table_by_id(*table).is_some());
    }
}

/// The parts of a range that are in none of some others.
fn without(range: KeyRange, others: &[&KeyRange]) -> Vec<KeyRange> {
    let mut rest = Coverage::new(range.clone());
    for other in others {
        if let Some(common) = other.intersect(&range) {
            rest.add(&common);
        }
    }
    rest.missing().to_vec()
}
