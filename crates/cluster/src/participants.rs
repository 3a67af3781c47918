//! Parts of transactions that other servers coordinate: what they have written here.
//!
//! A part begins with the first write, reads and writes at the transaction's timestamp, and ends with the outcome that its
//! coordinator sends. If that is silent, the root knows the outcome.

use crate::message::WireReader;
use parking_lot::Mutex;
use sdds::{GroupId, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use store::catalog::Table;
use store::{
    Error, Peers, Prepared, Reader, Reading, Savepoint, Store, Transaction, TransactionId, Write,
};

/// All parts here.
#[derive(Debug, Default)]
pub(crate) struct Participants {
    parts: Mutex<BTreeMap<TransactionId, Arc<tokio::sync::Mutex<Part>>>>,
}

/// What one transaction has written here.
#[derive(Debug)]
pub(crate) struct Part {
    work: Work,
    /// What its transaction was before it first wrote with this savepoint's number, or a later one.
    savepoints: Vec<(u64, Savepoint)>,
}

#[derive(Debug)]
enum Work {
    Open(Box<Transaction>),
    /// Since when; `None` where nothing was written after all.
    Prepared(Option<Prepared>, Instant),
    Over,
}

impl Participants {
    /// The part of a transaction; it begins where there is none.
    pub(crate) async fn part(
        &self,
        store: &Arc<Store>,
        reader: &WireReader,
        transaction: TransactionId,
    ) -> Arc<tokio::sync::Mutex<Part>> {
        if let Some(part) = self.known(transaction) {
            return part;
        }
        let open = store.begin_at(store.snapshot_at(reader.timestamp).await);
        let part = Part { work: Work::Open(Box::new(open)), savepoints: Vec::new() };
        let mut parts = self.parts.lock();
        Arc::clone(parts.entry(transaction).or_insert_with(|| Arc::new(part.into())))
    }

    /// The part of a transaction that has begun.
    pub(crate) fn known(
        &self,
        transaction: TransactionId,
    ) -> Option<Arc<tokio::sync::Mutex<Part>>> {
        self.parts.lock().get(&transaction).cloned()
    }

    /// Ends a part; with a timestamp, its writes are committed.
    pub(crate) async fn end(&self, transaction: TransactionId, outcome: Option<Timestamp>) {
        let Some(part) = self.parts.lock().remove(&transaction) else { return };
        let mut part = part.lock().await;
        if let (Work::Prepared(Some(prepared), _), Some(timestamp)) =
            (std::mem::replace(&mut part.work, Work::Over), outcome)
        {
            prepared.commit(timestamp);
        }
    }

    /// Transactions that have been prepared for longer than that, or whose coordinator is one of these.
    pub(crate) async fn silent(
        &self,
        since: Instant,
        lost: impl Fn(GroupId) -> bool,
    ) -> (Vec<TransactionId>, Vec<TransactionId>) {
        let parts: Vec<_> =
            self.parts.lock().iter().map(|(id, part)| (*id, Arc::clone(part))).collect();
        let (mut prepared, mut open) = (Vec::new(), Vec::new());
        for (id, part) in parts {
            // Whoever holds the lock is busy with it, and not silent.
            let Ok(part) = part.try_lock() else { continue };
            match part.work {
                Work::Prepared(_, at) if at < since => prepared.push(id),
                Work::Open(_) if lost(id.coordinator) => open.push(id),
                Work::Open(_) | Work::Prepared(..) | Work::Over => {}
            }
        }
        (prepared, open)
    }
}

impl Part {
    /// The transaction, with what its coordinator has changed of the catalog meanwhile.
    fn open(&mut self, reader: &WireReader) -> Result<&mut Transaction, Error> {
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

    /// Writes rows of a table: all, or none.
    pub(crate) fn write(
        &mut self,
        reader: &WireReader,
        table: &Table,
        write: Write,
    ) -> Result<u64, Error> {
        let transaction = self.open(reader)?;
        let before = transaction.savepoint();
        let written = transaction.write(table, write);
        match written {
            Ok(_) => mark(&mut self.savepoints, reader.savepoint, || before),
            Err(_) => transaction.rollback_to(&before),
        }
        written
    }

    /// Undoes what was done with a savepoint's number or a later one.
    pub(crate) fn rollback_to(&mut self, savepoint: u64) {
        let Work::Open(transaction) = &mut self.work else { return };
        let at = self.savepoints.partition_point(|(number, _)| *number < savepoint);
        if let Some((_, before)) = self.savepoints.get(at) {
            transaction.rollback_to(before);
        }
        self.savepoints.truncate(at);
    }

    /// What the transaction reads here.
    pub(crate) fn reading(
        &mut self,
        reader: &WireReader,
        peers: (Arc<dyn Peers>, Reader),
    ) -> Result<Reading, Error> {
        Ok(self.open(reader)?.reading(Some(peers)))
    }

    /// Gets ready to commit. To be asked twice changes nothing.
    pub(crate) fn prepare(&mut self, reader: &WireReader) -> Result<(), Error> {
        if matches!(self.work, Work::Prepared(..)) {
            return Ok(());
        }
        self.open(reader)?;
        if let Work::Open(transaction) = std::mem::replace(&mut self.work, Work::Over) {
            self.work = Work::Prepared(transaction.prepare()?, Instant::now());
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
