//! A connection to a server: sends statements as text, and decodes the answers message by message.
//!
//! Values are in the server's text format. The next statement can be sent after [`Event::Ready`].

use super::address::Endpoint;
use super::cancel::Key;
use super::channel::Channel;
use super::message::{self, Described, Frame, malformed};
use crate::error::SqlError;
use bytes::{Buf, Bytes};
use postgres_protocol::message::frontend;
use query::TransactionStatus;
use std::collections::BTreeMap;
use std::io;

/// One step of the answer to a statement.
#[derive(Debug)]
pub(crate) enum Event {
    /// Rows follow, with these columns.
    Columns(Vec<Described>),
    /// A row; [`row_values`] reads it.
    Row(Bytes),
    /// A statement is complete: its tag.
    Done(String),
    /// A statement has failed.
    Failed(SqlError),
    /// A notice.
    Notice(SqlError),
    /// The server waits for COPY's data.
    CopyIn,
    /// COPY's data follows.
    CopyOut,
    /// A part of COPY's data.
    Data(Bytes),
    /// All statements are answered.
    Ready,
}

/// An open connection.
pub struct Connection {
    channel: Channel,
    /// The address, for messages.
    address: String,
    encrypted: bool,
    /// The process number and secret for cancel requests.
    process: Option<(i32, i32)>,
    parameters: BTreeMap<String, String>,
    status: TransactionStatus,
    /// Whether an answer is not complete.
    waiting: bool,
    /// Whether the server has ended the connection.
    over: bool,
}

impl Connection {
    /// A connection after authentication.
    pub(super) fn new(channel: Channel, address: String, encrypted: bool) -> Self {
        let (process, parameters) = (None, BTreeMap::new());
        let status = TransactionStatus::Idle;
        let (waiting, over) = (false, false);
        Self { channel, address, encrypted, process, parameters, status, waiting, over }
    }

