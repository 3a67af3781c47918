//! Distributed transactions that lock what they write: how they wait, and how a statement is executed
//! again.
//!
//! A statement that meets a row that another transaction has changed since the snapshot fails with
//! [`Error::Conflict`]. In READ COMMITTED it is rolled back, its locks stay, and it is executed again
//! on a newer snapshot ([`DistributedTransaction::again`]). It changes only rows that it had chosen the
//! first time ([`DistributedTransaction::is_chosen`]), if their new versions still fulfil its condition.

use super::{DistributedTransaction, by_owner};
use crate::locking::{DEADLOCK_PAUSE, LockWait, refuse_deadlock};
use crate::peers::{ATTEMPTS_MAX, LockPolicy, RowLocks};
use crate::transaction::Transaction;
use crate::{Error, Store, error};
use catalog::{Table, TableId};
use locks::{Chosen, Mode, Owner, Party};
use sdds::{GroupId, Key, KeyRange, Timestamp};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

/// What a statement has chosen, while another one runs within it.
#[derive(Debug)]
pub struct Around(Chosen);

impl DistributedTransaction {
    /// Locks what is written from now on, for a party, and waits for other transactions: at most
    /// `patience` for each lock.
    pub fn lock_rows(&mut self, party: Party, patience: Option<Duration>) {
        self.here.lock_rows(party);
        self.patience = patience;
    }

    /// Sets whether writes wait for locks of other transactions. Otherwise they fail with
    /// [`Error::Locked`]; [`Self::await_lock`] waits then, if the lock is of this server.
    pub fn wait_for_locks(&mut self, waits: bool) {
        self.gives_up = !waits;
    }

    /// Makes the transaction serializable ([`Transaction::validate_reads`]).
    pub fn validate_reads(&mut self) {
        self.here.validate_reads();
    }

    /// Whether it locks what it writes.
    pub fn is_locking(&self) -> bool {
        self.here.is_locking()
    }

    /// Returns the owner of its locks on this server; `None` if it does not lock.
    pub fn lock_owner(&self) -> Option<Owner> {
        self.here.lock_owner()
    }

    /// Executes a write on this server, again whenever a lock has been granted that it has waited for.
    pub(super) async fn waiting<T>(
        &mut self,
        mut write: impl FnMut(&mut Transaction) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if !self.here.is_locking() {
            return write(&mut self.here);
        }
        loop {
            let before = self.here.savepoint();
            let done = write(&mut self.here);
            let Err(Error::Locked { .. }) = &done else { return done };
            if self.gives_up {
                return done;
            }
            let Some(wait) = self.here.take_wait() else { return done };
            self.here.rollback_to(&before);
            self.granted(wait).await?;
        }
    }

    /// Waits for a lock. In a cluster, looks for deadlocks meanwhile.
    async fn granted(&self, wait: LockWait) -> Result<(), Error> {
        let granted = wait.granted(self.patience);
        let (Some(elsewhere), Some(party)) = (&self.elsewhere, self.here.party()) else {
            return granted.await;
        };
        let mut granted = pin!(granted);
        loop {
            if let Ok(done) = tokio::time::timeout(DEADLOCK_PAUSE, &mut granted).await {
                return done;
            }
            let mut edges = self.store().waits();
            edges.extend(elsewhere.peers.waits().await);
            refuse_deadlock(&edges, party)?;
        }
    }

    /// Locks rows of a table, in their order, unless other transactions have changed them since the
    /// snapshot. Returns which have been locked: all, unless it skips rows.
    ///
    /// # Errors
    /// [`Error::Conflict`], 40P01, 55P03; errors of other servers.
    pub async fn lock_selected(
        &mut self,
        id: TableId,
        keys: &[Key],
        mode: Mode,
        policy: LockPolicy,
    ) -> Result<Vec<bool>, Error> {
        let rows = |keys| RowLocks { keys, mode, policy };
        if self.elsewhere.is_none() {
            return self.waiting(|here| here.lock_selected(id, &rows(keys.to_vec()))).await;
        }
        let mut locked = vec![false; keys.len()];
        let mut rest: Vec<u32> = (0..keys.len() as u32).collect();
        for _ in 0..ATTEMPTS_MAX {
            let view = self.table_or_missing(id)?;
            let Some((peers, reader)) = self.begin_elsewhere(false) else { break };
            let owners = by_owner(&*peers, &view, keys, &rest).await?;
            rest = Vec::new();
            for (owner, of) in owners {
                let picked = rows(of.iter().map(|row| keys[*row as usize].clone()).collect());
                let done = if peers.is_here(owner) {
                    self.waiting(|here| here.lock_selected(id, &picked)).await
                } else {
                    self.begin_elsewhere(true);
                    within(self.patience, peers.lock(&reader, view.table(), owner, picked)).await
                };
                match done {
                    Err(Error::NotOwned { .. }) => rest.extend(of),
                    done => {
                        for (row, is_locked) in of.iter().zip(done?) {
                            locked[*row as usize] = is_locked;
                        }
                    }
                }
            }
            if rest.is_empty() {
                return Ok(locked);
            }
        }
        let key = rest.first().map_or(KeyRange::all(), |row| KeyRange::point(&keys[*row as usize]));
        Err(Error::NotOwned { range: key })
    }

