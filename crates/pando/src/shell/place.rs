//! Where statements go: a session of a database in this process, or a server's.
//!
//! The shell says [`Place::start`] with a text and takes its answers with [`Place::next`] until there are none. Both
//! places answer alike, so nothing above asks which it is.

use super::local::Local;
use super::remote::Remote;
use crate::interrupt::Canceller;
use crate::output::{Column, Done, Rows};
use crate::remote::Texts;
use crate::trouble::SqlError;
use bytes::Bytes;
use futures::stream::BoxStream;
use pando::{Session, TransactionStatus};

/// Where statements go.
pub(crate) enum Place {
    /// A database in this process.
    Local(Box<Local>),
    /// A server.
    Remote(Box<Remote>),
}

/// One answer of a statement.
pub(crate) enum Answer<'a> {
    /// Rows, which must be taken in before the next answer.
    Rows(Rows<'a>),
    /// Something was done.
    Done(Done),
    /// Something to be told at once.
    Notice(SqlError),
    /// COPY waits for data: [`Place::send_data`], then [`Place::end_data`].
    CopyIn,
    /// COPY's data, which must be taken in before the next answer.
    CopyOut(BoxStream<'a, Result<Bytes, SqlError>>),
}

impl Place {
    /// Begins to run the statements in a text.
    pub(super) async fn start(&mut self, text: &str) -> Result<(), SqlError> {
        match self {
            Self::Local(local) => local.start(text),
            Self::Remote(remote) => remote.start(text).await,
        }
    }

    /// The next answer; `None` when all are given. After an error there are no more.
    pub(super) async fn next(&mut self) -> Result<Option<Answer<'_>>, SqlError> {
        match self {
            Self::Local(local) => local.next().await,
            Self::Remote(remote) => remote.next().await,
        }
    }

    /// Makes the place fit for the next statement after an error, which may say more then.
    pub(super) async fn recover(&mut self, trouble: SqlError) -> SqlError {
        match self {
            Self::Local(_) => trouble,
            Self::Remote(remote) => remote.recover(trouble).await,
        }
    }

    /// Gives COPY some of its data; false where the server has refused it already.
    pub(super) async fn send_data(&mut self, data: &[u8]) -> Result<bool, SqlError> {
        match self {
            Self::Local(local) => local.send_data(data).await,
            Self::Remote(remote) => remote.send_data(data).await,
        }
    }

    /// COPY has all its data, or will not get it, for a reason.
    pub(super) async fn end_data(&mut self, evicted: Option<&str>) -> Result<(), SqlError> {
        match self {
            Self::Local(local) => local.end_data(evicted).await,
            Self::Remote(remote) => remote.end_data(evicted).await,
        }
    }

    /// All rows of a question of ours, as texts.
    pub(super) async fn texts(&mut self, query: &str) -> Result<Texts, SqlError> {
        match self {
            Self::Local(local) => local.texts(query).await,
            Self::Remote(remote) => remote.texts(query).await,
        }
    }

    /// What was said while questions of ours were answered.
    pub(super) fn take_notices(&mut self) -> Vec<SqlError> {
        match self {
            Self::Local(_) => Vec::new(),
            Self::Remote(remote) => remote.take_notices(),
        }
    }

    /// The columns of a question's rows.
    pub(super) async fn columns(&mut self, query: &str) -> Result<Vec<Column>, SqlError> {
        match self {
            Self::Local(local) => local.columns(query).await,
            Self::Remote(remote) => remote.columns(query).await,
        }
    }

    /// Whether the other side is Pando, whose tables have buckets.
    pub(super) fn is_pando(&self) -> bool {
        match self {
            Self::Local(_) => true,
            Self::Remote(remote) => remote.is_pando(),
        }
    }

    /// Whether a question costs next to nothing.
    pub(super) fn is_near(&self) -> bool {
        matches!(self, Self::Local(_))
    }

    /// Whether a transaction is open; `None` without a connection.
    pub(super) async fn status(&self) -> Option<TransactionStatus> {
        match self {
            Self::Local(local) => Some(local.status().await),
            Self::Remote(remote) => remote.status(),
        }
    }

    /// What stands before what is typed.
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

    /// What cancels the running statement, from any thread.
    pub(super) fn canceller(&self) -> Canceller {
        match self {
            Self::Local(local) => local.canceller(),
            Self::Remote(remote) => remote.canceller(),
        }
    }

    /// The session that tells how far loads have come, where there is one.
    pub(super) fn session(&self) -> Option<&Session> {
        match self {
            Self::Local(local) => Some(local.session()),
            Self::Remote(_) => None,
        }
    }

    /// From now on somebody is there to try again.
    pub(super) fn converse(&mut self) {
        if let Self::Remote(remote) = self {
            remote.converse();
        }
    }

    /// Says goodbye.
    pub(super) async fn leave(&mut self) {
        if let Self::Remote(remote) = self {
            remote.leave().await;
        }
    }
}
