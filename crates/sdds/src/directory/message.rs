//! Messages between clients and servers.
//!
//! The channel delivers a message at most once, in any order and after any delay. A message that
//! was certainly not delivered is returned to its sender. A transfer of ownership
//! ([`Message::Adopt`] and the messages that follow) must not be lost: in a cluster it is in the
//! groups' logs, from which it is resumed.

use super::{Entry, Image, Root};
use crate::{ClientId, Epoch, GroupId, KeyRange, RequestId};
use serde::{Deserialize, Serialize};

/// An operation on the keys of a range, to be executed by their owners.
///
/// A request is divided on its way if its range has several owners. Each part is answered to the
/// client.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request<O> {
    /// The client's identifier of the request.
    pub id: RequestId,
    /// The client that receives the answer.
    pub client: ClientId,
    /// The keys; for a single key, its point range.
    pub range: KeyRange,
    /// The operation, which is opaque here.
    pub operation: O,
    /// Number of forwards so far, at most [`super::Settings::forwards_max`].
    pub forwards: u32,
    /// Entries from servers on the way that the client should learn, for the answer.
    pub adjustment: Vec<Entry>,
}

/// The trailer of the answer to a part of a request, in addition to the result.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Answer {
    /// The identifier of the request.
    pub id: RequestId,
    /// The keys that this answer covers.
    pub range: KeyRange,
    /// Number of forwards of the part.
    pub forwards: u32,
    /// The image adjustment; empty if the request was sent to the owner directly.
    pub adjustment: Vec<Entry>,
}

impl<O> Request<O> {
    /// The trailer of the request's answer.
    pub fn answer(self) -> Answer {
        let Self { id, range, forwards, adjustment, .. } = self;
        Answer { id, range, forwards, adjustment }
    }
}

/// A message from a server to a client, other than results.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Reply {
    /// A part of the request was executed.
    Answer(Answer),
    /// The owner of some keys was not found or is unreachable. The client asks every group.
    Lost {
        /// The identifier of the request.
        id: RequestId,
        /// The part that was not executed.
        range: KeyRange,
        /// All groups that the server knows.
        groups: Vec<GroupId>,
    },
    /// The answer to [`Message::Ask`].
    Owned {
        /// The identifier of the request.
        id: RequestId,
        /// The range that was asked about.
        asked: KeyRange,
        /// The group's entries for the range; often none.
        entries: Vec<Entry>,
        /// All groups, if this is the root group. Other groups may not know the newest ones.
        groups: Vec<GroupId>,
    },
}

/// The level of an ownership transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Level {
    /// Rows, from owner to owner; recorded in the directory's pages.
    Rows,
    /// A directory page, from keeper to keeper; recorded in the root.
    Pages,
}

/// The content of transferred keys.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Content {
    /// Rows, which the caller sends along.
    Rows,
    /// A page: the owners of the range.
    Page(Image),
}

impl Content {
    /// The level of the content.
    pub fn level(&self) -> Level {
        match self {
            Self::Rows => Level::Rows,
            Self::Page(_) => Level::Pages,
        }
    }
}

/// A message to a server, from a client or another server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Message<O> {
    /// From a client, or forwarded. A late request is as valid as a new one.
    Request(Request<O>),
    /// A broadcast lookup, from a client to every group: who owns this range? Always answered.
    Ask {
        /// The request for which the client asks.
        id: RequestId,
        /// The client.
        client: ClientId,
        /// The keys whose owner is wanted.
        range: KeyRange,
    },
    /// From the group that has released keys to their new owner.
    Adopt {
        /// The keys.
        range: KeyRange,
        /// The new owner's epoch.
        epoch: Epoch,
        /// The previous owner.
        from: GroupId,
        /// The content of the keys.
        content: Content,
    },
    /// Back to the group that released keys: they were adopted. Ignored if the keys have come back
    /// since.
    Adopted {
        /// The level.
        level: Level,
        /// The keys.
        range: KeyRange,
        /// The new owner's epoch.
        epoch: Epoch,
    },
    /// To the keeper of the page (rows) or to the root group (pages): keys have a new owner.
    /// Ignored if it is outdated.
    Record {
        /// The level.
        level: Level,
        /// The keys and their owner.
        entry: Entry,
        /// The group that released them and waits for the record.
        from: GroupId,
    },
    /// From the keeper of the page: the new owner is recorded. For pages, [`Message::Root`] serves
    /// this purpose.
    Recorded {
        /// The keys.
        range: KeyRange,
        /// The epoch that was recorded.
        epoch: Epoch,
    },
    /// From the root group: the current root. Ignored if it is not newer.
    Root(Root),
}
