//! A session of a server: statements go there as texts, and what comes back is understood message by message.
//!
//! Values come as the server writes them. After [`Event::Ready`] the next statement can be sent, and not before.

use super::cancel::Key;
use super::channel::Channel;
use super::message::{self, Described, Frame, malformed};
use crate::trouble::SqlError;
use bytes::{Buf, Bytes};
use pando::TransactionStatus;
use postgres_protocol::message::frontend;
use std::collections::BTreeMap;
use std::io;
use tokio_postgres::config::Host;

/// One step of the answer to a statement.
#[derive(Debug)]
pub(crate) enum Event {
    /// Rows will come, with these columns.
    Columns(Vec<Described>),
    /// A row; [`row_values`] reads it.
    Row(Bytes),
    /// A statement is complete: its tag.
    Done(String),
    /// A statement has failed.
    Failed(SqlError),
    /// Something that the server has to say.
    Notice(SqlError),
    /// The server waits for COPY's data.
    CopyIn,
    /// COPY's data will come.
    CopyOut,
    /// Some of COPY's data.
    Data(Bytes),
    /// Everything is answered.
    Ready,
}

/// An open connection.
pub(crate) struct Connection {
    channel: Channel,
    /// Where it goes to, for messages.
    address: String,
    encrypted: bool,
    process: Option<(i32, i32)>,
    parameters: BTreeMap<String, String>,
    status: TransactionStatus,
    waiting: bool,
    over: bool,
}

impl Connection {
    /// A connection on which the server knows who we are.
    pub(super) fn new(channel: Channel, address: String, encrypted: bool) -> Self {
        let (process, parameters) = (None, BTreeMap::new());
        let status = TransactionStatus::Idle;
        let (waiting, over) = (false, false);
        Self { channel, address, encrypted, process, parameters, status, waiting, over }
    }

