//! The first phase of a commit on several servers.
//!
//! ```text
//! running -- prepare --> prepared -- keep --> kept -- commit(timestamp) --> committed
//!                            |                  +---- roll_back ----------> rolled back
//!                            +-- commit, drop -->
//! ```
//!
//! The writes of a prepared transaction are not visible, and conflicting transactions are refused.
//! A reader at a timestamp at which the transaction may commit waits ([`Store::snapshot_at`]). Writes that are kept
//! are there again after a restart ([`Store::undecided`]).

use crate::holds::HoldId;
use crate::locking::Locker;
use crate::log::{Proposal, Record};
use crate::memory::Reservation;
use crate::peers::{Acknowledgement, Prepared, PreparedPart};
use crate::store::{CommitRequest, Ready, Touched};
use crate::write_set::{WriteSet, bytes};
use crate::{Error, Snapshot, Store, Transaction};
use catalog::TableId;
use durable::Command;
use futures::FutureExt;
use futures::future::BoxFuture;
use journal::{Body, Position, Room};
use protocols::planted::{Bug, is_planted};
use sdds::{Timestamp, TransactionId};
use std::sync::Arc;

/// The prepared part of a transaction on a store.
#[derive(Debug)]
struct PreparedTransaction {
    store: Arc<Store>,
    hold: HoldId,
    work: Work,
}

#[derive(Debug)]
enum Work {
    /// In memory only.
    Held(Box<(CommitRequest, Ready)>),
    /// In the log.
    Kept(Kept),
    /// Committed, or rolled back.
    Over,
}

/// A part that is in the log.
#[derive(Debug)]
struct Kept {
    transaction: TransactionId,
    writes: WriteSet,
    /// Room for the decision; `None` after a restart.
    room: Option<Room>,
    _reservation: Option<Reservation>,
    /// Its locks, until it is decided.
    _locker: Option<Locker>,
}

impl Transaction {
    /// Waits until no rows of the tables that this transaction empties are frozen here: those that are in neither
    /// of two servers would remain.
    pub async fn await_unfrozen(&self) {
        let emptied: Vec<TableId> = self.emptied().collect();
        let store = self.store();
        let is_free = || {
            let head = store.snapshots().newest();
            let mut files = emptied.iter().filter_map(|id| head.files.get(id));
            files.all(|file| !file.is_leaving())
        };
        store.holds().unfrozen(is_free).await;
    }

    /// Prepares the commit: checks for conflicts with committed and prepared transactions. Returns
    /// `None` if it has written nothing.
    ///
    /// # Errors
    /// [`Error::Conflict`] and [`Error::SchemaConflict`].
    pub fn prepare(mut self) -> Result<Option<Prepared>, Error> {
        let store = Arc::clone(self.store());
        assert!(self.entries.is_empty(), "the indexes have the changes of all rows");
        if self.is_read_only() {
            return Ok(self.locker.take().map(|locker| Prepared::new(OnlyLocks(locker))));
        }
        let Some(mut request) = self.into_request()? else { return Ok(None) };
        let ready = store.ready_blocking(&request)?;
        let hold = store.prepare(&request)?;
        request.staging = None;
        let work = Work::Held(Box::new((request, ready)));
        Ok(Some(Prepared::new(PreparedTransaction { store, hold, work })))
    }
}

/// The part of a transaction that has locks here, and no writes.
#[derive(Debug)]
struct OnlyLocks(#[expect(dead_code, reason = "dropping it releases the locks")] Locker);

impl PreparedPart for OnlyLocks {
    fn bytes(&self) -> u64 {
        0
    }

    fn keep(&mut self, _: TransactionId) -> BoxFuture<'_, Result<(), Error>> {
        futures::future::ready(Ok(())).boxed()
    }

    fn commit(self: Box<Self>, _: Timestamp) -> Acknowledgement {
        Acknowledgement::default()
    }

    fn roll_back(self: Box<Self>) {}
}

impl PreparedPart for PreparedTransaction {
    fn bytes(&self) -> u64 {
        match &self.work {
            Work::Held(held) => bytes(&held.0.writes),
            Work::Kept(kept) => bytes(&kept.writes),
            Work::Over => 0,
        }
    }

