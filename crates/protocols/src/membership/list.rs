//! The list of members, as the root maintains it and sends it to all servers. Only [`Roster`](super::Roster) changes it, and
//! a server that founds a cluster.

use super::{MoveSetting, MoveSettings};
use sdds::{GroupId, ServerId};
use serde::{Deserialize, Serialize};

/// A server of the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its number.
    #[serde(rename = "group")]
    pub server: ServerId,
    /// Its name, unique among the present members.
    pub name: String,
    /// Its address for other servers.
    pub address: String,
    /// Its address for PostgreSQL clients; `None` until it has reported it.
    pub pg: Option<String>,
    /// Its share of each table, relative to the other servers; zero while it is drained.
    pub weight: u32,
    /// Whether it is no longer a member: it left, or it was evicted and its rows are lost.
    pub is_lost: bool,
    /// Whether it keeps its rows in a data directory: it is a member while it does not run.
    #[serde(default)]
    pub keeps_data: bool,
    /// Whether it has sent a heartbeat. Until then it may join again.
    #[serde(default)]
    pub has_started: bool,
    /// Whether it has announced that it leaves without losing rows. Until all other servers know that,
    /// it still answers.
    pub has_left: bool,
    /// The number of its newest start. Later ones have greater numbers, as have those of other servers.
    #[serde(default)]
    pub start: u64,
}

/// All servers that have ever joined.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Members {
    /// Increases with each change.
    pub version: u64,
    /// In the order in which they joined: the index of a member is its number.
    pub list: Vec<Member>,
    /// Settings of moves.
    pub moves: MoveSettings,
}

impl Members {
    /// The server that leads a group. Each group has one replica, which is on the server that has founded it; of one
    /// that this list does not have yet, it is known all the same.
    pub fn leader_of(&self, group: GroupId) -> ServerId {
        group.founder()
    }

    /// The group that a server leads, as [`Self::leader_of`].
    pub fn group_of(&self, server: ServerId) -> GroupId {
        server.own_group()
    }

    /// The member with this number.
    pub fn get(&self, server: ServerId) -> Option<&Member> {
        self.list.get(usize::try_from(server.0).ok()?)
    }

    /// The name of a server, or its number if it is unknown.
    pub fn name_of(&self, server: ServerId) -> String {
        self.get(server).map_or_else(|| server.to_string(), |member| member.name.clone())
    }

    /// The members that have neither left nor been evicted.
    pub fn present(&self) -> impl Iterator<Item = &Member> {
        self.list.iter().filter(|member| !member.is_lost)
    }

    /// The present member with a name.
    pub fn named(&self, name: &str) -> Option<&Member> {
        self.present().find(|member| member.name == name)
    }

    /// Adds a server, of which this is the first start.
    pub fn join(
        &mut self,
        name: &str,
        address: &str,
        weight: u32,
        keeps_data: bool,
        start: u64,
    ) -> Member {
        let member = Member {
            server: ServerId(self.list.len() as u64),
            name: name.to_owned(),
            address: address.to_owned(),
            pg: None,
            weight,
            is_lost: false,
            keeps_data,
            has_started: false,
            has_left: false,
            start,
        };
        self.list.push(member.clone());
        self.version += 1;
        member
    }

    /// Notes that a member has been started again, at an address.
    pub fn restart(&mut self, server: ServerId, address: &str, start: u64) -> Option<Member> {
        self.change(server, |member| {
            address.clone_into(&mut member.address);
            member.start = start;
            true
        });
        self.get(server).cloned()
    }

    /// Notes that a member has sent its first heartbeat.
    pub(super) fn set_started(&mut self, server: ServerId) {
        self.change(server, |member| !std::mem::replace(&mut member.has_started, true));
    }

    /// Sets the address of a server for PostgreSQL clients.
    pub(super) fn set_pg(&mut self, server: ServerId, pg: &str) {
        self.change(server, |member| {
            let is_new = member.pg.as_deref() != Some(pg);
            if is_new {
                member.pg = Some(pg.to_owned());
            }
            is_new
        });
    }

    /// Marks a server as lost.
    pub(super) fn lose(&mut self, server: ServerId) {
        self.change(server, |member| !std::mem::replace(&mut member.is_lost, true));
    }

    /// Notes that a server leaves without losing rows, or that it does not. It receives rows by its weight.
    pub(super) fn set_left(&mut self, server: ServerId, has_left: bool, weight: u32) {
        self.change(server, |member| {
            let is_new = (member.has_left, member.weight) != (has_left, weight);
            (member.has_left, member.weight) = (has_left, weight);
            is_new
        });
    }

    /// Changes a setting of moves.
    pub(super) fn change_moves(&mut self, change: MoveSetting) {
        self.moves.change(change);
        self.version += 1;
    }

    /// Sets the weight of a member.
    pub(super) fn set_weight(&mut self, server: ServerId, weight: u32) {
        self.change(server, |member| {
            member.weight = weight;
            true
        });
    }

    /// Changes a member; the version increases if there is something new.
    fn change(&mut self, server: ServerId, change: impl FnOnce(&mut Member) -> bool) {
        let index = usize::try_from(server.0).ok();
        let member = index.and_then(|index| self.list.get_mut(index));
        self.version += u64::from(member.is_some_and(change));
    }
}
