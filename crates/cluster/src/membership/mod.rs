//! The servers of the cluster, as this server knows them.

mod load;
mod members;

pub use load::{ServerLoad, TableLoad};
pub use members::{Member, Members};

use crate::timeouts::TIMEOUTS;
use net::Address;
use parking_lot::RwLock;
use sdds::GroupId;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use store::Error;

/// The group that leads the cluster: membership, timestamps, sequences. Its server is the first
/// one.
pub(crate) const ROOT: GroupId = GroupId(0);

/// The SQLSTATE of the answers to an evicted server: admin_shutdown.
pub(crate) const EVICTED: &str = "57P01";

/// This server, and the newest known list of members.
#[derive(Debug)]
pub(crate) struct Membership {
    /// The group that this server leads.
    pub(crate) here: GroupId,
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
            here: member.group,
            name: member.name.clone(),
            list: RwLock::new(members),
            pg: OnceLock::new(),
            is_evicted: AtomicBool::new(false),
        }
    }

    /// The address and name of a group's server.
    pub(crate) fn address(&self, group: GroupId) -> Result<(Address, String), Error> {
        let members = self.list.read();
        match members.get(group) {
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
            None if group == GroupId::NOBODY => {
                let reason = "no server that is running has them";
                Err(Error::unreachable("", reason))
            }
            None => {
                let reason = format!("this server knows no member with the number {group}");
                Err(Error::unreachable("", reason))
            }
        }
    }

    /// The name of a group's server, or its number if the server is unknown.
    pub(crate) fn name_of(&self, group: GroupId) -> String {
        self.list.read().name_of(group)
    }

    /// Replaces the list of members if `members` is newer.
    pub(crate) fn learn(&self, members: Members) {
        let mut known = self.list.write();
        if known.version < members.version {
            *known = members;
        }
    }

    /// Whether a server is no member any more: evicted, or left.
    pub(crate) fn is_lost(&self, group: GroupId) -> bool {
        self.list.read().get(group).is_some_and(|member| member.is_lost)
    }

    /// Whether a server owns no keys any more: it is lost, or leaves without keys.
    pub(crate) fn is_gone(&self, group: GroupId) -> bool {
        group == GroupId::NOBODY
            || self.list.read().get(group).is_some_and(|member| member.is_lost || member.has_left)
    }

    /// Whether a server has left without losing rows.
    pub(crate) fn has_left(&self, group: GroupId) -> bool {
        self.list.read().get(group).is_some_and(|member| member.is_lost && member.has_left)
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
