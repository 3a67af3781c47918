//! The session's transaction: none, open, or failed and waiting for ROLLBACK.

use crate::announcements::Announcements;
use crate::held::{Held, HeldMark};
use arc_swap::{ArcSwap, ArcSwapOption};
use catalog_views::session_context::TransactionStatus;
use catalog_views::settings::Settings;
use catalog_views::settings::modes::Progress;
use catalog_views::settings::scopes::{self, Mark, Scope};
use chrono::{DateTime, Utc};
use executor::Control;
use procedural::Held as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::catalog::Catalog;
use store::locks::{Owner, Party};
use store::{DistributedSavepoint, DistributedTransaction, Store};
use values::error::{Error, Result, SqlState};

/// The session's transaction and its savepoints.
#[derive(Debug)]
pub struct Conversation {
    open: Option<Open>,
    shown: Shown,
    /// The session's settings, which a rollback restores.
    settings: Arc<ArcSwap<Settings>>,
    /// What the transaction notifies.
    announcements: Arc<Announcements>,
    /// What the session keeps until the transaction ends.
    held: Arc<Held>,
}

/// What is known of a conversation while a statement uses it: of the open transaction, if there is one. Clones are of the
/// same conversation.
#[derive(Debug, Clone, Default)]
pub struct Shown(Arc<ArcSwapOption<Known>>);

/// What is known of an open transaction.
#[derive(Debug, Clone)]
struct Known {
    failed: Failure,
    begun: Begun,
    /// The settings when it began.
    before: Arc<Settings>,
    /// When it began.
    started: DateTime<Utc>,
}

/// What a transaction was begun for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begun {
    /// BEGIN, which COMMIT or ROLLBACK end.
    Block,
    /// Statements that a client sent together.
    Together,
    /// One statement, DO or CALL or the like, with which it ends, however that ends.
    Statement,
}

impl Shown {
    /// The start of the open transaction: what `now()` says in it.
    pub fn started(&self) -> Option<DateTime<Utc>> {
        self.0.load().as_ref().map(|known| known.started)
    }

    /// Whether a transaction is open, and whether it has failed.
    pub fn status(&self) -> TransactionStatus {
        match &*self.0.load() {
            None => TransactionStatus::Idle,
            Some(known) if known.failed.is_so() => TransactionStatus::Failed,
            Some(_) => TransactionStatus::Open,
        }
    }

    /// Refuses a statement in a failed transaction.
    ///
    /// # Errors
    /// 25P02.
    pub fn refuse_if_failed(&self) -> Result<()> {
        match self.status() {
            TransactionStatus::Failed => Err(Error::new(
                SqlState::InFailedSqlTransaction,
                "current transaction is aborted, commands ignored until end of transaction block",
            )
            .with_hint("ROLLBACK, or ROLLBACK TO a savepoint.")),
            TransactionStatus::Idle | TransactionStatus::Open => Ok(()),
        }
    }

    /// Marks the open transaction, if any, as failed.
    pub fn fail(&self) {
        if let Some(known) = &*self.0.load() {
            known.failed.set();
        }
    }

    /// Whether the open transaction was not begun by BEGIN.
    pub fn is_implicit(&self) -> bool {
        self.0.load().as_ref().is_some_and(|known| known.begun != Begun::Block)
    }

    /// Whether the open transaction ends with the statement that runs.
    pub fn is_of_statement(&self) -> bool {
        self.0.load().as_ref().is_some_and(|known| known.begun == Begun::Statement)
    }

    /// The settings that the rollback of a failed transaction restores.
    pub fn settings_before_failed(&self) -> Option<Arc<Settings>> {
        self.0
            .load()
            .as_ref()
            .filter(|known| known.failed.is_so())
            .map(|known| Arc::clone(&known.before))
    }
}

/// Whether a transaction has failed. Clones share the flag.
#[derive(Debug, Clone, Default)]
pub struct Failure(Arc<AtomicBool>);