    /// Whether another transaction has deleted a row of this server since the snapshot.
    pub fn is_deleted_meanwhile(&self, id: TableId, key: &Key) -> bool {
        self.here.is_deleted_meanwhile(id, key)
    }

    /// Whether the last change of this transaction was refused for a lock that [`Self::await_lock`] waits for.
    pub fn has_wait(&self) -> bool {
        self.here.has_wait()
    }

    /// Waits for the lock that the last change of this transaction was refused for. Returns whether
    /// there was one.
    ///
    /// # Errors
    /// As [`crate::LockWait::granted`].
    pub async fn await_lock(&mut self) -> Result<bool, Error> {
        let Some(wait) = self.here.take_wait() else { return Ok(false) };
        self.granted(wait).await?;
        Ok(true)
    }

    /// Reads what is committed now, on all servers. Returns false if it has to stay at its snapshot
    /// ([`Transaction::refresh`]).
    ///
    /// # Errors
    /// [`Error::Unreachable`] in a cluster; as [`Transaction::refresh`].
    pub async fn refresh(&mut self) -> Result<bool, Error> {
        let snapshot = match &self.elsewhere {
            None => self.store().snapshot(),
            Some(elsewhere) => elsewhere.peers.snapshot().await?,
        };
        self.here.refresh(snapshot)
    }

    /// Locks a table on all servers that own keys of it.
    ///
    /// # Errors
    /// As [`Self::lock_selected`].
    pub async fn lock_table(
        &mut self,
        table: &Table,
        mode: Mode,
        policy: LockPolicy,
    ) -> Result<(), Error> {
        let id = table.id;
        let rows = RowLocks { keys: Vec::new(), mode, policy };
        self.waiting(|here| here.lock_selected(id, &rows).map(drop)).await?;
        let table = Arc::clone(self.table_or_missing(id)?.table());
        self.lock_elsewhere(&table, rows).await
    }

    /// Locks tables whose definitions have changed on the other servers that own keys of them.
    pub(super) async fn lock_changed(&mut self) -> Result<(), Error> {
        if !self.here.is_locking() || self.elsewhere.is_none() {
            return Ok(());
        }
        for table in self.here.changed_tables() {
            let (keys, mode, policy) = (Vec::new(), Mode::AccessExclusive, LockPolicy::Wait);
            self.lock_elsewhere(&table, RowLocks { keys, mode, policy }).await?;
        }
        Ok(())
    }

    async fn lock_elsewhere(&mut self, table: &Arc<Table>, rows: RowLocks) -> Result<(), Error> {
        let Some((peers, reader)) = self.begin_elsewhere(false) else { return Ok(()) };
        let mut owners: Vec<GroupId> = Vec::new();
        for (_, owner) in peers.cover(table.id, &KeyRange::all()).await? {
            if !peers.is_here(owner) && !owners.contains(&owner) {
                owners.push(owner);
            }
        }
        for owner in owners {
            self.begin_elsewhere(true);
            let asked = peers.lock(&reader, table, owner, rows.clone());
            within(self.patience, asked).await?;
        }
        Ok(())
    }

    /// Begins a statement: it may choose any rows.
    pub fn begin_statement(&mut self) {
        self.chosen = Chosen::default();
    }

    /// Begins a statement within another one, which may choose any rows. Returns what [`Self::end_nested`] needs.
    pub fn begin_nested(&mut self) -> Around {
        Around(std::mem::take(&mut self.chosen))
    }

