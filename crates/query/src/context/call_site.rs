//! Where the functions of a statement are called, and who executes their statements.

use datafusion::common::ScalarValue;
use parser::Statement;
use planner::NamedParameter;
use procedural::Done;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::DistributedSavepoint;
use tokio::sync::{mpsc, oneshot};
use values::error::{Error, Result, SqlState};

/// The place of a statement's calls. Clones are the same place.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallSite {
    /// The functions around.
    pub(crate) depth: usize,
    /// Who executes the statements of volatile functions; `None` where they read the statement's snapshot.
    pub(crate) driver: Option<Driver>,
    /// Whether the statement calls a function whose statements must be executed so.
    needs_driver: Arc<AtomicBool>,
}

impl CallSite {
    /// A place where nobody executes statements.
    pub(crate) fn alone(depth: usize) -> Self {
        Self { depth, ..Self::default() }
    }

    /// A place whose statements somebody executes, while [`Requests::begin`] says so.
    pub(crate) fn with_driver(depth: usize) -> (Self, Requests) {
        let (sender, requests) = mpsc::channel(1);
        let serving = Arc::new(AtomicBool::new(false));
        let driver = Driver { sender, serving: Arc::clone(&serving) };
        let site = Self { driver: Some(driver), ..Self::alone(depth) };
        (site, Requests { requests, serving })
    }

    /// The place within a function that is called here.
    pub(crate) fn inside(&self, is_volatile: bool) -> Self {
        let driver = self.driver.clone().filter(|_| is_volatile);
        Self { depth: self.depth + 1, driver, needs_driver: Arc::default() }
    }

    /// The place of calls in a statement of a function.
    pub(crate) fn in_statement(&self) -> Self {
        Self { depth: self.depth + STATEMENT_DEPTH, ..self.clone() }
    }

    /// Notes a call of a function whose statements are executed in the transaction.
    pub(crate) fn note_driver_needed(&self) {
        self.needs_driver.store(true, Ordering::Relaxed);
    }

    /// Whether such a call was planned.
    pub(crate) fn needs_driver(&self) -> bool {
        self.needs_driver.load(Ordering::Relaxed)
    }
}

/// The statements that functions ask for.
pub(crate) struct Requests {
    pub(crate) requests: mpsc::Receiver<Request>,
    serving: Arc<AtomicBool>,
}

/// Says that requests are served, until it is dropped.
pub(crate) struct Serving(Arc<AtomicBool>);

impl Requests {
    pub(crate) fn begin(&self) -> Serving {
        self.serving.store(true, Ordering::Release);
        Serving(Arc::clone(&self.serving))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Somebody who executes statements in the transaction.
#[derive(Clone)]
pub(crate) struct Driver {
    sender: mpsc::Sender<Request>,
    serving: Arc<AtomicBool>,
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("serving", &self.serving).finish_non_exhaustive()
    }
}

/// The most functions within each other. Each runs on a stack with enough room.
pub(crate) const DEPTH_MAX: usize = 1_000;

/// For how many functions a query of a function counts, and a change that fires a trigger: they take a thread while they run.
pub(crate) const STATEMENT_DEPTH: usize = 9;

/// For how many functions a CALL counts: it is polled anew, with all around it, whenever it has waited.
pub(crate) const CALL_DEPTH: usize = 1;

/// What a function asks for.
pub(crate) enum Request {
    /// To run a statement.
    Run(Box<Asked>, oneshot::Sender<Result<Done>>),
    /// To mark a place to return to.
    Mark(oneshot::Sender<Result<DistributedSavepoint>>),
    /// To return to a place.
    Return(Box<DistributedSavepoint>, oneshot::Sender<Result<()>>),
}

/// A statement of a function.
pub(crate) struct Asked {
    /// The functions around.
    pub(crate) depth: usize,
    pub(crate) statement: Statement,
    pub(crate) names: Vec<NamedParameter>,
    pub(crate) values: Vec<ScalarValue>,
    pub(crate) limit: Option<usize>,
}

impl Driver {
    /// Whether somebody waits for requests now. On the session's own thread nobody does.
    pub(crate) fn is_serving(&self) -> bool {
        self.serving.load(Ordering::Acquire)
    }

    /// Asks, and waits for the answer.
    pub(crate) async fn ask<T>(
        &self,
        request: impl FnOnce(oneshot::Sender<Result<T>>) -> Request,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        if self.sender.send(request(reply)).await.is_err() {
            return Err(gone());
        }
        answer.await.unwrap_or_else(|_| Err(gone()))
    }
}

/// The statement has ended while its function was running.
fn gone() -> Error {
    Error::new(SqlState::QueryCanceled, "canceling statement due to user request")
}
