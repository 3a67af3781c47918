//! What servers ask one another, and how it is written: postcard, with rows as Arrow IPC streams.

use crate::blob::Blob;
use crate::members::{Member, Members, ServerLoad};
use bytes::Bytes;
use sdds::balancing::Sizes;
use sdds::directory::{Entry, Message};
use sdds::{GroupId, Key, KeyRange, Timestamp};
use serde::{Deserialize, Serialize};
use store::catalog::{Catalog, CatalogChange, Sequence, TableId};
use store::{Error, ExchangeId, MoveSetting, Reader, TableTotal, TransactionId};

/// A request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Request {
    /// To the root: take me in.
    Join { name: String, address: String, weight: u32 },
    /// To the root, again and again.
    Heartbeat(Heartbeat),
    /// To the root: a timestamp that sees every commit so far.
    Now,
    /// To the root: this transaction is prepared wherever it has written; commit it.
    Decide {
        transaction: TransactionId,
        /// The groups beside the coordinator's that are prepared.
        others: Vec<GroupId>,
        /// Where it changes the catalog: the members that its coordinator has made take part.
        members: Option<u64>,
    },
    /// To the root: what became of a transaction that is prepared here and whose coordinator is silent.
    Outcome { transaction: TransactionId },
    /// To the root: who is part of the cluster?
    Members,
    /// To the root: values of a sequence.
    SequenceNext { sequence: Sequence, count: u32 },
    /// To the root: a sequence stands elsewhere.
    SequenceSet { sequence: Sequence, last: i64, called: bool },
    /// To the root: where a sequence stands.
    SequenceLast { sequence: Sequence },
    /// To the root: this server shall have so large a share; zero empties it.
    SetWeight { name: String, weight: u32 },
    /// To the root: rows shall move in another way.
    ChangeMoves { change: MoveSetting },
    /// To the root: the group's server ends, and whether nothing is lost with it.
    Leave { group: GroupId, is_empty: bool },
    /// To any server: what it holds and does.
    Report,
    /// To any server: its rows of a table that has rows of all servers, as those of a fragment.
    Describe { name: String },
    /// To an owner: rows by key.
    Get { reader: WireReader, target: Target, keys: Vec<Key>, columns: Vec<u32> },
    /// To an owner: rows to write.
    Write {
        reader: WireReader,
        target: Target,
        write: WireWrite,
        /// How often its transaction went back to a savepoint before.
        step: u64,
    },
    /// To an owner: an pushdown, to be carried out on its rows.
    DmlPushdown {
        reader: WireReader,
        target: Target,
        pushdown: Blob,
        /// How often its transaction went back to a savepoint before.
        step: u64,
    },
    /// To a server: a fragment to run; batches come back, and then a trailer.
    Run { reader: WireReader, hops: u32, fragment: Blob },
    /// Undo what was written at a savepoint or later.
    RollbackTo { transaction: TransactionId, savepoint: u64, step: u64 },
    /// Undo everything.
    RollBack { transaction: TransactionId },
    /// Get ready to commit.
    Prepare {
        reader: WireReader,
        /// Whether it has certainly written there.
        has_written: bool,
        /// The commit will be after this.
        newest: Timestamp,
    },
    /// It is committed.
    Commit { transaction: TransactionId, timestamp: Timestamp },
    /// To a coordinator: does this transaction go on?
    IsRunning { transaction: TransactionId },
    /// To anybody: what of this is yours?
    Owned { table: TableId, range: KeyRange },
    /// Who owns these keys?
    Whose { table: TableId, range: KeyRange, hops: u32 },
    /// The directory's own messages.
    Directory { table: TableId, message: Message<()> },
    /// Rows are coming; the answer names the move.
    MoveIn { table: TableId, range: KeyRange },
    /// Some of them; the last piece of a round says so.
    MovePiece { number: u64, piece: Blob, ends_round: bool },
    /// With this last piece, if there is one, all are there: own them. They were accessed so often a second.
    MoveAdopt { number: u64, rest: Option<Blob>, adopt: Message<()>, accesses: u64 },
    /// They are not coming after all.
    MoveDrop { number: u64 },
    /// Whether they were adopted, for a source who lost the answer. If not, they will not be any more.
    MoveOutcome { number: u64 },
    /// To a server that deals out an exchange: one part of it; batches come back.
    Take { exchange: ExchangeId, part: u32 },
    /// To the root: timestamps of so many commits, of transactions that have written on the sender alone; the first comes back.
    Next { count: u32 },
    /// To an owner: a row by key, as it is now.
    Newest { target: Target, key: Key, columns: Vec<u32> },
    /// To an owner: a row operation, a transaction of its own.
    RowOperation { target: Target, key: Key, operation: Blob },
}

/// Who asks whom. A server that joins has no group yet, and knows nobody's.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Envelope {
    pub(crate) from: Option<GroupId>,
    pub(crate) to: Option<GroupId>,
    pub(crate) request: Request,
}

/// A table, and how its image led here.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Target {
    pub(crate) table: TableId,
    /// Of the definition that the coordinator plans with.
    pub(crate) version: u32,
    /// How often the request was passed on.
    pub(crate) hops: u32,
}

/// A [`Reader`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WireReader {
    pub(crate) timestamp: Timestamp,
    pub(crate) transaction: Option<TransactionId>,
    pub(crate) changes: Vec<CatalogChange>,
    pub(crate) savepoint: u64,
}

impl WireReader {
    pub(crate) fn new(reader: &Reader) -> Self {
        Self {
            timestamp: reader.timestamp,
            transaction: reader.transaction,
            changes: reader.changes.to_vec(),
            savepoint: reader.savepoint,
        }
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader {
            timestamp: self.timestamp,
            transaction: self.transaction,
            changes: self.changes.as_slice().into(),
            savepoint: self.savepoint,
        }
    }
}

