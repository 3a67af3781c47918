//! Parts of other coordinators' transactions: what they have written here.
//!
//! A part begins with the first write, reads and writes at the transaction's timestamp, and ends with the outcome that its
//! coordinator sends. What happens when is decided by a state machine for each, [`protocols::participant`]. Here is how it
//! is done.

use crate::blocking;
use crate::runtime::Tasks;
use crate::timeouts::TIMEOUTS;
use messages::WireReader;
use parking_lot::Mutex;
use protocols::participant::{Effect, Ended, Event, HasWrites, Participant, Refusal, Request};
use sdds::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{
    Error, LockWait, Peers, Prepared, Reading, Savepoint, Store, Transaction, TransactionId,
};

/// All parts on this server.
#[derive(Debug)]
pub(crate) struct Participants {
    tasks: Tasks,
    store: Arc<Store>,
    /// Where the time of the parts begins.
    began: Instant,
    all: Mutex<All>,
}

#[derive(Debug, Default)]
struct All {
    parts: BTreeMap<TransactionId, Arc<tokio::sync::Mutex<Part>>>,
    ended: Ended,
}

/// The part of one transaction.
#[derive(Debug)]
pub(crate) struct Part {
    machine: Participant,
    work: Work,
    /// The states of savepoints, oldest first.
    savepoints: Vec<Savepoint>,
    tasks: Tasks,
    store: Arc<Store>,
    began: Instant,
}

/// What a part has written.
#[derive(Debug)]
enum Work {
    None,
    Open(Box<Transaction>),
    Held(Prepared),
}

/// Parts without messages for a while.
#[derive(Debug, Default)]
pub(crate) struct Silent {
    /// Prepared: the root knows the outcomes.
    pub(crate) prepared: Vec<TransactionId>,
    /// Open: the coordinators know whether they are running.
    pub(crate) open: Vec<TransactionId>,
}

impl Participants {
    pub(crate) fn new(tasks: Tasks, store: Arc<Store>) -> Self {
        let began = tasks.now();
        Self { tasks, store, began, all: Mutex::default() }
    }

    /// The part of a transaction, which is created if needed.
    ///
    /// # Errors
    /// 40001 if the transaction has ended here.
    pub(crate) fn part(
        &self,
        transaction: TransactionId,
    ) -> Result<Arc<tokio::sync::Mutex<Part>>, Error> {
        let mut all = self.all.lock();
        if all.ended.contains(transaction) {
            return Err(ended());
        }
        let part = || Arc::new(self.with(Participant::new(self.now()), Work::None).into());
        Ok(Arc::clone(all.parts.entry(transaction).or_insert_with(part)))
    }

    fn with(&self, machine: Participant, work: Work) -> Part {
        let (tasks, store, began) = (self.tasks.clone(), Arc::clone(&self.store), self.began);
        Part { machine, work, savepoints: Vec::new(), tasks, store, began }
    }

    fn now(&self) -> Duration {
        self.tasks.now() - self.began
    }

    /// The part of a transaction, if there is one.
    pub(crate) fn known(
        &self,
        transaction: TransactionId,
    ) -> Option<Arc<tokio::sync::Mutex<Part>>> {
        self.all.lock().parts.get(&transaction).cloned()
    }

    /// Ends a transaction on this server. With a timestamp its writes are committed.
    ///
    /// # Errors
    /// 58030 if the disk fails: the commit may be lost.
    pub(crate) async fn end(
        &self,
        transaction: TransactionId,
        outcome: Option<Timestamp>,
    ) -> Result<(), Error> {
        match self.forget(transaction) {
            Some(part) => part.lock().await.end(Event::Outcome(outcome)).await,
            None => Ok(()),
        }
    }

    /// Ends a transaction that its coordinator does not know any more, unless it is prepared.
    pub(crate) async fn abandon(&self, transaction: TransactionId) -> Result<(), Error> {
        let Some(part) = self.known(transaction) else { return Ok(()) };
        let mut part = part.lock().await;
        part.end(Event::Abandoned).await?;
        if part.machine.is_over() {
            self.forget(transaction);
        }
        Ok(())
    }

    /// Removes the part of a transaction, of which there will be no other one.
    fn forget(&self, transaction: TransactionId) -> Option<Arc<tokio::sync::Mutex<Part>>> {
        let mut all = self.all.lock();
        all.ended.insert(transaction);
        all.parts.remove(&transaction)
    }

