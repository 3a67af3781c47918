//! What clients and servers tell one another.
//!
//! The channel: a message is delivered at most once, in any order and after any delay. One of which it is certain
//! that it was not delivered comes back to its sender. A change of hands ([`Message::Adopt`] and what
//! follows it) must not be lost: in a cluster it is in the groups' logs and is driven on from there.

use super::{Entry, Image, Root};
use crate::{ClientId, Epoch, GroupId, KeyRange, RequestId};
use serde::{Deserialize, Serialize};

/// Something to do with the keys of a range, by whoever owns them.
///
/// A request is divided on its way where its range has several owners. Each part is answered to the client.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request<O> {
    /// Its name, for the client.
    pub id: RequestId,
    /// Who wants the answer.
    pub client: ClientId,
    /// The keys; for one key, its point.
    pub range: KeyRange,
    /// What to do: the shell's business.
    pub operation: O,
    /// How often it was passed on, at most [`super::Settings::forwards_max`].
    pub forwards: u32,
    /// What servers on the way found that the client should know, for the answer.
    pub adjustment: Vec<Entry>,
}

/// What the answer to a part of a request says beside the result: its trailer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Answer {
    /// The request's name.
    pub id: RequestId,
    /// The keys that this answer is about.
    pub range: KeyRange,
    /// How often the part was passed on.
    pub forwards: u32,
    /// The image adjustment: empty where the request came to the owner at once.
    pub adjustment: Vec<Entry>,
}

impl<O> Request<O> {
    /// The trailer of its answer.
    pub fn answer(self) -> Answer {
        let Self { id, range, forwards, adjustment, .. } = self;
        Answer { id, range, forwards, adjustment }
    }
}

/// What a server tells a client, other than results.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Reply {
    /// A part of the request was carried out.
    Answer(Answer),
    /// Some keys' owner was not found, or could not be reached. The client asks every group.
    Lost {
        /// The request's name.
        id: RequestId,
        /// The part that was not carried out.
        range: KeyRange,
        /// Every group that the server has heard of.
        groups: Vec<GroupId>,
    },
    /// To [`Message::Ask`].
    Owned {
        /// The request's name.
        id: RequestId,
        /// What was asked.
        asked: KeyRange,
        /// What the group knows about it; often nothing.
        entries: Vec<Entry>,
        /// Every group there is, if this is the root group. Others may not have heard yet who has joined.
        groups: Vec<GroupId>,
    },
}

/// What changes hands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Level {
    /// Rows, from owner to owner; recorded in the directory's pages.
    Rows,
    /// A page of the directory, from keeper to keeper; recorded in the root.
    Pages,
}

/// What comes with keys that change hands.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Content {
    /// Rows; the shell sends them along.
    Rows,
    /// A page: who owns what in the range.
    Page(Image),
}

impl Content {
    /// The level that it is of.
    pub fn level(&self) -> Level {
        match self {
            Self::Rows => Level::Rows,
            Self::Page(_) => Level::Pages,
        }
    }
}

/// What a server is told, by clients and by other servers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Message<O> {
    /// From a client, or passed on. A late one is as good as a new one.
    Request(Request<O>),
    /// The last resort, from a client to every group: whose is this? Answered in any case.
    Ask {
        /// The request on whose behalf.
        id: RequestId,
        /// Who asks.
        client: ClientId,
        /// The keys whose owner is wanted.
        range: KeyRange,
    },
    /// From whoever has released keys: they are yours now.
    Adopt {
        /// The keys.
        range: KeyRange,
        /// The new owner's epoch.
        epoch: Epoch,
        /// Who had them.
        from: GroupId,
        /// What comes with them.
        content: Content,
    },
    /// Back to whoever released them: done. Late ones, after the keys have come back, are ignored.
    Adopted {
        /// Of which level.
        level: Level,
        /// The keys.
        range: KeyRange,
        /// The new owner's epoch.
        epoch: Epoch,
    },
    /// To the keeper of the page (rows) or to the root group (pages): they have changed hands. Old news change nothing.
    Record {
        /// Of which level.
        level: Level,
        /// The keys and their owner.
        entry: Entry,
        /// Who released them and waits for this to be known.
        from: GroupId,
    },
    /// From the keeper of the page: it is known now. For pages, [`Message::Root`] says it.
    Recorded {
        /// The keys.
        range: KeyRange,
        /// The epoch that was recorded.
        epoch: Epoch,
    },
    /// From the root group: this is how things are. Ignored where it is not newer.
    Root(Root),
}
