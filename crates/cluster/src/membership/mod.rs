//! The servers of the cluster, as this server knows them.

pub use messages::{Member, Members, ServerLoad, TableLoad};

use crate::timeouts::TIMEOUTS;
use net::Address;
use parking_lot::RwLock;
use sdds::{GroupId, ServerId};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use store::Error;

/// The group that leads the cluster: membership, timestamps, sequences. The first server has founded it.
pub(crate) const ROOT: GroupId = GroupId(0);

/// The SQLSTATE of the answers to an evicted server: admin_shutdown.
pub(crate) const EVICTED: &str = "57P01";

/// This server, and the newest known list of members.
#[derive(Debug)]
pub(crate) struct Membership {
    /// The number of this server.
    pub(crate) here: ServerId,
    /// The name of this server.
    pub(crate) name: String,
    pub(crate) list: RwLock<Members>,
    /// Where PostgreSQL clients connect to this server.
    pub(crate) pg: OnceLock<String>,
    is_evicted: AtomicBool,
}

impl Membership {
    pub(crate) fn new(member: &Member, members: Members) -> Self {
        Self {
            here: member.server,
            name: member.name.clone(),
            list: RwLock::new(members),
            pg: OnceLock::new(),
            is_evicted: AtomicBool::new(false),
        }
    }

    /// The server that leads a group ([`Members::leader_of`]).
    pub(crate) fn leader_of(&self, group: GroupId) -> ServerId {
        self.list.read().leader_of(group)
    }

    /// The group that a server leads.
    pub(crate) fn group_of(&self, server: ServerId) -> GroupId {
        self.list.read().group_of(server)
    }

    /// The group that this server leads.
    pub(crate) fn own_group(&self) -> GroupId {
        self.group_of(self.here)
    }

    /// Whether this server leads a group.
    pub(crate) fn is_here(&self, group: GroupId) -> bool {
        self.leader_of(group) == self.here
    }

    /// The address and name of a server.
    pub(crate) fn address(&self, server: ServerId) -> Result<(Address, String), Error> {
        let members = self.list.read();
        match members.get(server) {
            Some(member) if !member.is_lost => {
                Ok((Address::new(member.address.clone()), member.name.clone()))
            }
            Some(member) => Err(Error::Unreachable {
                server: member.name.clone(),
                reason: if member.has_left {
                    "it has left the cluster".into()
                } else {
                    "it was evicted from the cluster, and its rows are lost".into()
                },
                is_lost: !member.has_left,
                keys: String::new(),
            }),
            None if server == ServerId::NOBODY => {
                let reason = "no server that is running has them";
                Err(Error::unreachable("", reason))
            }
            None => {
                let reason = format!("this server knows no member with the number {server}");
                Err(Error::unreachable("", reason))
            }
        }
    }

    /// The name of a server, or its number if it is unknown.
    pub(crate) fn name_of(&self, server: ServerId) -> String {
        self.list.read().name_of(server)
    }

    /// Replaces the list of members if `members` is newer.
    pub(crate) fn learn(&self, members: Members) {
        let mut known = self.list.write();
        if known.version < members.version {
            *known = members;
        }
    }

    /// Whether a server is no member any more: evicted, or left.
    pub(crate) fn is_lost(&self, server: ServerId) -> bool {
        self.list.read().get(server).is_some_and(|member| member.is_lost)
    }

    /// Whether a group owns no keys any more: its server is lost, or leaves without keys.
    pub(crate) fn is_gone(&self, group: GroupId) -> bool {
        let members = self.list.read();
        let leader = members.get(members.leader_of(group));
        group == GroupId::NOBODY || leader.is_some_and(|leader| leader.is_lost || leader.has_left)
    }

    /// Whether a server has left without losing rows.
    pub(crate) fn has_left(&self, server: ServerId) -> bool {
        self.list.read().get(server).is_some_and(|member| member.is_lost && member.has_left)
    }

    /// The error for requests to this server after its eviction.
    pub(crate) fn eviction(&self) -> Option<Error> {
        self.is_evicted.load(Ordering::Relaxed).then(|| evicted(&self.name))
    }

    /// Notes that the root has evicted this server. Returns whether that is new.
    pub(crate) fn note_eviction(&self) -> bool {
        !self.is_evicted.swap(true, Ordering::Relaxed)
    }
}

/// The answer to requests of the evicted server with this name.
pub(crate) fn evicted(name: &str) -> Error {
    Error::Remote {
        sql_state: EVICTED.into(),
        message: format!(
            "server \"{name}\" sent no heartbeat for {} s and was evicted from the cluster",
            TIMEOUTS.eviction.as_secs()
        ),
        detail: Some("Its rows are lost to the cluster.".into()),
        hint: Some("Restart it: it joins as a new server.".into()),
    }
}