    /// Goes on with the statement around.
    pub fn end_nested(&mut self, around: Around) {
        self.chosen = around.0;
    }

    /// Begins the statement again, on a snapshot with every commit that it may have met. It changes
    /// none but the rows that it has chosen. Returns false if the transaction has to stay at its
    /// snapshot.
    ///
    /// # Errors
    /// As [`Self::refresh`].
    pub async fn again(&mut self) -> Result<bool, Error> {
        if !self.chosen.again() {
            return Ok(false);
        }
        let before = self.snapshot().timestamp();
        self.store().durable_now().wait().await?;
        let is_newer = self.refresh().await?;
        // Whoever has changed keys has said so before the change was visible.
        let store = Arc::clone(self.store());
        self.chosen.follow(&store.holds().lock().locks.moved, before);
        Ok(is_newer)
    }

    /// Says where the rows are whose keys the transaction changes: statements that wait for it follow them. Returns the number
    /// of the changes, for [`settle_moves`].
    pub(super) fn tell_moves(&mut self) -> Option<u64> {
        if self.moved.is_empty() {
            return None;
        }
        let moved = std::mem::take(&mut self.moved);
        Some(self.store().holds().lock().locks.moved.append(moved))
    }

    /// How long it waits for a lock.
    pub fn patience(&self) -> Option<Duration> {
        self.patience
    }

    /// Remembers that owners choose which rows to change, in a statement that is pushed down to them.
    pub fn choose_elsewhere(&mut self) {
        self.chosen.choose_elsewhere();
    }

    /// Whether a statement has to choose its rows here: it is executed again, or only to choose them.
    pub fn chooses_here(&self) -> bool {
        self.chosen.is_here()
    }

    /// Begins a statement again on the same snapshot, only to choose its rows, if owners have chosen
    /// them. Returns whether it does.
    pub fn choose_only(&mut self) -> bool {
        self.chosen.choose_only()
    }

    /// Notes that a statement has chosen all rows of a table. Refuses to go on if it only chooses them.
    ///
    /// # Errors
    /// [`Error::Conflict`].
    pub fn has_chosen(&mut self, id: TableId) -> Result<(), Error> {
        match self.chosen.is_to_go_on(id.0) {
            true => Ok(()),
            false => Err(Error::Conflict { table: String::new(), key: String::new() }),
        }
    }

    /// Remembers which rows of a table a statement has chosen to change.
    pub fn choose<'a>(&mut self, id: TableId, keys: impl IntoIterator<Item = &'a Key>) {
        if self.is_locking() {
            self.chosen.choose(id.0, keys);
        }
    }

    /// Whether a statement may change a row: not if it had not chosen the row when it was executed
    /// first.
    pub fn is_chosen(&self, id: TableId, key: &Key) -> bool {
        self.chosen.contains(id.0, key)
    }

    /// Releases all locks, and rolls back on other servers: the transaction has failed.
    pub fn abandon(&mut self) {
        self.here.release_all();
        if let Some(elsewhere) = &mut self.elsewhere
            && std::mem::take(&mut elsewhere.has_writes)
        {
            elsewhere.peers.roll_back(elsewhere.id);
        }
    }

    /// Releases the locks since a savepoint, after it has been rolled back to.
    pub fn release_to(&mut self, savepoint: &super::DistributedSavepoint) {
        self.here.release_to(&savepoint.here);
    }
}

/// Says when the changes of keys of a transaction were committed: statements that see the commit do not follow them. If it is
/// not known whether they were, they are still followed.
pub(super) fn settle_moves(store: &Store, number: u64, committed: &Result<Timestamp, Error>) {
    let at = match committed {
        Ok(timestamp) => *timestamp,
        // Nothing has changed.
        Err(error) if error.is_retryable() => Timestamp::ZERO,
        Err(_) => return,
    };
    store.holds().lock().locks.moved.committed(number, at);
}

/// Waits for another server that waits for a lock.
///
/// # Errors
/// 55P03 after `patience`.
pub async fn within<T>(
    patience: Option<Duration>,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    match patience {
        None => work.await,
        Some(patience) => match tokio::time::timeout(patience, work).await {
            Ok(done) => done,
            Err(_) => Err(error::lock_timeout()),
        },
    }
}