    /// Keeps the writes that were prepared for a transaction whose outcome is not known here: by this coordinator, or
    /// before a restart.
    pub(crate) fn keep(&self, transaction: TransactionId, prepared: Prepared) {
        let part = self.with(Participant::prepared(self.now()), Work::Held(prepared));
        self.all.lock().parts.insert(transaction, Arc::new(part.into()));
    }

    /// Parts that have heard nothing for some time, and ask.
    pub(crate) fn silent(&self, silence: Duration) -> Silent {
        let all = self.all.lock();
        let parts: Vec<_> = all.parts.iter().map(|(id, part)| (*id, Arc::clone(part))).collect();
        drop(all);
        let mut silent = Silent::default();
        for (id, part) in parts {
            // A locked part is in use, and not silent.
            let Ok(mut part) = part.try_lock() else { continue };
            for effect in part.step(Event::Tick { silence }) {
                match effect {
                    Effect::AskRoot => silent.prepared.push(id),
                    Effect::AskCoordinator => silent.open.push(id),
                    other => unreachable!("time does not lead to {other:?}"),
                }
            }
        }
        silent
    }

    /// Number of parts.
    pub(crate) fn len(&self) -> usize {
        self.all.lock().parts.len()
    }
}

impl Part {
    fn step(&mut self, event: Event) -> Vec<Effect> {
        let now = self.tasks.now() - self.began;
        self.machine.step(now, event)
    }

    /// What the machine has to know of a request.
    fn request(&self, reader: &WireReader) -> Request {
        let known = match &self.work {
            Work::Open(transaction) => transaction.change_count(),
            Work::None | Work::Held(_) => 0,
        };
        Request {
            savepoint: reader.savepoint,
            has_changes: known < reader.changes.len(),
            has_written: reader.has_written,
        }
    }

    /// Does what precedes the work of a request.
    async fn begin(&mut self, reader: &WireReader, effects: &[Effect]) -> Result<(), Error> {
        if !effects.iter().any(|effect| matches!(effect, Effect::Refuse(_))) {
            self.follow(reader).await?;
        }
        for effect in effects {
            match effect {
                Effect::Begin => {
                    let snapshot = self.store.snapshot_at(reader.timestamp).await;
                    self.work = Work::Open(Box::new(self.store.begin_at(snapshot)));
                    self.follow(reader).await?;
                }
                Effect::Change { marks } => {
                    if *marks {
                        let savepoint = self.transaction()?.savepoint();
                        self.savepoints.push(savepoint);
                    }
                    let known = self.transaction()?.change_count();
                    for change in reader.changes.iter().skip(known) {
                        let changed = self.transaction()?.change_catalog(change.clone());
                        changed.map_err(Error::of_dropped)?;
                    }
                }
                Effect::Refuse(Refusal::Ended) => return Err(ended()),
                Effect::Refuse(Refusal::Late) => return Err(late()),
                Effect::Serve | Effect::Hold | Effect::SayPrepared => {}
                other => unreachable!("a request does not lead to {other:?}"),
            }
        }
        Ok(())
    }

    /// Takes the party of a request, which locks what it writes, and its snapshot, if that is newer.
    async fn follow(&mut self, reader: &WireReader) -> Result<(), Error> {
        let Work::Open(transaction) = &mut self.work else { return Ok(()) };
        if let Some(party) = reader.locks {
            transaction.lock_rows(party);
        }
        if transaction.snapshot().timestamp() < reader.timestamp {
            let snapshot = self.store.snapshot_at(reader.timestamp).await;
            if !transaction.refresh(snapshot)? {
                return Err(ended());
            }
        }
        Ok(())
    }

    fn transaction(&mut self) -> Result<&mut Transaction, Error> {
        match &mut self.work {
            Work::Open(transaction) => Ok(transaction),
            Work::None | Work::Held(_) => Err(ended()),
        }
    }

    /// Executes a write of a coordinator's step: all of it, or nothing.
    pub(crate) async fn write<T>(
        &mut self,
        reader: &WireReader,
        step: u64,
        work: impl FnOnce(&mut Transaction) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let effects = self.step(Event::Write(self.request(reader), step));
        self.begin(reader, &effects).await?;
        let transaction = self.transaction()?;
        let before = transaction.savepoint();
        let written = work(transaction);
        if written.is_err() {
            transaction.rollback_to(&before);
        }
        let staged = Event::Staged { savepoint: reader.savepoint, is_done: written.is_ok() };
        if self.step(staged).contains(&Effect::Mark) {
            self.savepoints.push(before);
        }
        assert_eq!(self.savepoints.len(), self.machine.marks(), "each savepoint has a state");
        written
    }

