//! Where statements run: a session of a database in this process, or a server.
//!
//! [`Place::start`] starts the statements of a text, and [`Place::next`] returns their answers until there are none.

mod answer;
mod local;
mod remote;

pub(super) use answer::Answer;
pub use local::Local;
pub use remote::Remote;

use crate::error::SqlError;
use crate::interrupt::Canceller;
use crate::output::Column;
use crate::protocol::Texts;
use query::{Session, TransactionStatus};

/// Where statements run.
pub enum Place {
    /// A database in this process.
    Local(Box<Local>),
    /// A server.
    Remote(Box<Remote>),
}

impl Place {
    /// Starts the statements of a text.
    pub(super) async fn start(&mut self, text: &str) -> Result<(), SqlError> {
        match self {
            Self::Local(local) => local.start(text),
            Self::Remote(remote) => remote.start(text).await,
        }
    }

    /// The next answer; `None` at the end. There is none after an error.
    pub(super) async fn next(&mut self) -> Result<Option<Answer<'_>>, SqlError> {
        match self {
            Self::Local(local) => local.next().await,
            Self::Remote(remote) => remote.next().await,
        }
    }

    /// Prepares the place for the next statement after an error, and returns the error with added details.
    pub(super) async fn recover(&mut self, error: SqlError) -> SqlError {
        match self {
            Self::Local(_) => error,
            Self::Remote(remote) => remote.recover(error).await,
        }
    }

    /// Sends data of COPY. Returns false if the server has already failed it.
    pub(super) async fn send_data(&mut self, data: &[u8]) -> Result<bool, SqlError> {
        match self {
            Self::Local(local) => local.send_data(data).await,
            Self::Remote(remote) => remote.send_data(data).await,
        }
    }

    /// Ends the data of COPY, or aborts it with a reason.
    pub(super) async fn end_data(&mut self, abort: Option<&str>) -> Result<(), SqlError> {
        match self {
            Self::Local(local) => local.end_data(abort).await,
            Self::Remote(remote) => remote.end_data(abort).await,
        }
    }

    /// Runs a query of the shell, and returns its rows as text.
    pub(super) async fn texts(&mut self, query: &str) -> Result<Texts, SqlError> {
        match self {
            Self::Local(local) => local.texts(query).await,
            Self::Remote(remote) => remote.texts(query).await,
        }
    }

    /// The notices that came during queries of the shell.
    pub(super) fn take_notices(&mut self) -> Vec<SqlError> {
        match self {
            Self::Local(_) => Vec::new(),
            Self::Remote(remote) => remote.take_notices(),
        }
    }

    /// Runs a query of the shell, and returns its columns.
    pub(super) async fn columns(&mut self, query: &str) -> Result<Vec<Column>, SqlError> {
        match self {
            Self::Local(local) => local.columns(query).await,
            Self::Remote(remote) => remote.columns(query).await,
        }
    }

    /// Whether the server is Pando.
    pub(super) fn is_pando(&self) -> bool {
        match self {
            Self::Local(_) => true,
            Self::Remote(remote) => remote.is_pando(),
        }
    }

    /// Whether the database is in this process, so that queries are cheap.
    pub(super) fn is_local(&self) -> bool {
        matches!(self, Self::Local(_))
    }

    /// The state of the transaction; `None` without a connection.
    pub(super) async fn status(&self) -> Option<TransactionStatus> {
        match self {
            Self::Local(local) => Some(local.status().await),
            Self::Remote(remote) => remote.status(),
        }
    }

    /// The prompt.
    pub(super) async fn prompt(&self) -> String {
        let name = match self {
            Self::Local(_) => "pando",
            Self::Remote(remote) => remote.name(),
        };
        let mark = match self.status().await {
            Some(TransactionStatus::Idle) => "",
            Some(TransactionStatus::Open) => "*",
            Some(TransactionStatus::Failed) => "!",
            None => "?",
        };
        format!("{}{mark}> ", crate::output::harmless(name))
    }

    /// Cancels the running statement, from any thread.
    pub(super) fn canceller(&self) -> Canceller {
        match self {
            Self::Local(local) => local.canceller(),
            Self::Remote(remote) => remote.canceller(),
        }
    }

    /// The session that reports the progress of loads, if it is in this process.
    pub(super) fn session(&self) -> Option<&Session> {
        match self {
            Self::Local(local) => Some(local.session()),
            Self::Remote(_) => None,
        }
    }

    /// Switches to an interactive session, which reconnects after a lost connection.
    pub(super) fn converse(&mut self) {
        if let Self::Remote(remote) = self {
            remote.converse();
        }
    }

    /// Closes the connection.
    pub(super) async fn close(&mut self) {
        if let Self::Remote(remote) = self {
            remote.close().await;
        }
    }
}