    /// Whether listeners are kept out.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.encrypted
    }

    /// Whether the server has ended it.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Whether a transaction is open, as the server said last.
    pub(crate) fn status(&self) -> TransactionStatus {
        self.status
    }

    /// A setting that the server reports, like `server_version`.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }

    /// What cancels a statement of this session, which is at a place.
    pub(super) fn key(&self, place: &(Host, u16)) -> Option<Key> {
        let (process, secret) = self.process?;
        Some(Key { place: place.clone(), process, secret })
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

    /// Whether something that was sent is not answered to its end.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// Sends a part of COPY's data.
    pub(crate) async fn send_data(&mut self, data: &[u8]) -> Result<(), SqlError> {
        let message = frontend::CopyData::new(data);
        let message = message.map_err(|error| SqlError::new("54000", error.to_string()))?;
        message.write(&mut self.channel.outgoing);
        self.flush().await
    }

    /// COPY's data is complete, or given up for a reason.
    pub(crate) async fn end_data(&mut self, evicted: Option<&str>) -> Result<(), SqlError> {
        match evicted {
            None => frontend::copy_done(&mut self.channel.outgoing),
            Some(reason) => {
                let queued = frontend::copy_fail(reason, &mut self.channel.outgoing);
                queued.map_err(|error| SqlError::new("22021", error.to_string()))?;
            }
        }
        self.flush().await
    }

    /// The next step, when it has come.
    pub(crate) async fn receive(&mut self) -> Result<Event, SqlError> {
        loop {
            match self.channel.frame().await.and_then(|frame| self.understand(frame)) {
                Ok(Some(event)) => return Ok(event),
                Ok(None) => {}
                Err(error) => return Err(self.lost(&error)),
            }
        }
    }

    /// The next step, if it has come already.
    pub(crate) fn arrived(&mut self) -> Result<Option<Event>, SqlError> {
        loop {
            let Some(frame) = self.channel.arrived().map_err(|error| self.lost(&error))? else {
                return Ok(None);
            };
            if let Some(event) = self.understand(frame).map_err(|error| self.lost(&error))? {
                return Ok(Some(event));
            }
        }
    }

    /// Waits until the server has ended the connection. What it says before is kept for whoever looks.
    #[cfg(test)]
    pub(crate) async fn hear_the_end(&mut self) {
        self.channel.hear_the_end().await;
    }

    /// Looks whether the server has ended the connection while nothing was asked of it; notices are handed out.
    pub(crate) async fn look(&mut self) -> Result<Vec<SqlError>, SqlError> {
        self.channel.look().await;
        let mut notices = Vec::new();
        while let Some(event) = self.arrived()? {
            match event {
                Event::Notice(notice) => notices.push(notice),
                Event::Failed(trouble) => return Err(self.lost_for(trouble.message)),
                _ => {}
            }
        }
        match self.channel.ended() {
            true => Err(self.lost_for("the server has closed it")),
            false => Ok(notices),
        }
    }

    /// Skips what comes until everything is answered; the first error in it comes back.
    pub(crate) async fn settle(&mut self) -> Result<(), SqlError> {
        let mut failed = None;
        loop {
            match self.receive().await {
                Ok(Event::Ready) => return failed.map_or(Ok(()), Err),
                Ok(Event::CopyIn) => self.end_data(Some("there is no data")).await?,
                Ok(Event::Failed(trouble)) => failed = failed.or(Some(trouble)),
                Ok(_) => {}
                Err(lost) => return Err(failed.unwrap_or(lost)),
            }
        }
    }

    /// Whether something has come that is not yet taken.
    pub(crate) fn has_arrived(&self) -> bool {
        self.channel.has_arrived()
    }

    /// Nobody waits for this server any longer.
    pub(crate) fn give_up_on(&mut self) -> SqlError {
        self.lost_for("Ctrl-C, and the server does not answer")
    }

    /// Says goodbye. Whether the server hears it does not matter to us.
    pub(crate) async fn close(mut self) {
        frontend::terminate(&mut self.channel.outgoing);
        let _ = self.channel.close().await;
    }

    async fn flush(&mut self) -> Result<(), SqlError> {
        self.channel.flush().await.map_err(|error| self.lost(&error))
    }

    /// What is lost, and why: the server's last words say more than the socket's.
    fn lost(&mut self, error: &io::Error) -> SqlError {
        self.over = true;
        while let Ok(Some(Frame { tag, body })) = self.channel.arrived() {
            if let (b'E', Some(words)) = (tag, message::trouble(body)) {
                return self.lost_for(words.message);
            }
        }
        self.lost_for(error.to_string())
    }

    fn lost_for(&mut self, reason: impl Into<String>) -> SqlError {
        self.over = true;
        SqlError::lost(&self.address, reason.into())
    }

    fn understand(&mut self, Frame { tag, mut body }: Frame) -> io::Result<Option<Event>> {
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
                let trouble = message::trouble(body).ok_or_else(|| wrong("an error"))?;
                self.over |= matches!(trouble.severity.as_str(), "FATAL" | "PANIC");
                Some(Event::Failed(trouble))
            }
            b'N' => Some(Event::Notice(message::trouble(body).ok_or_else(|| wrong("a notice"))?)),
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
            // The end of COPY's data, and nothing in answer to nothing: what follows says the same.
            b'c' | b'I' => None,
            _ => return Err(wrong("a message")),
        })
    }
}

/// What another session has sent, as something to be told.
fn notification(mut body: Bytes) -> Option<SqlError> {
    let process = body.try_get_i32().ok()?;
    let (channel, payload) = (message::text(&mut body)?, message::text(&mut body)?);
    let message = format!("notification \"{channel}\" from process {process}: {payload}");
    Some(SqlError::notice("NOTICE", message))
}

/// The values of a row, each as the server writes it.
pub(crate) fn row_values(row: &Bytes) -> Option<Vec<Option<String>>> {
    let mut values = Vec::new();
    message::values(row, |_, value| {
        values.push(value.map(|value| String::from_utf8_lossy(value).into_owned()));
        Some(())
    })?;
    Some(values)
}
