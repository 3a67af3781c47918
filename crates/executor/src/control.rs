//! The early end of a statement: a cancel request, a time-out, or a client that has gone.
//!
//! A commit is not interrupted: from [`Control::begin_commit`] on, the end waits for the outcome. The time of a cursor's
//! statement does not run between two fetches. A cancel request concerns the running fetch.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use store::Memory;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use values::error::{Error, Result, SqlState};

/// How long a statement may take to notice that it has to end, before its caller waits no longer.
const GRACE: Duration = Duration::from_millis(80);

/// How long the end waits for the outcome of a commit.
const COMMIT_GRACE: Duration = Duration::from_secs(1);

/// The early end of a statement. The default never comes.
#[derive(Debug, Clone, Default)]
pub struct Control(Option<Arc<State>>);

#[derive(Debug)]
struct State {
    token: CancellationToken,
    /// When the statement times out.
    deadline: watch::Sender<Option<Instant>>,
    /// Why it was stopped, unless by a cancel request or a time-out.
    reason: OnceLock<Error>,
    /// One of [`RUNNING`], [`COMMITTING`], [`COMMITTED`] and [`ENDED`].
    phase: AtomicU8,
    commit_done: Notify,
    /// Whether nobody waits for the statement any more.
    is_left: AtomicBool,
    memory: Option<Arc<Memory>>,
}

/// The statement may commit or end early.
const RUNNING: u8 = 0;
/// It is committing, and cannot end early.
const COMMITTING: u8 = 1;
/// It has committed, and cannot end early.
const COMMITTED: u8 = 2;
/// It has ended early, and cannot commit.
const ENDED: u8 = 3;

/// A commit in progress. Unless it has [succeeded](Self::succeeded), dropping it lets the statement end early again.
#[derive(Debug)]
#[must_use]
pub struct CommitGuard(Option<Arc<State>>);

impl CommitGuard {
    /// Says that the commit has succeeded: the statement cannot end early any more.
    pub fn succeeded(mut self) {
        if let Some(state) = self.0.take() {
            state.leave_commit(COMMITTED);
        }
    }
}

impl Control {
    /// A control of a statement that `token` cancels and that ends after `timeout`.
    pub fn new(token: CancellationToken, timeout: Option<Duration>) -> Self {
        Self::with_memory(token, timeout, None)
    }

    /// A control as of [`Self::new`], of a statement that draws on `memory`.
    pub fn with_memory(
        token: CancellationToken,
        timeout: Option<Duration>,
        memory: Option<Arc<Memory>>,
    ) -> Self {
        Self(Some(Arc::new(State {
            token,
            deadline: watch::Sender::new(deadline(timeout)),
            reason: OnceLock::new(),
            phase: AtomicU8::new(RUNNING),
            commit_done: Notify::new(),
            is_left: AtomicBool::new(false),
            memory,
        })))
    }

    /// The memory that the statement draws on.
    pub(crate) fn memory(&self) -> Option<Arc<Memory>> {
        self.0.as_ref()?.memory.clone()
    }

    /// Stops the statement with an error of the caller's. The first reason counts.
    pub fn stop(&self, reason: Error) {
        if let Some(state) = &self.0 {
            let _ = state.reason.set(reason);
            state.token.cancel();
        }
    }

    /// Stops a statement for which nobody waits any more: its client has gone, or wants no more of its rows.
    pub(crate) fn leave(&self) {
        if let Some(state) = &self.0 {
            state.is_left.store(true, Ordering::Release);
        }
        self.stop(Error::new(SqlState::QueryCanceled, "nobody waits for the statement any more"));
    }

    /// Whether the statement ends because nobody waits for it. That is no failure of its transaction.
    pub fn is_left(&self) -> bool {
        self.0.as_ref().is_some_and(|state| state.is_left.load(Ordering::Acquire))
    }

    /// Checks whether the statement has to end. This is meant to be called once a batch of rows, or every few thousand
    /// steps of a loop.
    ///
    /// # Errors
    /// 57014 after a cancel request or the time-out; the reason of [`Self::stop`].
    pub fn check(&self) -> Result<()> {
        let Some(state) = &self.0 else { return Ok(()) };
        let is_due = state.token.is_cancelled()
            || state.deadline.borrow().is_some_and(|at| at <= Instant::now());
        if is_due && matches!(state.phase.load(Ordering::Acquire), RUNNING | ENDED) {
            return Err(state.error());
        }
        Ok(())
    }

    /// Completes after a cancel request or the time-out, also while the statement commits.
    pub async fn due(&self) {
        match &self.0 {
            Some(state) => state.due().await,
            None => std::future::pending().await,
        }
    }

    /// Completes with the reason when the statement has to end. A commit that has begun is waited for: if it takes too
    /// long, the error says that its outcome is unknown.
    pub async fn ended(&self) -> Error {
        let Some(state) = &self.0 else { return std::future::pending().await };
        state.due().await;
        loop {
            let outcome = state.commit_done.notified();
            match state.end() {
                ENDED => return state.error(),
                COMMITTED => return std::future::pending().await,
                _ if tokio::time::timeout(COMMIT_GRACE, outcome).await.is_err() => {
                    return unknown();
                }
                _ => {}
            }
        }
    }

    /// Completes with the reason when the statement should have ended, and has not noticed for a while.
    pub async fn overdue(&self) -> Error {
        let Some(state) = &self.0 else { return std::future::pending().await };
        state.due().await;
        tokio::time::sleep(GRACE).await;
        self.ended().await
    }