impl Failure {
    /// Marks the transaction as failed.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_so(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The open transaction.
#[derive(Debug)]
pub struct Open {
    /// The changes of the store.
    pub transaction: DistributedTransaction,
    known: Known,
    savepoints: Vec<(String, DistributedSavepoint, Mark, (notifications::Mark, HeldMark))>,
    /// Whether a statement has taken its snapshot.
    has_snapshot: bool,
    /// Its changes of settings.
    scope: Option<Scope>,
}

impl Conversation {
    /// A conversation of a session with these settings, without a transaction.
    pub fn new(
        settings: Arc<ArcSwap<Settings>>,
        announcements: Arc<Announcements>,
        held: Arc<Held>,
    ) -> Self {
        Self { open: None, shown: Shown::default(), settings, announcements, held }
    }

    /// Changes settings. If `local`, the change ends with the open transaction.
    ///
    /// # Errors
    /// Those of `change`.
    pub fn change_settings(
        &mut self,
        local: bool,
        change: impl Fn(&mut Settings) -> Result<()>,
    ) -> Result<()> {
        match &mut self.open {
            Some(open) => scopes::change_in(&mut open.scope, &self.settings, local, change),
            None => scopes::change(&self.settings, change),
        }
    }

    /// Whether the open transaction has changed settings for the time after it.
    pub fn changes_session(&self) -> bool {
        let scope = self.open.as_ref().and_then(|open| open.scope.as_ref());
        scope.is_some_and(Scope::is_lasting)
    }

    /// What is known of the conversation while a statement uses it.
    pub fn shown(&self) -> Shown {
        self.shown.clone()
    }

    /// Whether a transaction is open, and whether it has failed.
    pub fn status(&self) -> TransactionStatus {
        self.shown.status()
    }

    fn set_open(&mut self, transaction: DistributedTransaction, begun: Begun) {
        let before = self.settings.load_full();
        let started = Utc::now();
        let known = Known { failed: Failure::default(), begun, before, started };
        self.shown.0.store(Some(Arc::new(known.clone())));
        let (savepoints, scope) = (Vec::new(), None);
        self.open = Some(Open { transaction, known, savepoints, has_snapshot: false, scope });
    }

    fn take_open(&mut self) -> Option<Open> {
        self.shown.0.store(None);
        self.held.end();
        self.open.take()
    }

    /// The catalog of the open transaction, or the newest one.
    pub fn catalog(&self, store: &Store) -> Arc<Catalog> {
        self.open
            .as_ref()
            .map_or_else(|| store.catalog(), |open| open.transaction.catalog().clone())
    }

    /// The open transaction, if there is one.
    pub fn open(&mut self) -> Option<&mut Open> {
        self.open.as_mut()
    }

    /// The open transaction, if there is one, for a statement that begins. In READ COMMITTED the statement has a snapshot of
    /// its own, in REPEATABLE READ the first one takes it for all.
    ///
    /// # Errors
    /// Another server that has rows of the transaction cannot be asked.
    pub async fn statement(&mut self, waiting: Waiting) -> Result<Option<&mut Open>> {
        let Some(open) = &mut self.open else { return Ok(None) };
        open.transaction.lock_rows(waiting.party, waiting.patience);
        if waiting.repeats || !open.has_snapshot {
            open.transaction.refresh().await?;
            open.has_snapshot = true;
        }
        if waiting.validates {
            open.transaction.validate_reads();
        }
        open.transaction.begin_statement();
        Ok(Some(open))
    }

    /// Whether checks wait for the end of the open transaction.
    pub fn has_unchecked(&mut self) -> bool {
        self.open.as_mut().is_some_and(|open| !open.transaction.row_changes().is_empty())
    }

    /// The owner of the locks of the open transaction.
    pub fn lock_owner(&mut self, waiting: Waiting) -> Option<Owner> {
        let open = self.open.as_mut()?;
        open.transaction.lock_rows(waiting.party, waiting.patience);
        open.transaction.lock_owner()
    }

    /// Whether the open transaction has a snapshot that its statements share.
    pub fn has_snapshot(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.has_snapshot)
    }

    /// What the open transaction has done.
    pub fn progress(&self) -> Progress {
        let has_savepoint = self.open.as_ref().is_some_and(|open| !open.savepoints.is_empty());
        Progress { has_snapshot: self.has_snapshot(), has_savepoint }
    }

    /// Begins a transaction. Returns false if one is open already.
    ///
    /// # Errors
    /// 25P02.
    pub fn begin(&mut self, transaction: DistributedTransaction) -> Result<bool> {
        self.refuse_if_failed()?;
        match &mut self.open {
            Some(open) if open.known.begun != Begun::Block => {
                open.known.begun = Begun::Block;
                self.shown.0.store(Some(Arc::new(open.known.clone())));
            }
            Some(_) => return Ok(false),
            None => self.set_open(transaction, Begun::Block),
        }
        Ok(true)
    }

