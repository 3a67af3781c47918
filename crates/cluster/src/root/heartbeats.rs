//! Heartbeats: what the root learns of servers, and what it tells them.

use super::{LastHeartbeat, Root};
use crate::membership::{ServerLoad, evicted};
use crate::timeouts::TIMEOUTS;
use messages::{Heartbeat, HeartbeatAnswer};
use protocols::planted::{Bug, is_planted};
use sdds::{ServerId, Timestamp};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use store::catalog::TableId;
use store::{Error, TableTotal};

impl Root {
    /// Records a heartbeat.
    pub(super) fn note(&self, server: ServerId, oldest: Timestamp, members: u64, load: ServerLoad) {
        self.heartbeats
            .lock()
            .insert(server, LastHeartbeat { at: self.tasks.now(), oldest, members, load });
    }

    /// Counts a server among those whose heartbeats are awaited. It uses no snapshot before `oldest`, nor before that of
    /// its last heartbeat: a request to join may come late, when the server has long been at work.
    pub(super) fn await_heartbeat(&self, server: ServerId, oldest: Timestamp, members: u64) {
        let (at, load) = (self.tasks.now(), ServerLoad::default());
        let mut heartbeats = self.heartbeats.lock();
        let new = LastHeartbeat { at, oldest, members, load };
        heartbeats.entry(server).and_modify(|last| last.at = at).or_insert(new);
    }

    /// Handles the heartbeat of a server.
    pub(crate) fn heartbeat(&self, heartbeat: &Heartbeat) -> Result<HeartbeatAnswer, Error> {
        let members = self.membership.list.read().clone();
        match members.get(heartbeat.server) {
            Some(member) if !member.is_lost => {}
            _ => return Err(evicted(&members.name_of(heartbeat.server))),
        }
        if let Some(pg) = &heartbeat.pg {
            self.membership.list.write().set_pg(heartbeat.server, pg);
        }
        self.membership.list.write().set_started(heartbeat.server);
        self.note_settled(heartbeat.server, heartbeat.settled);
        self.note(heartbeat.server, heartbeat.oldest, heartbeat.members, heartbeat.load.clone());
        self.evict_silent();
        if heartbeat.server == self.membership.here {
            // A file may have been opened before the last server joined.
            for file in self.files.all() {
                members.present().for_each(|member| file.join(members.group_of(member.server)));
            }
        }
        let orders = if heartbeat.load.is_moving || members.moves.is_paused {
            Vec::new()
        } else {
            self.orders(&members, heartbeat.server, &self.store.catalog())
        };
        let now = self.oracle.lock().now();
        let heartbeats = self.heartbeats.lock();
        let horizon = heartbeats.values().map(|last| last.oldest).min().unwrap_or(now);
        let horizon = if is_planted(Bug::EarlyCleanUp) { now } else { horizon };
        let members = (members.version != heartbeat.members).then_some(members);
        let totals = totals(heartbeats.values().map(|last| &last.load));
        let generation = self.generation.load(Ordering::Acquire);
        Ok(HeartbeatAnswer { now, horizon, generation, members, totals, orders })
    }

    /// Evicts servers whose heartbeats are missing. Those that keep their data stay members; nothing waits for them.
    fn evict_silent(&self) {
        let now = self.tasks.now();
        let mut heartbeats = self.heartbeats.lock();
        let is_lost = |server: ServerId| self.membership.is_lost(server);
        heartbeats.retain(|server, _| !is_lost(*server));
        let silent = heartbeats.iter().filter(|(server, last)| {
            **server != self.membership.here && now - last.at > TIMEOUTS.eviction
        });
        for server in silent.map(|(server, _)| *server).collect::<Vec<_>>() {
            heartbeats.remove(&server);
            let mut members = self.membership.list.write();
            if members.get(server).is_some_and(|member| member.keeps_data) {
                tracing::error!(number = server.0, "a server sends no heartbeats");
                continue;
            }
            members.lose(server);
            tracing::error!(number = server.0, "evicted a server that sent no heartbeats");
        }
    }
}

/// The size of each table on all servers.
fn totals<'a>(loads: impl Iterator<Item = &'a ServerLoad>) -> Vec<(TableId, TableTotal)> {
    let mut totals = BTreeMap::<TableId, TableTotal>::new();
    for load in loads.flat_map(|load| &load.tables) {
        let total = totals.entry(load.table).or_default();
        total.rows += load.rows;
        total.bytes += load.bytes;
    }
    totals.into_iter().collect()
}
