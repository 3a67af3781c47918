//! What a server does from time to time: it tells the root of itself, and does what it is told.

use crate::cluster::{Cluster, Inner, ROOT, unexpected};
use crate::commit;
use crate::members::{ServerLoad, TableLoad};
use crate::message::{Answer, Beat, Heartbeat, Request};
use crate::moving;
use std::sync::{Arc, Weak};
use std::time::Duration;
use store::Error;
use store::catalog::Relation;

/// The time between two heartbeats.
const PERIOD: Duration = Duration::from_millis(100);

impl Cluster {
    /// Begins to tell the root of this server; ends when the last handle on it is gone, or with an error when the
    /// cluster has given it up.
    pub(crate) fn start_heartbeat(&self) {
        let inner = Arc::downgrade(&self.0);
        self.0.runtime.spawn(async move {
            let mut period = tokio::time::interval(PERIOD);
            period.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                period.tick().await;
                if !beat(&inner).await {
                    return;
                }
            }
        });
    }
}

async fn beat(inner: &Weak<Inner>) -> bool {
    let Some(inner) = inner.upgrade() else { return false };
    for file in inner.files.all() {
        let mail = file.heartbeat();
        inner.post(&file, mail);
    }
    commit::resolve(&inner).await;
    match tell(&inner).await {
        Ok(beat) => follow(&inner, beat),
        Err(error) => tracing::warn!(%error, "the root did not take a heartbeat"),
    }
    true
}

/// Tells the root.
async fn tell(inner: &Inner) -> Result<Beat, Error> {
    let oldest = inner.floors.lock().oldest(inner.store.oldest_snapshot());
    let heartbeat = Heartbeat {
        group: inner.here,
        oldest,
        members: inner.members.read().version,
        load: load(inner),
    };
    if let Some(root) = &inner.root {
        return root.heartbeat(inner, &heartbeat);
    }
    match inner.ask(ROOT, &Request::Heartbeat(heartbeat)).await? {
        Answer::Beat(beat) => Ok(*beat),
        other => Err(unexpected(&other)),
    }
}

/// Does what the root says.
fn follow(inner: &Arc<Inner>, beat: Beat) {
    inner.floors.lock().learn(beat.now);
    inner.store.set_horizon(beat.horizon);
    if let Some(members) = beat.members {
        *inner.members.write() = members;
    }
    let catalog = inner.store.catalog();
    inner.files.retain(|table| catalog.table_by_id(table).is_some());
    for order in beat.orders {
        moving::carry_out(inner, order);
    }
}

/// What this server holds.
pub(crate) fn load(inner: &Inner) -> ServerLoad {
    let catalog = inner.store.catalog();
    let tables = catalog.relations().filter_map(|relation| match relation {
        Relation::Table(table) if !relation.is_temporary() => Some(table),
        _ => None,
    });
    let tables = tables.filter_map(|table| {
        let buckets = inner.store.bucket_infos(table.id);
        let owned = || buckets.iter().filter(|bucket| !bucket.is_leaving);
        let load = TableLoad {
            table: table.id,
            bytes: owned().map(|bucket| bucket.bytes).sum(),
            rows: owned().map(|bucket| bucket.rows).sum(),
            buckets: owned().count() as u64,
            bucket_size: table.bucket_size,
        };
        (load.buckets > 0).then_some(load)
    });
    let newest = inner.floors.lock().oldest(None);
    ServerLoad { tables: tables.collect(), is_moving: inner.moves.is_moving(), newest }
}
