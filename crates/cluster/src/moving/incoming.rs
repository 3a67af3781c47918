//! Moves to this server.
//!
//! What happens when is decided by a state machine for each, [`protocols::destination`]. Here is how it is done.

use crate::directory::{File, Files, Outbox};
use crate::runtime::Tasks;
use crate::timeouts::TIMEOUTS;
use bytes::Bytes;
use messages::invalid_message;
use parking_lot::Mutex;
use protocols::destination::{Destination, Effect, Event};
use protocols::routing as directory;
use sdds::directory::{Content, Message};
use sdds::{KeyRange, MoveId, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use store::catalog::TableId;
use store::{Error, MoveIn, Store};

/// The moves to this server, by number. The store knows which ones were adopted ([`Store::has_adopted`]).
#[derive(Debug)]
pub(crate) struct IncomingMoves {
    tasks: Tasks,
    /// Where the time of the moves begins.
    began: Instant,
    next: AtomicU64,
    /// Each has its own lock, so that moves do not wait for each other. It may be taken before the
    /// lock of all, and never after.
    open: Mutex<BTreeMap<u64, Open>>,
}

/// A move that is open, with its lock.
type Open = (MoveId, Arc<Mutex<Incoming>>);

/// What a source says of keys that it gives away.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    /// Their access rate per second.
    pub(super) accesses: u64,
    /// The newest timestamp there.
    pub(super) seen: Timestamp,
    /// Versions that only snapshots before this need may be gone.
    pub(super) complete_from: Timestamp,
}

/// A move to this server.
#[derive(Debug)]
struct Incoming {
    machine: Destination,
    table: TableId,
    /// `None` when they are adopted or discarded.
    rows: Option<MoveIn>,
}

impl IncomingMoves {
    /// `start` is the number of the start of this server. A source that does not know of a restart names a move by a
    /// number from before it, which no later move may have.
    pub(super) fn new(tasks: Tasks, start: u64) -> Self {
        let began = tasks.now();
        Self { tasks, began, next: AtomicU64::new(start << 32), open: Mutex::default() }
    }

    /// Begins a move. Returns its number.
    pub(super) fn begin(
        &self,
        store: &Arc<Store>,
        of: MoveId,
        table: TableId,
        range: &KeyRange,
    ) -> Result<u64, Error> {
        let rows = store.move_in(of, table, range)?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let machine = Destination::begin(self.now());
        let incoming = Incoming { machine, table, rows: Some(rows) };
        self.open.lock().insert(number, (of, Arc::new(Mutex::new(incoming))));
        Ok(number)
    }

    fn now(&self) -> Duration {
        self.tasks.now() - self.began
    }

    fn open(&self, number: u64) -> Result<Arc<Mutex<Incoming>>, Error> {
        let known = self.open.lock().get(&number).map(|(_, incoming)| Arc::clone(incoming));
        known.ok_or_else(|| invalid_message("an unknown move"))
    }

    /// Receives a piece of the rows.
    pub(super) fn take(&self, number: u64, piece: Bytes, ends_round: bool) -> Result<(), Error> {
        let incoming = self.open(number)?;
        let mut incoming = incoming.lock();
        if incoming.machine.step(self.now(), Event::Piece) != Some(Effect::Keep) {
            return Err(has_ended());
        }
        let rows = incoming.rows.as_mut().ok_or_else(has_ended)?;
        rows.take(piece)?;
        if ends_round {
            rows.end_round()?;
        }
        Ok(())
    }

    /// Receives the rest and adopts all rows. Returns what the directory has to be told.
    pub(super) fn adopt(
        &self,
        files: &Files,
        number: u64,
        rest: Option<Bytes>,
        origin: Origin,
        adopt: Message<()>,
    ) -> Result<(Arc<File>, Outbox), Error> {
        if !matches!(adopt, Message::Adopt { content: Content::Rows, .. }) {
            return Err(invalid_message("a move without its range"));
        }
        let incoming = self.open(number)?;
        // Locked until all is done: who asks meanwhile hears the outcome.
        let mut incoming = incoming.lock();
        if incoming.machine.step(self.now(), Event::Adopt) != Some(Effect::Adopt) {
            return Err(has_ended());
        }
        let rows = incoming.rows.take().ok_or_else(has_ended)?;
        let adopted = adopt_rows(rows, files, incoming.table, rest, origin, adopt);
        let noted = adopted.as_ref().map(drop).map_err(drop);
        incoming.machine.step(self.now(), Event::Adopted(noted));
        if adopted.is_ok() {
            self.open.lock().remove(&number);
        }
        adopted
    }

    /// Discards a move that its source calls off, unless it is adopted.
    pub(super) fn call_off(&self, number: u64) {
        if let Ok(incoming) = self.open(number) {
            self.discard(number, &incoming);
        }
    }

    /// Discards a move that is not adopted yet, by every number that it has had here: it will not be adopted later. A
    /// source that has been started again does not know the number.
    pub(super) fn discard_all(&self, of: MoveId) {
        let open = self.open.lock();
        let same = open.iter().filter(|(_, (other, _))| *other == of);
        let same: Vec<_> = same.map(|(number, (_, one))| (*number, Arc::clone(one))).collect();
        drop(open);
        same.iter().for_each(|(number, incoming)| self.discard(*number, incoming));
    }

    fn discard(&self, number: u64, incoming: &Mutex<Incoming>) {
        let mut incoming = incoming.lock();
        if incoming.machine.step(self.now(), Event::Discard) == Some(Effect::Discard) {
            incoming.rows = None;
        }
        if incoming.machine.is_over() {
            self.open.lock().remove(&number);
        }
    }

    /// Discards moves whose sources are silent.
    pub(crate) fn discard_silent(&self) {
        let (now, silence) = (self.now(), TIMEOUTS.source_silence);
        let is_silent = |incoming: &Mutex<Incoming>| {
            // A locked one is in use, and not silent.
            incoming.try_lock().is_some_and(|mut incoming| {
                incoming.machine.step(now, Event::Tick { silence });
                incoming.machine.is_over()
            })
        };
        self.open.lock().retain(|_, (_, incoming)| !is_silent(incoming));
    }
}

fn adopt_rows(
    mut rows: MoveIn,
    files: &Files,
    table: TableId,
    rest: Option<Bytes>,
    origin: Origin,
    adopt: Message<()>,
) -> Result<(Arc<File>, Outbox), Error> {
    let file = files.by_id(table)?;
    rest.map_or(Ok(()), |rest| rows.take(rest))?;
    rows.see(origin.seen);
    rows.lack_before(origin.complete_from);
    rows.adopt(origin.accesses)?;
    let mut outbox = file.change(directory::Event::Message(adopt));
    // The answer tells it the source.
    outbox.retain(|(_, message)| !matches!(message, Message::Adopted { .. }));
    Ok((file, outbox))
}

fn has_ended() -> Error {
    invalid_message("a move that has ended")
}