    /// Begins a commit, which is not interrupted.
    ///
    /// # Errors
    /// As [`Self::check`], if the statement has to end.
    pub fn begin_commit(&self) -> Result<CommitGuard> {
        let Some(state) = &self.0 else { return Ok(CommitGuard(None)) };
        self.check()?;
        let exchanged =
            state.phase.compare_exchange(RUNNING, COMMITTING, Ordering::AcqRel, Ordering::Acquire);
        match exchanged {
            Ok(_) => Ok(CommitGuard(Some(Arc::clone(state)))),
            Err(ENDED) => Err(state.error()),
            // A statement of one transaction after another, such as a load in parts.
            Err(_) => Ok(CommitGuard(None)),
        }
    }

    /// Restarts the statement's time with `timeout`. The token that cancels it comes back.
    pub fn resume(&self, timeout: Option<Duration>) -> Option<CancellationToken> {
        let state = self.0.as_ref()?;
        state.deadline.send_replace(deadline(timeout));
        Some(state.token.clone())
    }

    /// Stops the statement's time.
    pub fn pause(&self) {
        if let Some(state) = &self.0 {
            state.deadline.send_replace(None);
        }
    }
}

impl State {
    /// Completes after a cancel request or the time-out.
    async fn due(&self) {
        let mut deadlines = self.deadline.subscribe();
        loop {
            let deadline = *deadlines.borrow_and_update();
            tokio::select! {
                biased;
                () = self.token.cancelled() => return,
                () = passed(deadline) => return,
                Ok(()) = deadlines.changed() => {}
            }
        }
    }

    /// Ends the statement unless it commits. Returns its phase.
    fn end(&self) -> u8 {
        match self.phase.compare_exchange(RUNNING, ENDED, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => ENDED,
            Err(phase) => phase,
        }
    }

    fn leave_commit(&self, phase: u8) {
        self.phase.store(phase, Ordering::Release);
        self.commit_done.notify_waiters();
    }

    fn error(&self) -> Error {
        match self.reason.get() {
            Some(reason) => reason.clone(),
            None if self.token.is_cancelled() => cancelled("user request"),
            None => cancelled("statement timeout"),
        }
    }
}

impl Drop for CommitGuard {
    fn drop(&mut self) {
        if let Some(state) = &self.0 {
            state.leave_commit(RUNNING);
        }
    }
}

fn deadline(timeout: Option<Duration>) -> Option<Instant> {
    timeout.and_then(|timeout| Instant::now().checked_add(timeout))
}

async fn passed(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

fn cancelled(reason: &str) -> Error {
    Error::new(SqlState::QueryCanceled, format!("canceling statement due to {reason}"))
}

/// The error of a statement that was to end while its commit was waiting for other servers.
fn unknown() -> Error {
    let message = "the statement was canceled during its commit, whose outcome is unknown";
    Error::new(SqlState::StatementCompletionUnknown, message)
        .with_hint("Read the rows to see whether they were written.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_pause_stops_the_clock() {
        let (short, longer) = (Duration::from_millis(1), Duration::from_millis(20));
        let control = Control::new(CancellationToken::new(), Some(short));
        control.pause();
        assert!(tokio::time::timeout(longer, control.ended()).await.is_err());
        control.resume(Some(short));
        assert_eq!(control.ended().await.message(), "canceling statement due to statement timeout");
        assert!(control.check().is_err());
    }

    #[tokio::test]
    async fn whoever_is_cancelled_ends_at_once() {
        let token = CancellationToken::new();
        let control = Control::new(token.clone(), None);
        assert!(control.check().is_ok());
        token.cancel();
        assert!(control.check().is_err());
        assert_eq!(control.ended().await.message(), "canceling statement due to user request");
        assert!(control.begin_commit().is_err(), "what has ended cannot commit");
    }

    #[tokio::test]
    async fn a_commit_is_not_interrupted() {
        let token = CancellationToken::new();
        let control = Control::new(token.clone(), None);
        let commit = control.begin_commit().expect("nothing ends it");
        token.cancel();
        assert!(control.check().is_ok());
        let short = Duration::from_millis(20);
        assert!(tokio::time::timeout(short, control.ended()).await.is_err());
        commit.succeeded();
        assert!(tokio::time::timeout(short, control.ended()).await.is_err(), "it has committed");
    }

    #[tokio::test]
    async fn a_statement_ends_after_a_commit_that_failed() {
        let token = CancellationToken::new();
        let control = Control::new(token.clone(), None);
        let commit = control.begin_commit().expect("nothing ends it");
        token.cancel();
        drop(commit);
        assert_eq!(control.ended().await.state(), SqlState::QueryCanceled);
    }

    #[tokio::test]
    async fn the_outcome_of_a_slow_commit_is_unknown() {
        let token = CancellationToken::new();
        let control = Control::new(token.clone(), None);
        let _commit = control.begin_commit().expect("nothing ends it");
        token.cancel();
        assert_eq!(control.ended().await.state(), SqlState::StatementCompletionUnknown);
    }

    #[tokio::test]
    async fn the_first_reason_counts() {
        let control = Control::new(CancellationToken::new(), None);
        control.stop(Error::new(SqlState::OutOfMemory, "out of memory"));
        control.stop(Error::new(SqlState::AdminShutdown, "bye"));
        assert_eq!(control.ended().await.state(), SqlState::OutOfMemory);
    }
}
