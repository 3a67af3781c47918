//! What a server does from time to time: it tells the root of itself, and does what it is told.

use crate::cluster::{Cluster, Inner, ROOT, unexpected};
use crate::colocation;
use crate::commit;
use crate::members::{ServerLoad, TableLoad};
use crate::message::{Answer, Beat, Heartbeat, Request};
use crate::moving;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use store::catalog::Relation;
use store::{Error, Holdings};

/// The time between two heartbeats.
const PERIOD: Duration = Duration::from_millis(100);

/// The time between two looks at how often buckets are accessed.
pub(crate) const AVERAGING: Duration = Duration::from_secs(1);

/// A heartbeat that is not answered by then is not waited for: the next one may be.
const PATIENCE: Duration = Duration::from_secs(1);

impl Cluster {
    /// Begins to tell the root of this server; ends when the last handle on it is gone, or with an error when the
    /// cluster has given it up.
    pub(crate) fn start_heartbeat(&self) {
        every_period(&self.0, |inner| async move { beat(&inner).await }.boxed());
        // Questions about silent transactions may take a while: the root is not to think that we are silent ourselves.
        every_period(&self.0, |inner| async move { commit::resolve(&inner).await }.boxed());
        every_period(&self.0, |inner| async move { tidy(&inner) }.boxed());
        every_period(&self.0, |inner| colocation::follow(inner).boxed());
        every_period(&self.0, |inner| async move { average_accesses(&inner) }.boxed());
    }
}

/// Does something again and again until the server stops.
fn every_period(inner: &Arc<Inner>, work: fn(Arc<Inner>) -> BoxFuture<'static, ()>) {
    let (me, stopped): (Weak<Inner>, _) = (Arc::downgrade(inner), inner.stopped.clone());
    inner.runtime.spawn(stopped.run_until_cancelled_owned(async move {
        let mut period = tokio::time::interval(PERIOD);
        period.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            period.tick().await;
            let Some(inner) = me.upgrade() else { return };
            work(inner).await;
        }
    }));
}

/// Averages how often buckets are accessed, from time to time.
fn average_accesses(inner: &Inner) {
    let mut last = inner.accesses_averaged.lock();
    let elapsed = last.elapsed();
    if elapsed >= AVERAGING {
        *last = Instant::now();
        inner.store.average_accesses(elapsed);
    }
}

/// Sends the directory's mail, and drops what nobody comes for.
fn tidy(inner: &Arc<Inner>) {
    let is_emptied = inner.members.read().get(inner.here).is_some_and(|me| me.weight == 0);
    for file in inner.files.all() {
        let outbox = file.heartbeat();
        inner.send_all(&file, outbox);
        if is_emptied && inner.here != ROOT {
            let outbox = file.give_pages(ROOT);
            inner.send_all(&file, outbox);
        }
    }
    inner.moves.tidy();
}

async fn beat(inner: &Arc<Inner>) {
    match tell(inner).await {
        Ok(beat) => follow(inner, beat),
        Err(Error::Remote { sql_state, message, .. }) if sql_state == crate::root::EVICTED => {
            if !inner.is_evicted.swap(true, Ordering::Relaxed) {
                tracing::error!(message, "the cluster goes on without this server");
            }
        }
        Err(error) => tracing::warn!(%error, "the root did not take a heartbeat"),
    }
}

/// Tells the root.
async fn tell(inner: &Inner) -> Result<Beat, Error> {
    let oldest = inner.low_watermark.lock().oldest(inner.store.oldest_snapshot());
    let heartbeat = Heartbeat {
        group: inner.here,
        oldest,
        members: inner.members.read().version,
        load: load(inner),
        pg: inner.pg.get().cloned(),
    };
    if let Some(root) = &inner.root {
        return root.heartbeat(inner, &heartbeat);
    }
    let request = Request::Heartbeat(heartbeat);
    match inner.ask_within(ROOT, &request, PATIENCE).await? {
        Answer::Beat(beat) => Ok(*beat),
        other => Err(unexpected(&other)),
    }
}

/// Does what the root says.
fn follow(inner: &Arc<Inner>, beat: Beat) {
    inner.low_watermark.lock().learn(beat.now);
    inner.store.observe(beat.now);
    inner.horizon.fetch_max(beat.horizon.0, Ordering::AcqRel);
    inner.store.set_horizon(beat.horizon);
    if let Some(members) = beat.members {
        inner.learn_members(members);
    }
    *inner.totals.write() = beat.totals.into_iter().collect();
    inner.files.retain(|table| inner.store.catalog().table_by_id(table).is_some());
    if !beat.orders.is_empty() {
        moving::carry_out(inner, beat.orders);
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
        let Holdings { buckets, rows, bytes } = inner.store.holdings(table.id);
        let bucket_size = table.bucket_size;
        let accesses = inner.store.accesses(table.id);
        let load = TableLoad { table: table.id, bytes, rows, buckets, accesses, bucket_size };
        (buckets > 0).then_some(load)
    });
    let newest = inner.low_watermark.lock().oldest(None);
    ServerLoad { tables: tables.collect(), is_moving: inner.moves.is_moving(), newest }
}