    /// Begins a transaction for statements that a client sends together.
    ///
    /// # Errors
    /// Another server cannot be asked for a snapshot.
    pub async fn begin_implicit(&mut self, store: &Arc<Store>) -> Result<()> {
        if self.open.is_none() {
            self.set_open(store.begin_distributed().await?, Begun::Together);
        }
        Ok(())
    }

    /// Begins a transaction that ends with the statement that runs: its failure rolls it back. None is open.
    ///
    /// # Errors
    /// Another server cannot be asked for a snapshot.
    pub async fn begin_for_statement(&mut self, store: &Arc<Store>) -> Result<()> {
        self.set_open(store.begin_distributed().await?, Begun::Statement);
        Ok(())
    }

    /// Whether the open transaction was not begun by BEGIN.
    pub fn is_implicit(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.known.begun != Begun::Block)
    }

    /// Ends the transaction. Returns true if it was committed, false if it had failed or none was open. `control`, the
    /// statement's, does not interrupt a commit.
    ///
    /// # Errors
    /// A conflict with another transaction; 57014 if the statement has to end before the commit begins.
    pub async fn commit(&mut self, control: &Control) -> Result<bool> {
        let Some(open) = self.take_open() else { return Ok(false) };
        let committed = if open.known.failed.is_so() {
            Ok(false)
        } else {
            match control.begin_commit() {
                Ok(guard) => open.transaction.commit().await.map_err(Error::from).map(|_| {
                    guard.succeeded();
                    true
                }),
                Err(ended) => Err(ended),
            }
        };
        scopes::end(open.scope, &self.settings, matches!(committed, Ok(true)));
        match committed {
            Ok(true) => self.announcements.committed(),
            _ => self.announcements.rolled_back(),
        }
        committed
    }

    /// Commits the transaction of a statement that goes on in another one.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub async fn commit_and_go_on(&mut self, control: &Control) -> Result<()> {
        let Some(open) = self.take_open() else { return Ok(()) };
        let committed = match control.begin_commit() {
            Ok(guard) => {
                let committed = open.transaction.commit().await.map_err(Error::from);
                drop(guard);
                committed.map(|_| ())
            }
            Err(ended) => Err(ended),
        };
        scopes::end(open.scope, &self.settings, committed.is_ok());
        match committed {
            Ok(()) => self.announcements.committed(),
            Err(_) => self.announcements.rolled_back(),
        }
        committed
    }

    /// Rolls the transaction back.
    pub fn rollback(&mut self) {
        if let Some(open) = self.take_open() {
            scopes::end(open.scope, &self.settings, false);
            self.announcements.rolled_back();
        }
    }

    /// Marks the open transaction, if any, as failed, and releases its locks: those since its last savepoint, or all. One that
    /// was begun for the statement ends.
    pub fn fail(&mut self) {
        if self.shown.is_of_statement() {
            return self.rollback();
        }
        self.shown.fail();
        let Some(open) = &mut self.open else { return };
        match open.savepoints.last() {
            Some((_, savepoint, ..)) => open.transaction.release_to(savepoint),
            None => open.transaction.abandon(),
        }
    }

    /// The failure flag of the open transaction, for rows that are read after their statement has returned. Outside a
    /// transaction it has no effect.
    pub fn failure(&self) -> Failure {
        self.open.as_ref().map_or_else(Failure::default, |open| open.known.failed.clone())
    }

    /// Refuses a statement in a failed transaction.
    ///
    /// # Errors
    /// 25P02.
    pub fn refuse_if_failed(&self) -> Result<()> {
        self.shown.refuse_if_failed()
    }

    /// Sets a savepoint.
    ///
    /// # Errors
    /// 25P01 outside a transaction block.
    pub fn savepoint(&mut self, name: String) -> Result<()> {
        let open = block(&mut self.open).ok_or_else(|| no_transaction("SAVEPOINT"))?;
        let mark = scopes::mark(&open.scope, &self.settings);
        let others = (self.announcements.mark(), self.held.mark());
        open.savepoints.push((name, open.transaction.savepoint(), mark, others));
        Ok(())
    }

    /// Releases a savepoint and those after it.
    ///
    /// # Errors
    /// 25P01 outside a transaction block; 3B001 if there is no such savepoint.
    pub fn release(&mut self, name: &str) -> Result<()> {
        let open = block(&mut self.open).ok_or_else(|| no_transaction("RELEASE SAVEPOINT"))?;
        let index = open.find(name)?;
        scopes::release(&self.settings, &open.savepoints[index].2);
        open.savepoints.truncate(index);
        Ok(())
    }

    /// Rolls back to a savepoint, which remains.
    ///
    /// # Errors
    /// 25P01 outside a transaction block; 3B001 if there is no such savepoint.
    pub async fn rollback_to(&mut self, name: &str) -> Result<()> {
        let open = block(&mut self.open).ok_or_else(|| no_transaction("ROLLBACK TO SAVEPOINT"))?;
        let index = open.find(name)?;
        open.savepoints.truncate(index + 1);
        let (_, savepoint, mark, (announced, held)) = &open.savepoints[index];
        open.transaction.rollback_to(savepoint).await?;
        open.transaction.release_to(savepoint);
        scopes::go_back(&mut open.scope, &self.settings, mark);
        self.announcements.go_back(*announced);
        self.held.go_back(*held);
        // A stream from before the rollback may still fail; that must not fail the transaction.
        open.known.failed = Failure::default();
        self.shown.0.store(Some(Arc::new(open.known.clone())));
        Ok(())
    }
}