    /// Whether the connection is encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.encrypted
    }

    /// Whether the server has ended it.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// The last reported state of the transaction.
    pub(crate) fn status(&self) -> TransactionStatus {
        self.status
    }

    /// A parameter that the server reports, like `server_version`.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }

    /// The key that cancels statements of this session.
    pub(super) fn key(&self, endpoint: &Endpoint) -> Option<Key> {
        let (process, secret) = self.process?;
        Some(Key { endpoint: endpoint.clone(), process, secret })
    }

    /// Sends statements. Their answers end with [`Event::Ready`].
    pub(crate) async fn send(&mut self, text: &str) -> Result<(), SqlError> {
        if text.contains('\0') {
            return Err(SqlError::new("22021", "a statement cannot contain a zero byte"));
        }
        let queued = frontend::query(text, &mut self.channel.outgoing);
        queued.map_err(|error| SqlError::new("54000", error.to_string()))?;
        self.waiting = true;
        self.flush().await
    }

    /// Whether an answer is not complete.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// Sends a part of COPY's data.
    ///
    /// # Errors
    /// If the connection is lost.
    pub async fn send_data(&mut self, data: &[u8]) -> Result<(), SqlError> {
        let message = frontend::CopyData::new(data);
        let message = message.map_err(|error| SqlError::new("54000", error.to_string()))?;
        message.write(&mut self.channel.outgoing);
        self.flush().await
    }

    /// Ends COPY's data: completely, or with the reason for aborting it.
    pub(crate) async fn end_data(&mut self, abort: Option<&str>) -> Result<(), SqlError> {
        match abort {
            None => frontend::copy_done(&mut self.channel.outgoing),
            Some(reason) => {
                let queued = frontend::copy_fail(reason, &mut self.channel.outgoing);
                queued.map_err(|error| SqlError::new("22021", error.to_string()))?;
            }
        }
        self.flush().await
    }

    /// Waits for the next event.
    pub(crate) async fn receive(&mut self) -> Result<Event, SqlError> {
        loop {
            match self.channel.frame().await.and_then(|frame| self.decode(frame)) {
                Ok(Some(event)) => return Ok(event),
                Ok(None) => {}
                Err(error) => return Err(self.lost(&error)),
            }
        }
    }

    /// The next event, if it has arrived.
    pub(crate) fn arrived(&mut self) -> Result<Option<Event>, SqlError> {
        loop {
            let Some(frame) = self.channel.arrived().map_err(|error| self.lost(&error))? else {
                return Ok(None);
            };
            if let Some(event) = self.decode(frame).map_err(|error| self.lost(&error))? {
                return Ok(Some(event));
            }
        }
    }

    /// Waits until the server has closed the connection, and keeps the received messages.
    #[cfg(test)]
    pub(crate) async fn receive_to_end(&mut self) {
        self.channel.receive_to_end().await;
    }

    /// Checks whether the server has ended the idle connection, and returns received notices.
    pub(crate) async fn check(&mut self) -> Result<Vec<SqlError>, SqlError> {
        self.channel.poll().await;
        let mut notices = Vec::new();
        while let Some(event) = self.arrived()? {
            match event {
                Event::Notice(notice) => notices.push(notice),
                Event::Failed(error) => return Err(self.lost_for(error.message)),
                _ => {}
            }
        }
        if self.channel.ended() {
            return Err(self.lost_for("the server has closed it"));
        }
        Ok(notices)
    }

    /// Skips messages until all statements are answered, and returns the first error.
    pub(crate) async fn settle(&mut self) -> Result<(), SqlError> {
        let mut failed = None;
        loop {
            match self.receive().await {
                Ok(Event::Ready) => return failed.map_or(Ok(()), Err),
                Ok(Event::CopyIn) => self.end_data(Some("no data")).await?,
                Ok(Event::Failed(error)) => failed = failed.or(Some(error)),
                Ok(_) => {}
                Err(lost) => return Err(failed.unwrap_or(lost)),
            }
        }
    }

    /// Whether received bytes are not consumed yet.
    pub(crate) fn has_arrived(&self) -> bool {
        self.channel.has_arrived()
    }

    /// Marks the connection as lost, because the user does not wait any longer.
    pub(crate) fn abandon(&mut self) -> SqlError {
        self.lost_for("Ctrl-C, and the server does not answer")
    }

    /// Closes the connection. Errors are ignored.
    pub async fn close(mut self) {
        frontend::terminate(&mut self.channel.outgoing);
        let _ = self.channel.close().await;
    }

    async fn flush(&mut self) -> Result<(), SqlError> {
        self.channel.flush().await.map_err(|error| self.lost(&error))
    }

    /// The error of a lost connection. The server's last error message is preferred to the socket's error.
    fn lost(&mut self, error: &io::Error) -> SqlError {
        self.over = true;
        while let Ok(Some(Frame { tag, body })) = self.channel.arrived() {
            if let (b'E', Some(error)) = (tag, message::sql_error(body)) {
                return self.lost_for(error.message);
            }
        }
        self.lost_for(error.to_string())
    }

    fn lost_for(&mut self, reason: impl Into<String>) -> SqlError {
        self.over = true;
        SqlError::lost(&self.address, reason.into())
    }

    fn decode(&mut self, Frame { tag, mut body }: Frame) -> io::Result<Option<Event>> {
        let wrong = |what: &str| malformed(what);
        Ok(match tag {
            b'D' => Some(Event::Row(body)),
            b'd' => Some(Event::Data(body)),
            b'T' => {
                let columns = message::columns(body);
                Some(Event::Columns(columns.ok_or_else(|| wrong("a description of rows"))?))
            }
            b'C' => {
                Some(Event::Done(message::text(&mut body).ok_or_else(|| wrong("a command tag"))?))
            }
            b'E' => {
                let error = message::sql_error(body).ok_or_else(|| wrong("an error"))?;
                self.over |= matches!(error.severity.as_str(), "FATAL" | "PANIC");
                Some(Event::Failed(error))
            }
            b'N' => Some(Event::Notice(message::sql_error(body).ok_or_else(|| wrong("a notice"))?)),
            b'G' => Some(Event::CopyIn),
            b'H' => Some(Event::CopyOut),
            b'Z' => {
                self.waiting = false;
                self.status = match body.first() {
                    Some(b'I') => TransactionStatus::Idle,
                    Some(b'T') => TransactionStatus::Open,
                    Some(b'E') => TransactionStatus::Failed,
                    _ => return Err(wrong("a status")),
                };
                Some(Event::Ready)
            }
            b'S' => {
                let pair = (message::text(&mut body), message::text(&mut body));
                let (Some(name), Some(value)) = pair else { return Err(wrong("a setting")) };
                self.parameters.insert(name, value);
                None
            }
            b'K' => {
                let pair = (body.try_get_i32(), body.try_get_i32());
                let (Ok(process), Ok(secret)) = pair else { return Err(wrong("a key")) };
                self.process = Some((process, secret));
                None
            }
            b'A' => Some(Event::Notice(notification(body).ok_or_else(|| wrong("a notification"))?)),
            // CopyDone and EmptyQueryResponse: the next message says the same.
            b'c' | b'I' => None,
            _ => return Err(wrong("a message")),
        })
    }
}

/// Decodes a notification as a notice.
fn notification(mut body: Bytes) -> Option<SqlError> {
    let process = body.try_get_i32().ok()?;
    let (channel, payload) = (message::text(&mut body)?, message::text(&mut body)?);
    let message = format!("notification \"{channel}\" from process {process}: {payload}");
    Some(SqlError::notice("NOTICE", message))
}

/// The values of a row in the server's text format.
pub(crate) fn row_values(row: &Bytes) -> Option<Vec<Option<String>>> {
    let mut values = Vec::new();
    message::values(row, |_, value| {
        values.push(value.map(|value| String::from_utf8_lossy(value).into_owned()));
        Some(())
    })?;
    Some(values)
}
