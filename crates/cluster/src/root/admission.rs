//! Servers that join and leave.

use super::{Root, no_server};
use crate::membership::{Member, Members};
use crate::timeouts::TIMEOUTS;
use messages::{Reply, RootAnswer};
use sdds::ServerId;
use std::sync::atomic::Ordering;
use store::Error;
use store::catalog::Catalog;

impl Root {
    /// Adds a server. Transactions that change the catalog without it are refused from now on, so
    /// the catalog that it receives stays valid.
    pub(super) async fn join(
        &self,
        name: &str,
        address: &str,
        weight: u32,
        keeps_data: bool,
    ) -> Reply<RootAnswer> {
        let cluster = self.store.data_id();
        refuse_other_durability(cluster.is_some(), keeps_data)?;
        let (member, members, timestamp) = {
            let mut members = self.membership.list.write();
            let member = match members.named(name).cloned() {
                Some(known) => readmit(&mut members, &known, address, self.membership.here)?,
                None => None,
            };
            let member = member.unwrap_or_else(|| {
                members.join(name.to_owned(), address.to_owned(), weight, keeps_data)
            });
            (member, members.clone(), self.oracle.lock().now())
        };
        // A member that has been started anew.
        let start = self.next_start().await?;
        self.forget_numbers(member.server, start);
        self.await_heartbeat(member.server, timestamp, members.version);
        let group = self.membership.group_of(member.server);
        self.files.all().iter().for_each(|file| file.join(group));
        let snapshot = self.store.snapshot_at(timestamp).await;
        let catalog = Box::new(snapshot.catalog().shared());
        tracing::info!(server = name, number = member.server.0, address, "a server has joined");
        Ok(RootAnswer::Joined { member, members, catalog, timestamp, start, cluster })
    }

    /// Takes back a member that has been started again with its data.
    pub(super) async fn take_back(
        &self,
        server: ServerId,
        name: &str,
        address: &str,
        cluster: u64,
    ) -> Reply<RootAnswer> {
        let start = self.next_start().await?;
        let (member, members) = {
            let mut members = self.membership.list.write();
            let is_member = |member: &&Member| member.keeps_data && !member.is_lost;
            let known = members.get(server).filter(is_member).filter(|known| known.name == name);
            if known.is_none() || self.store.data_id() != Some(cluster) {
                return Err(Error::Remote {
                    sql_state: "55000".into(),
                    message: format!(
                        "the data directory of server \"{name}\" is not of this cluster"
                    ),
                    detail: None,
                    hint: Some(
                        "Start it with the --join and the --name that it had before.".into(),
                    ),
                });
            }
            let member = members.restart(server, address);
            (member.ok_or_else(|| no_server(&members, name))?, members.clone())
        };
        self.forget_numbers(server, start);
        self.begin_generation(start);
        let timestamp = self.oracle.lock().now();
        self.await_heartbeat(server, timestamp, members.version);
        tracing::info!(server = name, number = server.0, address, "a server has come back");
        let catalog = Box::new(Catalog::new());
        let cluster = Some(cluster);
        Ok(RootAnswer::Joined { member, members, catalog, timestamp, start, cluster })
    }

    /// Begins the directory anew: all servers announce what they own.
    pub(crate) fn begin_generation(&self, start: u64) {
        let members = self.membership.list.read().clone();
        for file in self.files.all() {
            file.forget_pages(start);
            members.present().for_each(|member| file.join(members.group_of(member.server)));
        }
        self.generation.fetch_max(start, Ordering::AcqRel);
    }

    /// Removes a server that leaves. An empty server stays until all others know that it leaves, so
    /// that they look for no rows there.
    pub(super) async fn leave(&self, server: ServerId, is_empty: bool) {
        if server == self.membership.here || self.membership.is_lost(server) {
            return;
        }
        if is_empty {
            self.membership.list.write().set_left(server, true);
            let version = self.membership.list.read().version;
            let have_heard = || self.heartbeats.lock().values().all(|last| last.members >= version);
            let begun = self.tasks.now();
            while !have_heard() && self.tasks.now() - begun < TIMEOUTS.leave {
                self.tasks.sleep(TIMEOUTS.leave / 100).await;
            }
        }
        let last = self.heartbeats.lock().remove(&server);
        let mut members = self.membership.list.write();
        if last.is_some_and(|last| !last.load.tables.is_empty()) {
            // Rows have arrived there meanwhile.
            members.set_left(server, false);
        }
        members.lose(server);
        tracing::info!(number = server.0, is_empty, "a server has left");
    }
}

/// Refuses a server that does not keep its data in a cluster that does, and the reverse: a power cut would leave part of
/// the rows.
fn refuse_other_durability(cluster_does: bool, server_does: bool) -> Result<(), Error> {
    let (message, hint) = match (cluster_does, server_does) {
        (true, false) => (
            "the servers of this cluster keep their data, and this one does not",
            "Start it with --data DIRECTORY.",
        ),
        (false, true) => (
            "the servers of this cluster do not keep their data, and this one does",
            "Start it without --data, or the first server with it.",
        ),
        _ => return Ok(()),
    };
    Err(Error::Remote {
        sql_state: "55000".into(),
        message: message.into(),
        detail: None,
        hint: Some(hint.into()),
    })
}

/// Decides about a new server with the name of a member. Returns the member if it has never been started.
fn readmit(
    members: &mut Members,
    known: &Member,
    address: &str,
    root: ServerId,
) -> Result<Option<Member>, Error> {
    if known.keeps_data && !known.has_started && known.server != root {
        return Ok(members.restart(known.server, address));
    }
    if known.keeps_data {
        return Err(Error::Remote {
            sql_state: "42710".into(),
            message: format!("server \"{}\" is a member of the cluster and has data", known.name),
            detail: None,
            hint: Some(
                "Start it with its --data directory. If that is lost, its rows are: join with another --name.".into(),
            ),
        });
    }
    if known.address == address && known.server != root {
        // Only one server can listen at an address: the known one has ended.
        members.lose(known.server);
        return Ok(None);
    }
    Err(Error::Remote {
        sql_state: "42710".into(),
        message: format!("server \"{}\" is already a member of the cluster", known.name),
        detail: None,
        hint: Some("Give every server its own name (--name).".into()),
    })
}
