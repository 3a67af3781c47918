//! Single rows as they are now. What is newest of a row its owner knows alone: nobody else is asked for a timestamp.
//!
//! A prepared transaction that writes the row may be committed already, as far as its client knows, so it is waited for.
//! Whoever prepares after that commits after the snapshot that is taken here, which therefore has the newest of the row.

use crate::catalog::{Table, TableId};
use crate::distributed::DistributedTransaction;
use crate::peers::Peers;
use crate::store::Store;
use crate::{ATTEMPTS, Error, Snapshot};
use arrow::array::ArrayRef;
use futures::future::{Either, poll_immediate, select};
use sdds::{Key, KeyRange};
use std::pin::pin;
use std::sync::Arc;

impl Store {
    /// What is committed here, with the newest rows of a range.
    ///
    /// # Errors
    /// [`Peers::patience`], where a transaction that writes to the range stays prepared.
    pub(crate) async fn newest(
        &self,
        peers: &dyn Peers,
        table: TableId,
        range: &KeyRange,
    ) -> Result<Snapshot, Error> {
        let snapshot = |observed| self.snapshots().take_from(observed);
        let mut settled = pin!(self.holds().unless_prepared(table, range, snapshot));
        if let Some(snapshot) = poll_immediate(&mut settled).await {
            return Ok(snapshot);
        }
        match select(settled, peers.patience()).await {
            Either::Left((snapshot, _)) => Ok(snapshot),
            Either::Right((error, _)) => Err(error),
        }
    }

    /// The values of a key's row in some columns, as they are now: here, or where these peers say. Sees every commit
    /// acknowledged so far.
    ///
    /// # Errors
    /// [`Error::SchemaConflict`] where the table is another one by now; [`Peers::refusal`]; those of other servers.
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
        for _ in 0..ATTEMPTS {
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

    /// Begins a transaction that reads and writes no other row than a key's, as it is now; `None` where this server does not own
    /// the key.
    ///
    /// # Errors
    /// [`Peers::patience`].
    pub async fn begin_newest(
        self: &Arc<Self>,
        peers: &dyn Peers,
        table: TableId,
        key: &Key,
    ) -> Result<Option<DistributedTransaction>, Error> {
        let range = KeyRange::point(key);
        let snapshot = self.newest(peers, table, &range).await?;
        let is_here = snapshot.table(table).is_some_and(|view| view.owns(&range));
        Ok(is_here.then(|| self.distributed_on(snapshot)))
    }
}
