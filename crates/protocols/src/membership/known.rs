//! What a server knows of the members: the newest list that the root has told it, and whether it is a member itself.
//!
//! Invariants: a list is never replaced by an older one; a server that is out stays out, and answers nobody; the directory
//! begins anew with later starts only.

use super::{Member, Members, MoveSetting};
use sdds::{GroupId, ServerId};

/// What a server has heard. The root sends it with its answers, which may come late, or not at all.
#[derive(Debug)]
pub enum News {
    /// The root's list of members. Late, after a newer one, it is ignored.
    List(Members),
    /// The directory has begun anew with this start. Late, after a later one, it is ignored.
    Generation(u64),
    /// The root takes this server for no member.
    Out,
    /// The root has changed a setting of moves for a user here. Its next list says so, too.
    Moves(MoveSetting),
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Forget the pages of the directory, and announce what this server owns.
    Announce {
        /// The start that the directory has begun with.
        start: u64,
    },
    /// This server is out, from now on.
    Stop,
}

/// What is known of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing<'a> {
    /// It is a member.
    Present(&'a Member),
    /// It has left without losing rows.
    Left(&'a Member),
    /// It is lost with its rows.
    Lost(&'a Member),
    /// It may have joined since.
    Unknown,
    /// No server: nobody has claimed the keys.
    Nobody,
}

/// Why a request is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misdirected {
    /// It is for the server that had this address before.
    Receiver,
    /// Its sender is lost: what it does may have been done by others since.
    Sender(ServerId),
    /// This server is out.
    Out,
}

/// The members, as one of them knows them.
#[derive(Debug)]
pub struct Known {
    here: ServerId,
    list: Members,
    is_out: bool,
    generation: u64,
}

impl Known {
    /// What a server knows that has just been admitted.
    pub fn new(here: ServerId, list: Members) -> Self {
        Self { here, list, is_out: false, generation: 0 }
    }

    /// The newest list.
    pub fn list(&self) -> &Members {
        &self.list
    }

    /// Whether the root has said that this server is no member.
    pub fn is_out(&self) -> bool {
        self.is_out
    }

    /// Takes news, and returns what is to be done.
    pub fn step(&mut self, news: News) -> Option<Task> {
        let (version, was_out, generation) = (self.list.version, self.is_out, self.generation);
        let task = self.take(news);
        assert!(version <= self.list.version, "a list is not replaced by an older one");
        assert!(!was_out || self.is_out, "who is out stays out");
        assert!(generation <= self.generation, "the directory does not go back");
        assert!(!was_out || task != Some(Task::Stop), "it stops once");
        task
    }

    fn take(&mut self, news: News) -> Option<Task> {
        match news {
            News::List(list) => {
                if list.version > self.list.version {
                    self.list = list;
                }
                None
            }
            News::Generation(start) if start > self.generation => {
                self.generation = start;
                Some(Task::Announce { start })
            }
            News::Generation(_) => None,
            News::Out => (!std::mem::replace(&mut self.is_out, true)).then_some(Task::Stop),
            News::Moves(change) => {
                self.list.moves.change(change);
                None
            }
        }
    }

    /// What is known of a server.
    pub fn standing(&self, server: ServerId) -> Standing<'_> {
        match self.list.get(server) {
            Some(member) if !member.is_lost => Standing::Present(member),
            Some(member) if member.has_left => Standing::Left(member),
            Some(member) => Standing::Lost(member),
            None if server == ServerId::NOBODY => Standing::Nobody,
            None => Standing::Unknown,
        }
    }

    /// Whether a server is no member any more.
    pub fn is_lost(&self, server: ServerId) -> bool {
        matches!(self.standing(server), Standing::Left(_) | Standing::Lost(_))
    }

    /// Whether a group owns no keys any more: its server is lost, or leaves without keys.
    pub fn is_gone(&self, group: GroupId) -> bool {
        match self.standing(self.list.leader_of(group)) {
            Standing::Present(leader) => leader.has_left,
            Standing::Left(_) | Standing::Lost(_) | Standing::Nobody => true,
            Standing::Unknown => false,
        }
    }

    /// Whether a request is for this server, and of one that may still ask. A server that joins or comes back names neither.
    ///
    /// # Errors
    /// Why not.
    pub fn admits(&self, from: Option<ServerId>, to: Option<ServerId>) -> Result<(), Misdirected> {
        if to.is_some_and(|to| to != self.here) {
            return Err(Misdirected::Receiver);
        }
        if self.is_out {
            return Err(Misdirected::Out);
        }
        match from.filter(|from| self.is_lost(*from)) {
            Some(lost) => Err(Misdirected::Sender(lost)),
            None => Ok(()),
        }
    }
}
