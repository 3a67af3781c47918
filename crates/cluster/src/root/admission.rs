//! Servers that join and leave.

use super::Root;
use crate::membership::ServerLoad;
use crate::messages::{Answer, Reply};
use sdds::GroupId;
use std::time::{Duration, Instant};
use store::Error;

/// How long a leaving server waits until all others know that it leaves.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);

impl Root {
    /// Adds a server. Transactions that change the catalog without it are refused from now on, so
    /// the catalog that it receives stays valid.
    pub(super) async fn join(&self, name: &str, address: &str, weight: u32) -> Reply {
        let (member, members, timestamp) = {
            let mut members = self.membership.list.write();
            let of_name = members.named(name).map(|known| (known.group, known.address == address));
            if let Some((group, true)) = of_name.filter(|(group, _)| *group != self.membership.here)
            {
                // Only one server can listen at an address: the known one has ended.
                members.lose(group);
            } else if of_name.is_some() {
                return Err(Error::Remote {
                    sql_state: "42710".into(),
                    message: format!("server \"{name}\" is already a member of the cluster"),
                    detail: None,
                    hint: Some("Give every server its own name (--name).".into()),
                });
            }
            let member = members.join(name.to_owned(), address.to_owned(), weight);
            (member, members.clone(), self.oracle.lock().now())
        };
        self.note(member.group, timestamp, members.version, ServerLoad::default());
        self.files.all().iter().for_each(|file| file.join(member.group));
        let snapshot = self.store.snapshot_at(timestamp).await;
        let catalog = snapshot.catalog().shared();
        tracing::info!(server = name, group = member.group.0, address, "a server has joined");
        Ok(Answer::Joined { member, members, catalog, timestamp })
    }

    /// Removes a server that leaves. An empty server stays until all others know that it leaves, so
    /// that they look for no rows there.
    pub(super) async fn leave(&self, group: GroupId, is_empty: bool) {
        if group == self.membership.here || self.membership.is_lost(group) {
            return;
        }
        if is_empty {
            self.membership.list.write().set_left(group, true);
            let version = self.membership.list.read().version;
            let have_heard = || self.heartbeats.lock().values().all(|last| last.members >= version);
            let begun = Instant::now();
            while !have_heard() && begun.elapsed() < LEAVE_TIMEOUT {
                tokio::time::sleep(LEAVE_TIMEOUT / 100).await;
            }
        }
        let last = self.heartbeats.lock().remove(&group);
        let mut members = self.membership.list.write();
        if last.is_some_and(|last| !last.load.tables.is_empty()) {
            // Rows have arrived there meanwhile.
            members.set_left(group, false);
        }
        members.lose(group);
        tracing::info!(group = group.0, is_empty, "a server has left");
    }
}
