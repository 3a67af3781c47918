//! Parts of other coordinators' transactions: what they have written here.
//!
//! A part begins with the first write, reads and writes at the transaction's timestamp, and ends
//! with the outcome that its coordinator sends. The ids of ended transactions are remembered, so
//! that a late message does not begin them again. The root knows the outcome of a prepared part;
//! the coordinator knows whether an open one is running.

use crate::blocking;
use crate::messages::WireReader;
use crate::runtime::Tasks;
use parking_lot::Mutex;
use protocols::planted::{Bug, is_planted};
use sdds::Timestamp;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Instant;
use store::{
    Error, LockWait, Peers, Prepared, Reading, Savepoint, Store, Transaction, TransactionId,
};

/// Number of ended transactions that are remembered.
const REMEMBERED: usize = 1 << 16;

/// All parts on this server.
#[derive(Debug, Default)]
pub(crate) struct Participants {
    all: Mutex<All>,
}

#[derive(Debug, Default)]
struct All {
    parts: BTreeMap<TransactionId, Arc<tokio::sync::Mutex<Part>>>,
    ended: BTreeSet<TransactionId>,
    /// The same ids, oldest first.
    order: VecDeque<TransactionId>,
}

/// The part of one transaction.
#[derive(Debug)]
pub(crate) struct Part {
    work: Work,
    /// The state before the first write with this savepoint number, or a later one.
    savepoints: Vec<(u64, Savepoint)>,
    /// Writes of earlier steps were rolled back before they arrived.
    first_step: u64,
    /// Whether a write was executed.
    has_written: bool,
    /// When the last message for it arrived.
    heard: Instant,
}

#[derive(Debug)]
enum Work {
    /// Nothing was written yet.
    New,
    Open(Box<Transaction>),
    /// The prepared writes, `None` if there are none, and when they were prepared.
    Prepared(Option<Prepared>, Instant),
    Over,
}

/// Parts without messages for a while.
#[derive(Debug, Default)]
pub(crate) struct Silent {
    /// Prepared: the root knows the outcomes.
    pub(crate) prepared: Vec<TransactionId>,
    /// Open: the coordinators know whether they are running.
    pub(crate) open: Vec<TransactionId>,
}

impl Part {
    fn new(work: Work, now: Instant) -> Self {
        Self { work, savepoints: Vec::new(), first_step: 0, has_written: false, heard: now }
    }
}

impl Participants {
    /// The part of a transaction, which is created if needed.
    ///
    /// # Errors
    /// 40001 if the transaction has ended here.
    pub(crate) fn part(
        &self,
        transaction: TransactionId,
        now: Instant,
    ) -> Result<Arc<tokio::sync::Mutex<Part>>, Error> {
        let mut all = self.all.lock();
        if all.ended.contains(&transaction) {
            return Err(ended());
        }
        let part = || Arc::new(Part::new(Work::New, now).into());
        Ok(Arc::clone(all.parts.entry(transaction).or_insert_with(part)))
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
        tasks: &Tasks,
        transaction: TransactionId,
        outcome: Option<Timestamp>,
    ) -> Result<(), Error> {
        let part = self.all.lock().end(transaction);
        let Some(part) = part else { return Ok(()) };
        let mut part = part.lock().await;
        let Work::Prepared(Some(prepared), _) = std::mem::replace(&mut part.work, Work::Over)
        else {
            return Ok(());
        };
        match outcome {
            Some(timestamp) => blocking::commit(tasks, prepared, timestamp).await,
            None => {
                prepared.roll_back();
                Ok(())
            }
        }
    }

    /// Keeps the writes that this coordinator has prepared for a transaction whose outcome it does
    /// not know.
    pub(crate) fn keep(&self, transaction: TransactionId, prepared: Prepared, now: Instant) {
        let part = Part::new(Work::Prepared(Some(prepared), now), now);
        self.all.lock().parts.insert(transaction, Arc::new(part.into()));
    }

    /// Parts without messages since `since`. Open ones are returned once per such period.
    pub(crate) fn silent(&self, since: Instant, now: Instant) -> Silent {
        let all = self.all.lock();
        let parts: Vec<_> = all.parts.iter().map(|(id, part)| (*id, Arc::clone(part))).collect();
        drop(all);
        let mut silent = Silent::default();
        for (id, part) in parts {
            // A locked part is in use, and not silent.
            let Ok(mut part) = part.try_lock() else { continue };
            match part.work {
                Work::Prepared(_, at) if at < since => silent.prepared.push(id),
                Work::Prepared(..) => {}
                Work::New | Work::Open(_) | Work::Over if part.heard < since => {
                    part.heard = now;
                    silent.open.push(id);
                }
                Work::New | Work::Open(_) | Work::Over => {}
            }
        }
        silent
    }

