//! Heartbeats: what the root learns of servers, and what it tells them.

use super::Root;
use crate::membership::ServerLoad;
use messages::{Heartbeat, HeartbeatAnswer};
use protocols::membership::{Event, Report};
use protocols::planted::{Bug, is_planted};
use std::collections::BTreeMap;
use store::catalog::TableId;
use store::{Error, TableTotal};

impl Root {
    /// Handles the heartbeat of a server.
    pub(crate) fn heartbeat(&self, heartbeat: &Heartbeat) -> Result<HeartbeatAnswer, Error> {
        let Heartbeat { server, start, oldest, settled, members: version, load, pg } = heartbeat;
        let mut roster = self.roster.lock();
        let report = Report {
            start: *start,
            oldest: *oldest,
            version: *version,
            pg: pg.as_deref(),
            has_rows: !load.tables.is_empty(),
            load: load.clone(),
        };
        self.obey(&mut roster, Event::Heartbeat(*server, report))?;
        self.note_settled(*server, *settled);
        let members = roster.list();
        if *server == self.membership.here {
            // A file may have been opened before the last server joined.
            for file in self.files.all() {
                members.present().for_each(|member| file.join(members.group_of(member.server)));
            }
        }
        let orders = if load.is_moving || members.moves.is_paused {
            Vec::new()
        } else {
            self.orders(&roster, *server, &self.store.catalog())
        };
        let now = self.now();
        let horizon = roster.horizon().unwrap_or(now);
        let horizon = if is_planted(Bug::EarlyCleanUp) { now } else { horizon };
        let members = (members.version != *version).then(|| members.clone());
        let totals = totals(roster.loads().map(|(_, load)| load));
        let generation = roster.generation();
        Ok(HeartbeatAnswer { now, horizon, generation, members, totals, orders })
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