/// A [`store::Write`], with its rows written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum WireWrite {
    Insert(Blob),
    Load(Blob),
    Upsert(Blob),
    Delete(Vec<Key>),
}

/// What a server tells the root from time to time.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Heartbeat {
    pub(crate) group: GroupId,
    /// No snapshot before this will be taken there any more.
    pub(crate) oldest: Timestamp,
    /// The members as it knows them.
    pub(crate) members: u64,
    pub(crate) load: ServerLoad,
    /// Where PostgreSQL clients call it.
    pub(crate) pg: Option<String>,
}

/// What the root answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Beat {
    pub(crate) now: Timestamp,
    /// Versions that no snapshot at or after this can see may go.
    pub(crate) horizon: Timestamp,
    /// Where the caller knows an older version.
    pub(crate) members: Option<Members>,
    /// What each table has on all servers.
    pub(crate) totals: Vec<(TableId, TableTotal)>,
    /// What it should give to others.
    pub(crate) orders: Vec<Order>,
}

/// What of a table should move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) table: TableId,
    pub(crate) to: GroupId,
    /// More than this is not to move.
    pub(crate) size_max: u64,
    /// How that is reckoned.
    pub(crate) sizes: Sizes,
    /// Why, for whoever looks.
    pub(crate) reason: String,
}

/// An answer, or one of several.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Answer {
    Done,
    Joined {
        member: Member,
        members: Members,
        catalog: Catalog,
        timestamp: Timestamp,
    },
    Beat(Box<Beat>),
    Timestamp(Timestamp),
    /// None: it was rolled back.
    Outcome(Option<Timestamp>),
    Value(Option<i64>),
    Report(Box<crate::report::Held>),
    /// Rows in the order of their positions.
    Found {
        rows: Option<Blob>,
        positions: Vec<u32>,
        adjustment: Adjustment,
    },
    Written {
        rows: u64,
    },
    /// How many rows an owner has changed, and the keys that it has left out: they are another's.
    Changed {
        rows: u64,
        rest: Vec<KeyRange>,
        adjustment: Adjustment,
    },
    /// Some keys are another's; nothing was done.
    NotOwned {
        range: KeyRange,
        adjustment: Adjustment,
    },
    /// Some of the rows that a fragment or an exchange gives.
    Batch(Blob),
    /// What whoever has sent a fragment can learn: beside its rows, and at their end.
    Adjustment(Adjustment),
    Owners(Vec<Entry>),
    Move(u64),
    Adopted(bool),
    Running(bool),
    Members(Members),
}

/// What the image of whoever asked can learn: entries by table, and how often requests were passed on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Adjustment {
    pub(crate) forwards: u32,
    pub(crate) entries: Vec<(TableId, Entry)>,
}

/// One answer, or what went wrong.
pub(crate) type Reply = Result<Answer, Error>;

impl Request {
    /// Its first word, for logs and tests.
    pub(crate) fn name(&self) -> String {
        format!("{self:?}").chars().take_while(|c| c.is_alphanumeric()).collect()
    }
}

/// What a call between servers is about, in a word; `None` for what is none.
pub fn name_of_call(bytes: &[u8]) -> Option<String> {
    decode::<Envelope>(bytes).ok().map(|envelope| envelope.request.name())
}

/// Whether a call goes on by itself (a heartbeat), or asks how much was said (a report). What is no call is neither.
pub(crate) fn is_small_talk(bytes: &[u8]) -> bool {
    /// What a [`Envelope`] begins with; a request begins with its place among all.
    type Heading = (Option<GroupId>, Option<GroupId>, u32);
    let heading = postcard::take_from_bytes::<Heading>(bytes);
    heading.is_ok_and(|((_, _, request), _)| request == HEARTBEAT || request == REPORT)
}

/// The places of [`Request::Heartbeat`] and [`Request::Report`].
const HEARTBEAT: u32 = 1;
const REPORT: u32 = 12;

/// Writes a value for another server.
pub(crate) fn encode<T: Serialize>(value: &T) -> Result<Bytes, Error> {
    let bytes = postcard::to_allocvec(value).map_err(|error| garbled(&error.to_string()))?;
    Ok(bytes.into())
}

/// Reads what another server wrote.
pub(crate) fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Error> {
    postcard::from_bytes(bytes).map_err(|error| garbled(&error.to_string()))
}

/// What is not a message.
pub(crate) fn garbled(reason: &str) -> Error {
    Error::Remote {
        sql_state: "08P01".into(),
        message: format!("a message between servers cannot be read: {reason}"),
        detail: None,
        hint: Some("Servers of one cluster must be of the same version.".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_talk_is_what_goes_on_by_itself_and_what_asks_about_it() {
        let load = ServerLoad::default();
        let (group, oldest, pg) = (GroupId(300), Timestamp(7), None);
        let heartbeat = Heartbeat { group, oldest, members: 1, load, pg };
        let all = [
            (Request::Heartbeat(heartbeat), true),
            (Request::Report, true),
            (Request::Now, false),
            (Request::Leave { group: GroupId(1), is_empty: true }, false),
            (Request::Describe { name: "runs".into() }, false),
        ];
        for (request, expected) in all {
            let name = request.name();
            for (from, to) in [(None, None), (Some(GroupId(300)), Some(GroupId(0)))] {
                let envelope = encode(&Envelope { from, to, request: request.clone() });
                assert_eq!(is_small_talk(&envelope.expect("encoded")), expected, "{name}");
            }
        }
        assert!(!is_small_talk(b"") && !is_small_talk(&[1]));
    }
}