    /// What waits for the lock that the last write was refused for.
    pub(crate) fn take_wait(&mut self) -> Option<LockWait> {
        match &mut self.work {
            Work::Open(transaction) => transaction.take_wait(),
            _ => None,
        }
    }

    /// Rolls back to a savepoint number. Writes of steps before `step` that are still in flight are
    /// refused.
    pub(crate) fn rollback_to(&mut self, savepoint: u64, step: u64) {
        for effect in self.step(Event::RollBackTo { savepoint, step }) {
            let Effect::RollBackTo(place) = effect else { continue };
            if let (Work::Open(transaction), Some(before)) =
                (&mut self.work, self.savepoints.get(place))
            {
                transaction.rollback_to(before);
            }
            self.savepoints.truncate(place);
        }
    }

    /// What the transaction reads here.
    pub(crate) async fn reading(
        &mut self,
        reader: &WireReader,
        peers: Arc<dyn Peers>,
    ) -> Result<Reading, Error> {
        let effects = self.step(Event::Read(self.request(reader)));
        self.begin(reader, &effects).await?;
        Ok(self.transaction()?.reading(Some((peers, reader.reader()))))
    }

    /// Prepares to commit. Idempotent. Fails if the transaction has written here and its part is
    /// gone.
    pub(crate) async fn prepare(
        &mut self,
        reader: &WireReader,
        transaction: TransactionId,
    ) -> Result<(), Error> {
        let mut effects = self.step(Event::Prepare(self.request(reader)));
        let mut failed = None;
        let begun = self.begin(reader, &effects).await;
        while let Some(effect) = effects.last().copied() {
            let event = match effect {
                Effect::Hold => {
                    let held = match &begun {
                        Ok(()) => self.hold().await.map_err(|error| failed = Some(error)),
                        Err(_) => Err(()),
                    };
                    Event::Held(held)
                }
                Effect::Keep => {
                    let kept = match &mut self.work {
                        Work::Held(held) => held.keep(transaction).await,
                        Work::None | Work::Open(_) => Ok(()),
                    };
                    Event::Kept(kept.map_err(|error| failed = Some(error)))
                }
                _ => break,
            };
            effects = self.step(event);
        }
        if self.machine.is_prepared() {
            return Ok(());
        }
        if self.machine.is_over() {
            // What could not be kept is not held any more.
            self.work = Work::None;
        }
        begun?;
        Err(failed.unwrap_or_else(ended))
    }

    /// Checks for conflicts, and holds what is written.
    async fn hold(&mut self) -> Result<HasWrites, Error> {
        let Work::Open(transaction) = std::mem::replace(&mut self.work, Work::None) else {
            return Ok(false);
        };
        if transaction.empties_tables() {
            // A move that does not end in time refuses what empties its table.
            let _ = self.tasks.within(TIMEOUTS.frozen, transaction.await_unfrozen()).await;
        }
        let held = blocking::prepare(&self.tasks, *transaction).await?;
        let has_writes = held.is_some();
        self.work = held.map_or(Work::None, Work::Held);
        Ok(has_writes)
    }

    /// Ends the part.
    async fn end(&mut self, event: Event) -> Result<(), Error> {
        for effect in self.step(event) {
            let work = std::mem::replace(&mut self.work, Work::None);
            match (effect, work) {
                (Effect::Commit(timestamp), Work::Held(held)) => {
                    blocking::commit(&self.tasks, held, timestamp).await?;
                }
                (Effect::Discard, Work::Held(held)) => held.roll_back(),
                (Effect::Commit(_) | Effect::Discard, _) => {}
                (other, _) => unreachable!("an end does not lead to {other:?}"),
            }
        }
        Ok(())
    }
}

pub(crate) fn ended() -> Error {
    Error::Remote {
        sql_state: "40001".into(),
        message: "the transaction has already ended on a participating server".into(),
        detail: None,
        hint: Some("Run the transaction again.".into()),
    }
}

fn late() -> Error {
    Error::Remote {
        sql_state: "40001".into(),
        message: "a write arrived after it was rolled back".into(),
        detail: None,
        hint: Some("Run the transaction again.".into()),
    }
}