/// The transaction that BEGIN has opened.
fn block(open: &mut Option<Open>) -> Option<&mut Open> {
    open.as_mut().filter(|open| open.known.begun == Begun::Block)
}

impl Open {
    fn find(&self, name: &str) -> Result<usize> {
        self.savepoints.iter().rposition(|(known, ..)| known == name).ok_or_else(|| {
            let message = format!("savepoint \"{name}\" does not exist");
            Error::new(SqlState::InvalidSavepointSpecification, message)
        })
    }
}

/// How a statement waits for other transactions.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    /// The session.
    pub party: Party,
    /// How long it waits for a lock.
    pub patience: Option<Duration>,
    /// Whether it is executed again when it meets a row that has changed since its snapshot.
    pub repeats: bool,
    /// Whether its transaction is serializable.
    pub validates: bool,
}

/// Rolls a statement back that has failed. Returns without an error if it is to be executed again: it has met changes of
/// other transactions, which its snapshot has now.
///
/// # Errors
/// The statement's; 55P03 after waiting for too long.
pub async fn rolled_back(
    transaction: &mut DistributedTransaction,
    before: &DistributedSavepoint,
    error: Error,
    waiting: Waiting,
) -> Result<()> {
    transaction.rollback_to(before).await?;
    let has_waited = transaction.await_lock().await?;
    if waiting.repeats && (has_waited || error.is_retryable()) {
        if transaction.choose_only() {
            return Ok(());
        }
        return if transaction.again().await? { Ok(()) } else { Err(error) };
    }
    if has_waited { Ok(()) } else { Err(error) }
}

/// Commits a statement's own transaction. A commit that may be repeated, after a conflict, has not begun. It is one, too, that
/// another transaction has taken a name meanwhile: the statement, executed again, says what that means.
///
/// # Errors
/// 40001 after a conflict with another transaction; 57014 if the statement has to end before the commit begins.
pub async fn committed(transaction: DistributedTransaction, control: &Control) -> Result<()> {
    let guard = control.begin_commit()?;
    transaction.commit().await.map_err(|error| {
        let error = Error::from(error);
        match is_name_taken(error.state()) {
            true => Error::new(SqlState::SerializationFailure, error.message()),
            false => error,
        }
    })?;
    guard.succeeded();
    Ok(())
}

/// Whether an error says that an object of a name exists.
fn is_name_taken(state: SqlState) -> bool {
    use SqlState::{DuplicateFunction, DuplicateObject, DuplicateSchema, DuplicateTable};
    matches!(state, DuplicateFunction | DuplicateObject | DuplicateSchema | DuplicateTable)
}

fn no_transaction(command: &str) -> Error {
    let message = format!("{command} can only be used in transaction blocks");
    Error::new(SqlState::NoActiveSqlTransaction, message).with_hint("BEGIN first.")
}
