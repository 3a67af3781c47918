//! Parts of transactions that other servers coordinate: what they have written here.
//!
//! A part begins with the first write, reads and writes at the transaction's timestamp, and ends with the outcome that its
//! coordinator sends; then its name is remembered, so that nothing which comes late begins it again. Of a part that is prepared
//! the root knows the outcome, of one that is not its coordinator whether it goes on.

use crate::blocking;
use crate::messages::WireReader;
use parking_lot::Mutex;
use sdds::Timestamp;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Instant;
use store::{Error, Peers, Prepared, Reading, Savepoint, Store, Transaction, TransactionId};

/// Names of ended transactions that are remembered: what comes late for one of them must not begin it again.
const REMEMBERED: usize = 1 << 16;

/// All parts here.
#[derive(Debug, Default)]
pub(crate) struct Participants {
    all: Mutex<All>,
}

#[derive(Debug, Default)]
struct All {
    parts: BTreeMap<TransactionId, Arc<tokio::sync::Mutex<Part>>>,
    ended: BTreeSet<TransactionId>,
    /// The same, the oldest first.
    order: VecDeque<TransactionId>,
}

/// What one transaction has written here.
#[derive(Debug)]
pub(crate) struct Part {
    work: Work,
    /// What its transaction was before it first wrote with this savepoint's number, or a later one.
    savepoints: Vec<(u64, Savepoint)>,
    /// Writes of an earlier step were undone before they came.
    first_step: u64,
    /// When something was last heard of it.
    heard: Instant,
}

#[derive(Debug)]
enum Work {
    /// Nothing has been written yet.
    New,
    Open(Box<Transaction>),
    /// Since when; `None` where nothing was written after all.
    Prepared(Option<Prepared>, Instant),
    Over,
}

/// Parts of which nothing was heard for a while.
#[derive(Debug, Default)]
pub(crate) struct Silent {
    /// The root knows what became of these.
    pub(crate) prepared: Vec<TransactionId>,
    /// The coordinator knows whether these go on.
    pub(crate) open: Vec<TransactionId>,
}

impl Part {
    fn new(work: Work) -> Self {
        Self { work, savepoints: Vec::new(), first_step: 0, heard: Instant::now() }
    }
}

impl Participants {
    /// The part of a transaction; it begins where there is none.
    ///
    /// # Errors
    /// Where it has ended here.
    pub(crate) fn part(
        &self,
        transaction: TransactionId,
    ) -> Result<Arc<tokio::sync::Mutex<Part>>, Error> {
        let mut all = self.all.lock();
        if all.ended.contains(&transaction) {
            return Err(ended());
        }
        let part = || Arc::new(Part::new(Work::New).into());
        Ok(Arc::clone(all.parts.entry(transaction).or_insert_with(part)))
    }

    /// The part of a transaction that has begun.
    pub(crate) fn known(
        &self,
        transaction: TransactionId,
    ) -> Option<Arc<tokio::sync::Mutex<Part>>> {
        self.all.lock().parts.get(&transaction).cloned()
    }

    /// Ends a part, for good; with a timestamp, its writes are committed.
    pub(crate) async fn end(&self, transaction: TransactionId, outcome: Option<Timestamp>) {
        let part = self.all.lock().end(transaction);
        let Some(part) = part else { return };
        let mut part = part.lock().await;
        if let (Work::Prepared(Some(prepared), _), Some(timestamp)) =
            (std::mem::replace(&mut part.work, Work::Over), outcome)
        {
            blocking::commit(prepared, timestamp).await;
        }
    }

    /// Keeps what this server itself has prepared of a transaction whose outcome it does not know: the root does.
    pub(crate) fn keep(&self, transaction: TransactionId, prepared: Prepared) {
        let part = Part::new(Work::Prepared(Some(prepared), Instant::now()));
        self.all.lock().parts.insert(transaction, Arc::new(part.into()));
    }