    fn keep(&mut self, transaction: TransactionId) -> BoxFuture<'_, Result<(), Error>> {
        self.log(transaction).boxed()
    }

    fn commit(mut self: Box<Self>, timestamp: Timestamp) -> Acknowledgement {
        self.store.observe(timestamp);
        let work = std::mem::replace(&mut self.work, Work::Over);
        let committed = match work {
            Work::Held(held) => {
                let (request, ready) = *held;
                self.store.apply(&mut self.store.machine(), request, ready, timestamp)
            }
            Work::Kept(kept) => {
                let decision = kept.decision(&self.store, Some(timestamp));
                decision.and_then(|(decision, writes)| {
                    let mut machine = self.store.machine();
                    self.store.holds().note_required(&writes, timestamp);
                    let touched = Touched::by(&machine, &writes);
                    self.store.propose_writes(&mut machine, decision, touched)
                })
            }
            Work::Over => Ok(Position::ZERO),
        };
        let position = match committed {
            Ok(position) => position,
            Err(_) if is_planted(Bug::UnloggedCommit) => return Acknowledgement::default(),
            // A journal that has stopped ends the server. Until then readers wait: the hold stays.
            Err(error) => return Acknowledgement::refused(error),
        };
        self.store.release_published(position, self.hold);
        let journal = self.store.journal().filter(|_| position > Position::ZERO);
        Acknowledgement::after(journal.map(|journal| journal.committed(position)))
    }

    fn roll_back(mut self: Box<Self>) {
        if let Work::Kept(kept) = std::mem::replace(&mut self.work, Work::Over) {
            // Without the decision in the log, a restart asks for it again.
            let decision = kept.decision(&self.store, None);
            let _ = decision.map(|(decision, _)| self.store.machine().propose(decision));
        }
        self.store.holds().release(self.hold);
    }
}

impl Drop for PreparedTransaction {
    fn drop(&mut self) {
        if !matches!(self.work, Work::Over) {
            self.store.holds().release(self.hold);
        }
    }
}

impl PreparedTransaction {
    /// Logs the writes, and waits until that is durable.
    async fn log(&mut self, transaction: TransactionId) -> Result<(), Error> {
        let (Some(durable), Work::Held(held)) = (self.store.durable(), &self.work) else {
            return Ok(());
        };
        let (catalog, writes) = (held.0.catalog_changes.clone(), held.0.writes.clone());
        let command = Command::Prepare { transaction, catalog, writes: writes.clone() };
        let before = held.0.snapshot.catalog();
        // Temporary relations end with the server.
        let Some((kind, body)) = durable::encode(&command, before) else { return Ok(()) };
        let journal = durable.journal();
        let room = journal.room(body.len()).await?;
        let later = journal.room(durable::DECISION_BYTES_MAX).await?;
        let record = Some(Record { kind, body: Body::new(body), room });
        let position = self.store.machine().propose(Proposal { command, record })?;
        let kept =
            Kept { transaction, writes, room: Some(later), _reservation: None, _locker: None };
        if let Work::Held(held) = std::mem::replace(&mut self.work, Work::Kept(kept)) {
            let CommitRequest { _reservation, locker, .. } = held.0;
            if let Work::Kept(kept) = &mut self.work {
                kept._reservation = Some(_reservation);
                kept._locker = locker;
            }
        }
        Ok(journal.durable(position).await?)
    }
}

impl Kept {
    /// Makes the decision ready to be appended.
    fn decision(
        mut self,
        store: &Store,
        outcome: Option<Timestamp>,
    ) -> Result<(Proposal, WriteSet), Error> {
        let command = Command::Decide { transaction: self.transaction, outcome };
        let encoded = durable::encode(&command, &store.catalog());
        let record = match (encoded, store.journal()) {
            (Some((kind, body)), Some(journal)) => {
                let room = match self.room.take() {
                    Some(room) => room,
                    None => journal.room_blocking(body.len())?,
                };
                Some(Record { kind, body: Body::new(body), room })
            }
            _ => None,
        };
        Ok((Proposal { command, record }, self.writes))
    }
}

impl Store {
    /// Returns the parts of transactions whose outcomes are not known, as the log has them. They are held from now
    /// on. To be called once, before other servers and clients use this one.
    pub fn undecided(self: &Arc<Self>) -> Vec<(TransactionId, Prepared)> {
        let machine = self.machine();
        let parts = machine.cluster.prepared.iter();
        let held = parts.map(|(transaction, part)| {
            let hold = self.hold_undecided(part);
            let writes = part.writes.clone();
            let transaction = *transaction;
            let (_reservation, _locker) = (None, None);
            let kept = Kept { transaction, writes, room: None, _reservation, _locker };
            let (store, work) = (Arc::clone(self), Work::Kept(kept));
            (transaction, Prepared::new(PreparedTransaction { store, hold, work }))
        });
        held.collect()
    }

    /// Begins a transaction on what is committed now.
    pub fn begin(self: &Arc<Self>) -> Transaction {
        self.begin_at(self.snapshot())
    }

    /// Begins a transaction on a snapshot of this store.
    pub fn begin_at(self: &Arc<Self>, snapshot: Snapshot) -> Transaction {
        Transaction::new(Arc::clone(self), snapshot)
    }
}
