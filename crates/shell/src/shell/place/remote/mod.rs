//! Statements on a server, with reconnection.
//!
//! If the connection is lost, the error reports the open transaction, and whether the running statement may have taken
//! effect. If the session had state (a transaction, settings, temporary tables), the next statement is not run on a new
//! connection without an error first.

mod cancelling;
mod rows;
mod session_state;
#[cfg(test)]
mod tests;
mod types;

use super::answer::Answer;
use crate::error::SqlError;
use crate::interrupt::Canceller;
use crate::output::{Column, Done, Rows};
use crate::protocol::{Address, Connection, Event, Key, Texts, connect};
use cancelling::Cancelling;
use query::TransactionStatus;
use rows::{Stream, batches, data};
use session_state::SessionState;
use std::collections::VecDeque;
use std::sync::Arc;
use types::TypeNames;

/// A session of a server.
pub struct Remote {
    address: Address,
    connection: Option<Connection>,
    cancelling: Arc<Cancelling>,
    types: TypeNames,
    state: SessionState,
    notices: VecDeque<SqlError>,
    /// Whether the session is interactive, and reconnects.
    converses: bool,
}

impl Remote {
    /// Connects to a server.
    ///
    /// # Errors
    /// If the connection fails.
    pub async fn open(address: Address) -> Result<Self, SqlError> {
        let mut remote = Self {
            cancelling: Arc::new(Cancelling::new(address.clone())),
            address,
            connection: None,
            types: TypeNames::default(),
            state: SessionState::default(),
            notices: VecDeque::new(),
            converses: false,
        };
        remote.connect().await?;
        Ok(remote)
    }

    async fn connect(&mut self) -> Result<(), SqlError> {
        self.cancelling.set_key(None);
        let connecting = connect(&mut self.address);
        let (mut connection, key): (Connection, Option<Key>) =
            match self.cancelling.unless_cancelled(connecting).await {
                Some(connected) => connected?,
                None => return Err(SqlError::new("08001", "connecting was cancelled")),
            };
        self.cancelling.set_key(key);
        self.types = TypeNames::default();
        self.types.refresh(&mut connection).await?;
        self.connection = Some(connection);
        self.state = SessionState::default();
        Ok(())
    }

    /// Describes the connection: server, address, database, user and encryption.
    pub fn introduction(&self) -> String {
        let connection = self.connection.as_ref();
        let version = connection.and_then(|connection| connection.parameter("server_version"));
        let server = match version.map(|version| (version, version.split_once("(Pando "))) {
            Some((_, Some((_, own)))) => format!("Pando {}", own.trim_end_matches(')')),
            Some((version, None)) => format!("PostgreSQL {version}"),
            None => "a server".to_owned(),
        };
        let encrypted = connection.is_some_and(Connection::is_encrypted);
        let encrypted = if encrypted { ", encrypted" } else { "" };
        let (address, user) = (&self.address, self.address.user());
        format!("{server} at {address}, database {}, user {user}{encrypted}", self.name())
    }

    /// The database's name.
    pub(super) fn name(&self) -> &str {
        self.address.database()
    }

    pub(super) fn is_pando(&self) -> bool {
        let connection = self.connection.as_ref();
        let version = connection.and_then(|connection| connection.parameter("server_version"));
        version.is_some_and(|version| version.contains("Pando"))
    }

    pub(super) fn status(&self) -> Option<TransactionStatus> {
        self.connection.as_ref().map(Connection::status)
    }

    pub(super) fn canceller(&self) -> Canceller {
        let cancelling = Arc::clone(&self.cancelling);
        Arc::new(move || cancelling.cancel())
    }

    pub(super) fn converse(&mut self) {
        self.converses = true;
    }

