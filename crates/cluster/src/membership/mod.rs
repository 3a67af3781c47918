//! The servers of the cluster, as this server knows them.

pub use messages::{Member, Members, ServerLoad, TableLoad};

use crate::timeouts::TIMEOUTS;
use net::Address;
use parking_lot::{MappedRwLockReadGuard, RwLock, RwLockReadGuard};
use protocols::membership::{Known, Misdirected, News, Standing, Task};
use sdds::{GroupId, ServerId};
use std::sync::OnceLock;
use store::{Error, MoveSetting};

/// The group that leads the cluster: membership, timestamps, sequences. The first server has founded it.
pub(crate) const ROOT: GroupId = GroupId(0);

/// The SQLSTATE of the answers to an evicted server: admin_shutdown.
pub(crate) const EVICTED: &str = "57P01";

/// This server, and what it knows of the members: a state machine, [`Known`].
#[derive(Debug)]
pub(crate) struct Membership {
    /// The number of this server.
    pub(crate) here: ServerId,
    /// The number of this start of the server.
    pub(crate) start: u64,
    /// The name of this server.
    pub(crate) name: String,
    known: RwLock<Known>,
    /// Where PostgreSQL clients connect to this server.
    pub(crate) pg: OnceLock<String>,
}

impl Membership {
    pub(crate) fn new(member: &Member, members: Members, start: u64) -> Self {
        let known = RwLock::new(Known::new(member.server, members));
        Self { here: member.server, start, name: member.name.clone(), known, pg: OnceLock::new() }
    }

    /// The newest known list of members.
    pub(crate) fn list(&self) -> MappedRwLockReadGuard<'_, Members> {
        RwLockReadGuard::map(self.known.read(), Known::list)
    }

    /// The server that leads a group ([`Members::leader_of`]).
    pub(crate) fn leader_of(&self, group: GroupId) -> ServerId {
        self.list().leader_of(group)
    }

    /// The group that a server leads.
    pub(crate) fn group_of(&self, server: ServerId) -> GroupId {
        self.list().group_of(server)
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
        let known = self.known.read();
        let (name, reason, is_lost) = match known.standing(server) {
            Standing::Present(member) => {
                return Ok((Address::new(member.address.clone()), member.name.clone()));
            }
            Standing::Left(member) => (&*member.name, "it has left the cluster".into(), false),
            Standing::Lost(member) => {
                let reason = "it was evicted from the cluster, and its rows are lost";
                (&*member.name, reason.into(), true)
            }
            Standing::Nobody => ("", "no server that is running has them".into(), false),
            Standing::Unknown => {
                ("", format!("this server knows no member with the number {server}"), false)
            }
        };
        Err(Error::Unreachable { server: name.into(), reason, is_lost, keys: String::new() })
    }

    /// The name of a server, or its number if it is unknown.
    pub(crate) fn name_of(&self, server: ServerId) -> String {
        self.list().name_of(server)
    }

    /// Takes a list of members if it is newer.
    pub(crate) fn learn(&self, members: Members) {
        self.tell(News::List(members));
    }

    /// Takes the generation of the directory. Returns whether it has begun anew.
    pub(crate) fn learn_generation(&self, generation: u64) -> bool {
        self.tell(News::Generation(generation)) == Some(Task::Announce { start: generation })
    }

    /// Takes a setting of moves that the root has changed.
    pub(crate) fn learn_setting(&self, change: MoveSetting) {
        self.tell(News::Moves(change));
    }

    /// Notes that the root takes this server for no member. Returns whether that is new.
    pub(crate) fn note_eviction(&self) -> bool {
        self.tell(News::Out) == Some(Task::Stop)
    }

    fn tell(&self, news: News) -> Option<Task> {
        self.known.write().step(news)
    }

    /// Whether a server is no member any more: evicted, or left.
    pub(crate) fn is_lost(&self, server: ServerId) -> bool {
        self.known.read().is_lost(server)
    }

    /// Whether a group owns no keys any more: its server is lost, or leaves without keys.
    pub(crate) fn is_gone(&self, group: GroupId) -> bool {
        self.known.read().is_gone(group)
    }

    /// Whether a server has left without losing rows.
    pub(crate) fn has_left(&self, server: ServerId) -> bool {
        matches!(self.known.read().standing(server), Standing::Left(_))
    }

    /// The error for requests to this server after its eviction.
    pub(crate) fn eviction(&self) -> Option<Error> {
        self.known.read().is_out().then(|| evicted(&self.name))
    }

    /// Checks that a request is for this server, and of one that may ask.
    pub(crate) fn admit(&self, from: Option<ServerId>, to: Option<ServerId>) -> Result<(), Error> {
        let admitted = self.known.read().admits(from, to);
        admitted.map_err(|misdirected| match misdirected {
            Misdirected::Receiver => {
                Error::unreachable(self.name.clone(), "another server has its address now")
            }
            Misdirected::Sender(lost) => evicted(&self.name_of(lost)),
            Misdirected::Out => {
                Error::unreachable(self.name.clone(), "it was evicted from the cluster")
            }
        })
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