    /// What was last heard of before that; it counts as heard of now.
    pub(crate) fn silent(&self, since: Instant) -> Silent {
        let all = self.all.lock();
        let parts: Vec<_> = all.parts.iter().map(|(id, part)| (*id, Arc::clone(part))).collect();
        drop(all);
        let mut silent = Silent::default();
        for (id, part) in parts {
            // Whoever holds the lock is busy with it, and not silent.
            let Ok(mut part) = part.try_lock() else { continue };
            match part.work {
                Work::Prepared(_, at) if at < since => silent.prepared.push(id),
                Work::Prepared(..) => {}
                Work::New | Work::Open(_) | Work::Over if part.heard < since => {
                    part.heard = Instant::now();
                    silent.open.push(id);
                }
                Work::New | Work::Open(_) | Work::Over => {}
            }
        }
        silent
    }

    /// How many transactions have a part here.
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
    /// The transaction, with what its coordinator has changed of the catalog meanwhile.
    async fn open(
        &mut self,
        store: &Arc<Store>,
        reader: &WireReader,
    ) -> Result<&mut Transaction, Error> {
        self.heard = Instant::now();
        if matches!(self.work, Work::New) {
            let open = store.begin_at(store.snapshot_at(reader.timestamp).await);
            self.work = Work::Open(Box::new(open));
        }
        let Work::Open(transaction) = &mut self.work else { return Err(ended()) };
        let known = transaction.change_count();
        if known < reader.changes.len() {
            mark(&mut self.savepoints, reader.savepoint, || transaction.savepoint());
        }
        for change in reader.changes.iter().skip(known) {
            transaction.change_catalog(change.clone())?;
        }
        Ok(transaction)
    }

    /// Does a piece of work that writes, a coordinator's of this step: all of it, or nothing.
    pub(crate) async fn write<T>(
        &mut self,
        store: &Arc<Store>,
        reader: &WireReader,
        step: u64,
        work: impl FnOnce(&mut Transaction) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if step < self.first_step {
            return Err(late());
        }
        let transaction = self.open(store, reader).await?;
        let before = transaction.savepoint();
        let written = work(transaction);
        match written {
            Ok(_) => mark(&mut self.savepoints, reader.savepoint, || before),
            Err(_) => transaction.rollback_to(&before),
        }
        written
    }

    /// Undoes what was done with a savepoint's number or a later one. What is still on its way there from before this
    /// step is refused when it comes.
    pub(crate) fn rollback_to(&mut self, savepoint: u64, step: u64) {
        self.heard = Instant::now();
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
        store: &Arc<Store>,
        reader: &WireReader,
        peers: Arc<dyn Peers>,
    ) -> Result<Reading, Error> {
        Ok(self.open(store, reader).await?.reading(Some((peers, reader.reader()))))
    }

    /// Gets ready to commit. To be asked twice changes nothing. A transaction that has written here and of which nothing is
    /// here any more cannot.
    pub(crate) async fn prepare(
        &mut self,
        store: &Arc<Store>,
        reader: &WireReader,
        has_written: bool,
    ) -> Result<(), Error> {
        match self.work {
            Work::Prepared(..) => return Ok(()),
            Work::New if has_written => return Err(ended()),
            Work::New | Work::Open(_) | Work::Over => {}
        }
        self.open(store, reader).await?;
        if let Work::Open(transaction) = std::mem::replace(&mut self.work, Work::Over) {
            self.work = Work::Prepared(blocking::prepare(*transaction).await?, Instant::now());
        }
        Ok(())
    }
}

/// Remembers what was before the first change with a savepoint's number.
fn mark(savepoints: &mut Vec<(u64, Savepoint)>, number: u64, before: impl FnOnce() -> Savepoint) {
    if savepoints.last().is_none_or(|(newest, _)| *newest < number) {
        savepoints.push((number, before()));
    }
}

fn ended() -> Error {
    Error::Remote {
        sql_state: "40001".into(),
        message: "the transaction has ended on another server".into(),
        detail: None,
        hint: Some("Run the transaction again.".into()),
    }
}

fn late() -> Error {
    Error::Remote {
        sql_state: "40001".into(),
        message: "a write came after it had been undone".into(),
        detail: None,
        hint: Some("Run the transaction again.".into()),
    }
}