    pub(super) async fn close(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.close().await;
        }
    }

    pub(super) async fn start(&mut self, text: &str) -> Result<(), SqlError> {
        self.be_connected().await?;
        self.state.statement(text);
        let Some(connection) = &mut self.connection else { return Ok(()) };
        self.types.refresh(connection).await?;
        match self.cancelling.unless_cancelled(connection.send(text)).await {
            Some(sent) => sent,
            None => Err(connection.abandon()),
        }
    }

    pub(super) async fn next(&mut self) -> Result<Option<Answer<'_>>, SqlError> {
        if let Some(notice) = self.notices.pop_front() {
            return Ok(Some(Answer::Notice(notice)));
        }
        let Self { connection: Some(connection), types, notices, cancelling, state, .. } = self
        else {
            return Ok(None);
        };
        let mut stream = Stream { connection, notices, cancelling };
        Ok(match stream.step().await? {
            Event::Ready => None,
            Event::Notice(notice) => Some(Answer::Notice(notice)),
            Event::CopyIn => Some(Answer::CopyIn),
            Event::CopyOut => Some(Answer::CopyOut(data(stream))),
            Event::Columns(described) => {
                let columns: Vec<_> = described.into_iter().map(|one| types.column(one)).collect();
                let is_plan = matches!(&columns[..], [only] if only.name == "QUERY PLAN");
                let batches = batches(stream, columns.len());
                Some(Answer::Rows(Rows { columns, is_plan, batches }))
            }
            Event::Done(tag) => {
                types.done(&tag);
                state.done(&tag);
                Some(Answer::Done(Done::of_tag(&tag)))
            }
            Event::Failed(error) => return Err(error),
            Event::Row(_) | Event::Data(_) => {
                return Err(SqlError::new("08P01", "the server sent an unexpected message"));
            }
        })
    }

    pub(super) async fn send_data(&mut self, data: &[u8]) -> Result<bool, SqlError> {
        let Some(connection) = &mut self.connection else { return Ok(false) };
        match self.cancelling.unless_cancelled(connection.send_data(data)).await {
            Some(sent) => sent?,
            None => return Err(connection.abandon()),
        }
        Ok(!connection.has_arrived())
    }

    pub(super) async fn end_data(&mut self, abort: Option<&str>) -> Result<(), SqlError> {
        match &mut self.connection {
            Some(connection) => connection.end_data(abort).await,
            None => Ok(()),
        }
    }

    pub(super) async fn texts(&mut self, query: &str) -> Result<Texts, SqlError> {
        self.be_connected().await?;
        let Some(connection) = &mut self.connection else { return Ok(Texts::new()) };
        match self.cancelling.unless_cancelled(connection.texts(query)).await {
            Some(texts) => texts,
            None => Err(connection.abandon()),
        }
    }

    /// The notices that came during queries of the shell.
    pub(super) fn take_notices(&mut self) -> Vec<SqlError> {
        self.notices.drain(..).collect()
    }

    pub(super) async fn columns(&mut self, query: &str) -> Result<Vec<Column>, SqlError> {
        self.be_connected().await?;
        let Some(connection) = &mut self.connection else { return Ok(Vec::new()) };
        match self.cancelling.unless_cancelled(connection.columns(query)).await {
            Some(described) => Ok(described?.into_iter().map(|c| self.types.column(c)).collect()),
            None => Err(connection.abandon()),
        }
    }

    /// Prepares the connection for the next statement, or adds to the error what is lost with the connection.
    pub(super) async fn recover(&mut self, error: SqlError) -> SqlError {
        let Some(connection) = &mut self.connection else { return error };
        if !connection.is_over() {
            if connection.is_waiting() {
                let settling = connection.settle();
                if self.cancelling.unless_cancelled(settling).await.is_none() {
                    connection.abandon();
                }
            }
            return error;
        }
        let mut detail = match connection.status() {
            TransactionStatus::Idle => {
                "It is not known whether the statement took effect.".to_owned()
            }
            TransactionStatus::Open | TransactionStatus::Failed => {
                "The open transaction is rolled back, unless this was its COMMIT.".to_owned()
            }
        };
        detail.push_str(self.state.loss());
        self.connection = None;
        let lost =
            if error.is_loss() { error } else { SqlError::lost(&self.address, error.message) };
        let lost = lost.with_detail(detail);
        self.with_reconnect_hint(lost)
    }

    fn with_reconnect_hint(&self, lost: SqlError) -> SqlError {
        if !self.converses {
            return lost;
        }
        lost.with_hint("The next statement reconnects.")
    }

    /// Checks the connection, and reconnects if no state is lost by that.
    async fn be_connected(&mut self) -> Result<(), SqlError> {
        self.cancelling.begin();
        let Some(connection) = &mut self.connection else {
            self.connect().await?;
            let message = format!("reconnected to {}", self.address);
            self.notices.push_back(SqlError::notice("NOTICE", message));
            return Ok(());
        };
        let lost = match connection.check().await {
            Ok(notices) => {
                self.notices.extend(notices);
                return Ok(());
            }
            Err(lost) => lost,
        };
        let idle = connection.status() == TransactionStatus::Idle;
        self.connection = None;
        if idle && self.converses && !self.state.is_changed() {
            let connected = self.connect().await;
            connected.map_err(|error| error.with_detail(lost.message.clone()))?;
            let message = format!("{}; reconnected", lost.message);
            self.notices.push_back(SqlError::notice("WARNING", message));
            return Ok(());
        }
        let transaction = if idle { "" } else { "The open transaction is rolled back. " };
        let loss = self.state.loss();
        let lost = lost.with_detail(format!("{transaction}This statement was not run.{loss}"));
        Err(self.with_reconnect_hint(lost))
    }
}
