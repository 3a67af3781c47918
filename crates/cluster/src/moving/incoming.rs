//! Moves to this server.

use crate::directory::Files;
use crate::messages::invalid_message;
use crate::timeouts::TIMEOUTS;
use bytes::Bytes;
use parking_lot::Mutex;
use sdds::directory::{Content, Message};
use sdds::{KeyRange, MoveId, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use store::catalog::TableId;
use store::{Error, MoveIn, Store};

/// The moves to this server, by number. Each is adopted once, or never: a source relies on the
/// answer. The store knows which ones were adopted ([`Store::has_adopted`]).
#[derive(Debug, Default)]
pub(crate) struct IncomingMoves {
    next: AtomicU64,
    arrivals: Mutex<Arrivals>,
}

#[derive(Debug, Default)]
struct Arrivals {
    /// Each has its own lock, so that moves do not wait for each other. It may be taken before the
    /// lock of all, and never after.
    open: BTreeMap<u64, Arc<Mutex<Incoming>>>,
}

/// A move to this server.
#[derive(Debug)]
struct Incoming {
    table: TableId,
    /// `None` when they are adopted or discarded.
    rows: Option<MoveIn>,
    /// When the last piece arrived.
    at: Instant,
}

impl IncomingMoves {
    /// `start` is the number of the start of this server. A source that does not know of a restart names a move by a
    /// number from before it, which no later move may have.
    pub(super) fn new(start: u64) -> Self {
        Self { next: AtomicU64::new(start << 32), ..Self::default() }
    }

    /// Begins a move. Returns its number.
    pub(super) fn begin(
        &self,
        store: &Arc<Store>,
        of: MoveId,
        table: TableId,
        range: &KeyRange,
        now: Instant,
    ) -> Result<u64, Error> {
        let rows = store.move_in(of, table, range)?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let incoming = Incoming { table, rows: Some(rows), at: now };
        self.arrivals.lock().open.insert(number, Arc::new(Mutex::new(incoming)));
        Ok(number)
    }

    fn open(&self, number: u64) -> Result<Arc<Mutex<Incoming>>, Error> {
        let known = self.arrivals.lock().open.get(&number).cloned();
        known.ok_or_else(|| invalid_message("an unknown move"))
    }

    /// Receives a piece of the rows.
    pub(super) fn take(
        &self,
        number: u64,
        piece: Bytes,
        ends_round: bool,
        now: Instant,
    ) -> Result<(), Error> {
        let incoming = self.open(number)?;
        let mut incoming = incoming.lock();
        incoming.at = now;
        let rows =
            incoming.rows.as_mut().ok_or_else(|| invalid_message("a move that has ended"))?;
        rows.take(piece)?;
        if ends_round {
            rows.end_round()?;
        }
        Ok(())
    }

    /// Receives the rest and adopts all rows. `accesses` is their access rate per second at the
    /// source, and `seen` the newest timestamp there.
    pub(super) fn adopt(
        &self,
        files: &Files,
        number: u64,
        rest: Option<Bytes>,
        (accesses, seen): (u64, Timestamp),
        adopt: Message<()>,
    ) -> Result<(), Error> {
        if !matches!(adopt, Message::Adopt { content: Content::Rows, .. }) {
            return Err(invalid_message("a move without its range"));
        }
        let incoming = self.open(number)?;
        // ServerReport until all is done, so that the outcome is all or nothing.
        let mut incoming = incoming.lock();
        let mut rows =
            incoming.rows.take().ok_or_else(|| invalid_message("a move that has ended"))?;
        let file = files.by_id(incoming.table)?;
        rest.map_or(Ok(()), |rest| rows.take(rest))?;
        rows.see(seen);
        rows.adopt(accesses)?;
        // The answer tells the source what the directory's message would.
        let _ = file.handle(adopt);
        self.arrivals.lock().open.remove(&number);
        Ok(())
    }

    /// Discards a move that is not adopted yet: it will not be adopted later.
    pub(super) fn discard(&self, number: u64) {
        if let Ok(incoming) = self.open(number) {
            incoming.lock().rows = None;
        }
        self.forget(number);
    }

    /// Discards a move.
    pub(super) fn forget(&self, number: u64) {
        self.arrivals.lock().open.remove(&number);
    }

    /// Discards moves whose sources are silent.
    pub(crate) fn discard_silent(&self, now: Instant) {
        let is_silent = |rows: &Mutex<Incoming>| {
            rows.try_lock()
                .is_some_and(|rows| now.duration_since(rows.at) >= TIMEOUTS.source_silence)
        };
        self.arrivals.lock().open.retain(|_, rows| !is_silent(rows));
    }
}
