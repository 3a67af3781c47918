//! Serializable transactions on several servers.
//!
//! At its commit such a transaction locks the tables that it has read, among all serializable transactions of the cluster:
//! one after the other in their order, so that nobody waits in a circle. Then it asks all servers whether a table has changed
//! since its snapshot. The locks stay until it has committed, or not: whoever looks next sees what it has changed. The root,
//! which keeps them, loses them when it is started again: a commit that comes later than that is refused.

use super::DistributedTransaction;
use crate::Error;
use crate::peers::{RequiredLocks, TransactionPeers};
use catalog::is_temporary_schema;
use locks::{Mode, Owner, Party, Space};
use std::sync::Arc;

/// Locks on what a transaction has read. Dropping it releases them.
#[derive(Debug)]
pub(super) struct Serialized {
    peers: Arc<dyn TransactionPeers>,
    owner: Owner,
    count: u32,
}

impl Serialized {
    /// What the commit depends on.
    pub(super) fn locks(&self) -> RequiredLocks {
        RequiredLocks { owner: self.owner, count: self.count }
    }
}

impl Drop for Serialized {
    fn drop(&mut self) {
        // It goes on by itself.
        drop(self.peers.unlock_numbers(self.owner, None));
    }
}

/// In the numbers of parties that are transactions: no session has such a number.
const OF_TRANSACTION: u64 = 1 << 62;

impl DistributedTransaction {
    /// Refuses a serializable transaction if what it has read has changed on any server. `None` if there is nothing to
    /// look at.
    ///
    /// # Errors
    /// [`Error::Unserializable`]; errors of other servers.
    pub(super) async fn serialized(&self) -> Result<Option<Serialized>, Error> {
        let Some(elsewhere) = &self.elsewhere else { return Ok(None) };
        let Some(reads) = self.here.validated_reads().filter(|_| !self.is_read_only()) else {
            return Ok(None);
        };
        let peers = Arc::clone(&elsewhere.peers) as Arc<dyn TransactionPeers>;
        let (server, number) = (elsewhere.peers.here(), elsewhere.id.number | OF_TRANSACTION);
        let party = Party { server, number };
        let mut held = Serialized { peers, owner: Owner { party, transaction: 1 }, count: 0 };
        let catalog = self.snapshot().catalog();
        let is_shared = |id: &catalog::TableId| {
            let table = catalog.table_by_id(*id);
            catalog.index_by_id(*id).is_none()
                && table.is_some_and(|table| !is_temporary_schema(&table.schema))
        };
        let reads: Vec<_> = reads.into_iter().filter(is_shared).collect();
        for table in &reads {
            let number = (Space::Serial, i64::from(table.0));
            held.peers.lock_number(held.owner, number, Mode::Exclusive, true).await?;
            held.count += 1;
        }
        for table in reads {
            if !held.peers.is_unchanged(table, self.snapshot().timestamp()).await? {
                return Err(Error::Unserializable);
            }
        }
        Ok(Some(held))
    }
}
