//! Periodic work of a server: heartbeats to the root, the outcome of silent transactions, moves,
//! and clean-up.

use crate::membership::{EVICTED, ROOT};
use crate::moving;
use crate::node::Node;
use crate::report;
use crate::timeouts::TIMEOUTS;
use futures::FutureExt;
use futures::future::BoxFuture;
use messages::{Heartbeat, HeartbeatAnswer, RootAnswer, RootRequest, unexpected};
use protocols::routing::Event;
use std::sync::{Arc, Weak};
use store::Error;

/// Starts the periodic work. It ends when the server stops, or its last handle is dropped.
pub(crate) fn start(node: &Arc<Node>) {
    every_period(node, |node| async move { beat(&node).await }.boxed());
    // Apart from heartbeats: asking for outcomes may take long, and a server without heartbeats is
    // evicted.
    every_period(node, |node| async move { node.transactions.resolve().await }.boxed());
    every_period(node, |node| async move { clean_up(&node) }.boxed());
    every_period(node, |node| moving::follow(Arc::clone(&node.moves)).boxed());
    every_period(node, |node| async move { node.moves.average_accesses() }.boxed());
}

/// Repeats `work` until the server stops.
fn every_period(node: &Arc<Node>, work: fn(Arc<Node>) -> BoxFuture<'static, ()>) {
    let (me, stopped): (Weak<Node>, _) = (Arc::downgrade(node), node.calls.stopped.clone());
    let tasks = node.calls.tasks.clone();
    node.calls.tasks.spawn(stopped.run_until_cancelled_owned(async move {
        loop {
            let begun = tasks.now();
            let Some(node) = me.upgrade() else { return };
            work(node).await;
            tasks.sleep(TIMEOUTS.period.saturating_sub(tasks.now() - begun)).await;
        }
    }));
}

/// Sends messages of the directory, and discards moves whose sources are silent.
fn clean_up(node: &Node) {
    let here = node.membership.here;
    let is_draining = node.membership.list().get(here).is_some_and(|me| me.weight == 0);
    for file in node.files.all() {
        let outbox = file.change(Event::Tick);
        node.routing.send(&file, outbox);
        if is_draining && node.calls.root.is_none() {
            let outbox = file.change(Event::GivePages(ROOT));
            node.routing.send(&file, outbox);
        }
    }
    node.moves.incoming.discard_silent();
}

async fn beat(node: &Node) {
    match tell(node).await {
        Ok(beat) => follow(node, beat),
        Err(Error::Remote { sql_state, message, .. }) if sql_state == EVICTED => {
            if node.membership.note_eviction() {
                tracing::error!(message, "this server was evicted from the cluster");
            }
        }
        Err(error) => tracing::warn!(%error, "the root server did not accept a heartbeat"),
    }
}

/// Sends a heartbeat to the root.
async fn tell(node: &Node) -> Result<HeartbeatAnswer, Error> {
    let oldest = node.transactions.low_watermark.lock().oldest(node.store.oldest_snapshot());
    let heartbeat = Heartbeat {
        server: node.membership.here,
        start: node.membership.start,
        oldest,
        settled: node.transactions.settled(),
        members: node.membership.list().version,
        load: report::load(node),
        pg: node.membership.pg.get().cloned(),
    };
    if let Some(root) = &node.calls.root {
        let beat = root.heartbeat(&heartbeat)?;
        root.keep_members().await?;
        root.lease_ahead().await?;
        return Ok(beat);
    }
    let (root, request) = (node.membership.leader_of(ROOT), RootRequest::Heartbeat(heartbeat));
    match node.calls.ask_within(root, &request, TIMEOUTS.heartbeat).await? {
        RootAnswer::Heartbeat(beat) => Ok(*beat),
        other => Err(unexpected(&other)),
    }
}

/// Applies the root's answer to a heartbeat.
fn follow(node: &Node, beat: HeartbeatAnswer) {
    node.transactions.low_watermark.lock().learn(beat.now);
    node.store.observe(beat.now);
    node.transactions.raise_horizon(beat.horizon);
    node.store.set_horizon(beat.horizon);
    if let Some(members) = beat.members {
        node.membership.learn(members);
    }
    if node.membership.learn_generation(beat.generation) {
        for file in node.files.all() {
            if node.calls.root.is_none() {
                let start = beat.generation;
                node.routing.send(&file, file.change(Event::Begin { start }));
            }
            node.routing.send(&file, file.change(Event::Announce));
        }
    }
    *node.totals.write() = beat.totals.into_iter().collect();
    node.files.close_dropped();
    if !beat.orders.is_empty() {
        moving::carry_out(&node.moves, beat.orders);
    }
}
