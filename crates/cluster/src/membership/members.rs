//! Who is part of the cluster, as the root knows it and tells the others.

use sdds::GroupId;
use serde::{Deserialize, Serialize};
use store::{MoveSetting, MoveSettings};

/// A server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The group that it leads.
    pub group: GroupId,
    /// What people call it; unique.
    pub name: String,
    /// Where other servers call it.
    pub address: String,
    /// Where PostgreSQL clients call it; `None` until it has said.
    pub pg: Option<String>,
    /// How large a share of each table it should have, relative to the others; zero while it is emptied.
    pub weight: u32,
    /// Whether the root has given it up: it did not call for a while, and what it held is gone.
    pub is_lost: bool,
    /// Whether it has said good-bye, with nothing that could be lost. Until all have heard that, it still answers.
    pub has_left: bool,
}

/// Everybody who has ever joined.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Members {
    /// Grows with each change.
    pub version: u64,
    /// In the order in which they joined: a member's place is its group's number.
    pub list: Vec<Member>,
    /// How rows move.
    pub moves: MoveSettings,
}

impl Members {
    /// A member.
    pub fn get(&self, group: GroupId) -> Option<&Member> {
        self.list.get(usize::try_from(group.0).ok()?)
    }

    /// Those who have not been given up.
    pub fn present(&self) -> impl Iterator<Item = &Member> {
        self.list.iter().filter(|member| !member.is_lost)
    }

    /// The present member of a name.
    pub fn named(&self, name: &str) -> Option<&Member> {
        self.present().find(|member| member.name == name)
    }

    /// Takes a server in.
    pub(crate) fn join(&mut self, name: String, address: String, weight: u32) -> Member {
        let group = GroupId(self.list.len() as u64);
        let (pg, is_lost, has_left) = (None, false, false);
        let member = Member { group, name, address, pg, weight, is_lost, has_left };
        self.list.push(member.clone());
        self.version += 1;
        member
    }

    /// Notes where PostgreSQL clients call a server.
    pub(crate) fn set_pg(&mut self, group: GroupId, pg: &str) {
        let member = self.list.iter_mut().find(|member| member.group == group);
        if let Some(member) = member.filter(|member| member.pg.as_deref() != Some(pg)) {
            member.pg = Some(pg.to_owned());
            self.version += 1;
        }
    }

    /// Gives a server up.
    pub(crate) fn lose(&mut self, group: GroupId) {
        let index = usize::try_from(group.0).ok();
        if let Some(member) = index.and_then(|index| self.list.get_mut(index)) {
            member.is_lost = true;
            self.version += 1;
        }
    }

    /// Notes whether a server leaves, with nothing that could be lost. It gets nothing more then.
    pub(crate) fn set_left(&mut self, group: GroupId, has_left: bool) {
        if let Some(member) = self.list.iter_mut().find(|member| member.group == group) {
            (member.has_left, member.weight) = (has_left, 0);
            self.version += 1;
        }
    }

    /// Changes how rows move.
    pub(crate) fn change_moves(&mut self, change: MoveSetting) {
        self.moves.change(change);
        self.version += 1;
    }

    /// Changes a present member's share; whether there is such a member.
    pub(crate) fn set_weight(&mut self, name: &str, weight: u32) -> bool {
        let member = self.list.iter_mut().find(|member| !member.is_lost && member.name == name);
        if let Some(member) = member {
            member.weight = weight;
            self.version += 1;
            return true;
        }
        false
    }
}
