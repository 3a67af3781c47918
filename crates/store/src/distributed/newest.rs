//! Reads and writes of single rows in their newest version. The owner of a row knows it, so no
//! timestamp is requested from another server.
//!
//! A prepared transaction that writes the row may already be acknowledged to its client, so it is
//! waited for. A transaction that prepares afterwards commits after the snapshot taken here, so the
//! snapshot has the newest version of the row.

use super::DistributedTransaction;
use crate::peers::{ATTEMPTS_MAX, Knowledge, Peers};
use crate::store::Store;
use crate::{Error, Snapshot};
use arrow::array::ArrayRef;
use catalog::{Table, TableId};
use futures::future::{Either, poll_immediate, select};
use sdds::{Key, KeyRange};
use std::pin::pin;
use std::sync::Arc;

impl Store {
    /// Returns a snapshot of this server with the newest rows of a range.
    ///
    /// # Errors
    /// [`Knowledge::patience`](crate::Knowledge::patience) if a transaction that writes to the range remains prepared.
    async fn newest(
        &self,
        knowledge: &dyn Knowledge,
        table: TableId,
        range: &KeyRange,
    ) -> Result<Snapshot, Error> {
        let snapshot = |observed| self.snapshots().take_from(observed);
        let mut settled = pin!(self.holds().unless_prepared(table, range, snapshot));
        if let Some(snapshot) = poll_immediate(&mut settled).await {
            return Ok(snapshot);
        }
        match select(settled, knowledge.patience()).await {
            Either::Left((snapshot, _)) => Ok(snapshot),
            Either::Right((error, _)) => Err(error),
        }
    }

    /// Returns the newest values of a key's row in some columns, from this server or through
    /// `peers`. Every acknowledged commit is visible.
    ///
    /// # Errors
    /// [`Error::SchemaConflict`] if the table has another definition by now; [`Knowledge::refusal`](crate::Knowledge::refusal);
    /// errors of other servers.
    pub async fn find_newest(
        &self,
        peers: &dyn Peers,
        table: &Arc<Table>,
        key: &Key,
        columns: &[usize],
    ) -> Result<Option<Vec<ArrayRef>>, Error> {
        if let Some(refusal) = peers.refusal() {
            return Err(refusal);
        }
        let range = KeyRange::point(key);
        for _ in 0..ATTEMPTS_MAX {
            let view = self.newest(peers, table.id, &range).await?.table(table.id);
            let Some(view) = view.filter(|view| view.table().version == table.version) else {
                return Err(Error::SchemaConflict { relation: table.name.clone() });
            };
            match view.get(key, columns) {
                Err(Error::NotOwned { .. }) => {}
                here => return here,
            }
            match peers.newest(table, key, columns).await {
                Err(Error::NotOwned { .. }) => {}
                there => return there,
            }
        }
        Err(Error::NotOwned { range })
    }

    /// Begins a transaction that reads and writes only a key's row, in its newest version. Returns
    /// `None` if this server does not own the key.
    ///
    /// # Errors
    /// [`Knowledge::patience`](crate::Knowledge::patience).
    pub async fn begin_newest(
        self: &Arc<Self>,
        knowledge: &dyn Knowledge,
        table: TableId,
        key: &Key,
    ) -> Result<Option<DistributedTransaction>, Error> {
        let range = KeyRange::point(key);
        let snapshot = self.newest(knowledge, table, &range).await?;
        let is_here = snapshot.table(table).is_some_and(|view| view.owns(&range));
        Ok(is_here.then(|| self.distributed_on(snapshot)))
    }
}