    /// Number of parts.
    pub(crate) fn len(&self) -> usize {
        self.all.lock().parts.len()
    }
}

impl All {
    fn end(&mut self, transaction: TransactionId) -> Option<Arc<tokio::sync::Mutex<Part>>> {
        if self.ended.insert(transaction) {
            self.order.push_back(transaction);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.ended.remove(&oldest);
        }
        self.parts.remove(&transaction)
    }
}

impl Part {
    /// The open transaction, with the coordinator's latest catalog changes applied.
    async fn open(
        &mut self,
        tasks: &Tasks,
        store: &Arc<Store>,
        reader: &WireReader,
    ) -> Result<&mut Transaction, Error> {
        self.heard = tasks.now();
        if reader.has_written && !self.has_written && !is_planted(Bug::LostWrites) {
            return Err(ended());
        }
        if matches!(self.work, Work::New) {
            let open = store.begin_at(store.snapshot_at(reader.timestamp).await);
            self.work = Work::Open(Box::new(open));
        }
        let Work::Open(transaction) = &mut self.work else { return Err(ended()) };
        if let Some(party) = reader.locks {
            transaction.lock_rows(party);
        }
        if transaction.snapshot().timestamp() < reader.timestamp {
            let snapshot = store.snapshot_at(reader.timestamp).await;
            if !transaction.refresh(snapshot)? {
                return Err(ended());
            }
        }
        let known = transaction.change_count();
        if known < reader.changes.len() {
            mark(&mut self.savepoints, reader.savepoint, || transaction.savepoint());
        }
        for change in reader.changes.iter().skip(known) {
            transaction.change_catalog(change.clone())?;
        }
        Ok(transaction)
    }

    /// Executes a write of a coordinator's step: all of it, or nothing.
    pub(crate) async fn write<T>(
        &mut self,
        tasks: &Tasks,
        store: &Arc<Store>,
        reader: &WireReader,
        step: u64,
        work: impl FnOnce(&mut Transaction) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if step < self.first_step {
            return Err(late());
        }
        let transaction = self.open(tasks, store, reader).await?;
        let before = transaction.savepoint();
        let written = work(transaction);
        match written {
            Ok(_) => {
                self.has_written = true;
                mark(&mut self.savepoints, reader.savepoint, || before);
            }
            Err(_) => transaction.rollback_to(&before),
        }
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
    pub(crate) fn rollback_to(&mut self, savepoint: u64, step: u64, now: Instant) {
        self.heard = now;
        self.first_step = self.first_step.max(step);
        let Work::Open(transaction) = &mut self.work else { return };
        let at = self.savepoints.partition_point(|(number, _)| *number < savepoint);
        if let Some((_, before)) = self.savepoints.get(at) {
            transaction.rollback_to(before);
        }
        self.savepoints.truncate(at);
    }

    /// What the transaction reads here.
    pub(crate) async fn reading(
        &mut self,
        tasks: &Tasks,
        store: &Arc<Store>,
        reader: &WireReader,
        peers: Arc<dyn Peers>,
    ) -> Result<Reading, Error> {
        Ok(self.open(tasks, store, reader).await?.reading(Some((peers, reader.reader()))))
    }

    /// Prepares to commit. Idempotent. Fails if the transaction has written here and its part is
    /// gone.
    pub(crate) async fn prepare(
        &mut self,
        tasks: &Tasks,
        store: &Arc<Store>,
        reader: &WireReader,
    ) -> Result<(), Error> {
        if matches!(self.work, Work::Prepared(..)) {
            return Ok(());
        }
        self.open(tasks, store, reader).await?;
        if let Work::Open(transaction) = std::mem::replace(&mut self.work, Work::Over) {
            let mut prepared = blocking::prepare(tasks, *transaction).await?;
            let keeps = !is_planted(Bug::PreparedInMemory);
            if let (Some(prepared), Some(transaction), true) =
                (&mut prepared, reader.transaction, keeps)
            {
                prepared.keep(transaction).await?;
            }
            self.work = Work::Prepared(prepared, tasks.now());
        }
        Ok(())
    }
}

/// Saves the state before the first change with a savepoint number.
fn mark(savepoints: &mut Vec<(u64, Savepoint)>, number: u64, before: impl FnOnce() -> Savepoint) {
    if savepoints.last().is_none_or(|(newest, _)| *newest < number) {
        savepoints.push((number, before()));
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
