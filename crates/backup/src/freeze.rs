//! The state that a backup contains: one snapshot, and sequences that are not behind it.

use crate::Error;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::catalog::{Catalog, Relation, RelationId};
use store::{Snapshot, Store};

/// Attempts to find a snapshot all of whose sequences exist.
const ATTEMPTS_MAX: usize = 1000;
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(1);

/// A state of a store.
pub(crate) struct Frozen {
    pub(crate) snapshot: Snapshot,
    /// The definitions that are no temporary ones.
    pub(crate) catalog: Catalog,
    /// The last value of each sequence, and whether it has been returned to a client.
    pub(crate) sequences: BTreeMap<RelationId, (i64, bool)>,
}

/// Takes a snapshot, then reads the sequences: a value that a row of the snapshot has was taken before. If a
/// sequence has been dropped in between, both are taken again.
pub(crate) async fn freeze(store: &Arc<Store>) -> Result<Frozen, Error> {
    if store.peers().is_some() {
        let message = "backups of a cluster are not supported yet: a server has only its own rows";
        return Err(Error::Unsupported(message.to_owned()));
    }
    for _ in 0..ATTEMPTS_MAX {
        let snapshot = store.snapshot();
        let catalog = snapshot.catalog().shared();
        let state = |relation: &Relation| match relation {
            Relation::Sequence(of) => Some(store.sequence_state(of).map(|state| (of.id, state))),
            Relation::Table(_) | Relation::View(_) | Relation::Index(_) => None,
        };
        let sequences: Option<BTreeMap<_, _>> = catalog.relations().filter_map(state).collect();
        if let Some(sequences) = sequences {
            return Ok(Frozen { snapshot, catalog, sequences });
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(Error::Unsupported("sequences are dropped faster than a backup can begin".to_owned()))
}
