//! One client's connection after it has logged in: messages in, answers out.
//!
//! What is received is handled message by message; what is answered is gathered and sent when the client
//! waits for it: once for everything that came together. Rows are sent as they fill a buffer.

use super::Door;
use super::backend::Output;
use super::error::Ending;
use super::extended::{Portal, Prepared};
use super::frames::Frames;
use super::frontend::Message;
use query::{Error, Session, SqlState, TransactionStatus};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

/// Answers are sent before the client waits for them when they fill so many bytes.
const OUTPUT_BYTES: usize = 64 << 10;
/// A buffer that has grown beyond this is given back when it is empty.
const OUTPUT_BYTES_KEPT: usize = 256 << 10;

/// A byte stream in both directions: plain or encrypted.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// Both directions of a connection with what is buffered.
pub(crate) struct Wire<S> {
    pub(crate) stream: S,
    pub(crate) frames: Frames,
    pub(crate) out: Output,
    /// How often something was sent.
    pub(crate) flushes: u64,
}

impl<S: Stream> Wire<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, frames: Frames::new(), out: Output::default(), flushes: 0 }
    }

    /// Sends everything that is gathered.
    pub(crate) async fn flush(&mut self) -> Result<(), Ending> {
        if self.out.0.is_empty() {
            return Ok(());
        }
        self.flushes += 1;
        self.stream.write_all(&self.out.0).await?;
        self.stream.flush().await?;
        match self.out.0.capacity() > OUTPUT_BYTES_KEPT {
            true => self.out.0 = bytes::BytesMut::new(),
            false => self.out.0.clear(),
        }
        Ok(())
    }

    /// Sends what is gathered if it is much.
    pub(crate) async fn flush_if_full(&mut self) -> Result<(), Ending> {
        match self.out.0.len() >= OUTPUT_BYTES {
            true => self.flush().await,
            false => Ok(()),
        }
    }

    /// Waits until something comes.
    pub(crate) async fn receive(&mut self) -> Result<(), Ending> {
        match self.stream.read_buf(self.frames.buffer()).await? {
            0 => Err(Ending::Closed),
            _ => Ok(()),
        }
    }

    /// The next message, waiting for it.
    pub(crate) async fn message(&mut self) -> Result<Message, Ending> {
        loop {
            if let Some((kind, body)) = self.frames.next()? {
                return Ok(Message::decode(kind, body)?);
            }
            self.receive().await?;
        }
    }
}

/// A client's session.
pub(crate) struct Connection<S> {
    pub(crate) wire: Wire<S>,
    pub(crate) session: Session,
    pub(crate) door: Arc<Door>,
    pub(crate) statements: HashMap<String, Arc<Prepared>>,
    pub(crate) portals: HashMap<String, Portal>,
    /// Answers are due as soon as nothing more is there to handle.
    flush_due: bool,
    /// A message of a group has failed: the others are passed over.
    pub(crate) skipping: bool,
    /// The values that the client was last told of the settings that it follows.
    pub(crate) reported: Vec<(&'static str, String)>,
}

impl<S: Stream> Connection<S> {
    pub(crate) fn new(wire: Wire<S>, session: Session, door: Arc<Door>) -> Self {
        Self {
            wire,
            session,
            door,
            statements: HashMap::new(),
            portals: HashMap::new(),
            flush_due: false,
            skipping: false,
            reported: Vec::new(),
        }
    }

    /// Serves the client until one side has enough.
    pub(crate) async fn serve(mut self, stop: CancellationToken) {
        let ending = tokio::select! {
            ending = self.converse() => ending,
            () = stop.cancelled() => Ending::Fatal(Error::new(
                SqlState::AdminShutdown,
                "terminating connection due to administrator command",
            )),
        };
        if let Ending::Fatal(error) = ending {
            self.wire.out.error("FATAL", &error, 0);
            let _ = tokio::time::timeout(Duration::from_secs(1), self.wire.flush()).await;
        }
        let _ = self.wire.stream.shutdown().await;
    }

    async fn converse(&mut self) -> Ending {
        loop {
            if let Err(ending) = self.step().await {
                return ending;
            }
        }
    }

    /// Handles everything that is there, answers, and waits for more.
    async fn step(&mut self) -> Result<(), Ending> {
        while let Some((kind, body)) = self.wire.frames.next()? {
            let message = Message::decode(kind, body)?;
            self.handle(message).await?;
            self.wire.flush_if_full().await?;
        }
        if std::mem::take(&mut self.flush_due) {
            self.wire.flush().await?;
        }
        self.wait().await
    }

    /// Waits for the client, but not for ever inside a transaction.
    async fn wait(&mut self) -> Result<(), Ending> {
        let open = self.session.transaction_status().await != TransactionStatus::Idle;
        let limit = match open {
            true => self.session.idle_in_transaction_timeout(),
            false => self.session.idle_timeout(),
        };
        let Some(limit) = limit else { return self.wire.receive().await };
        match tokio::time::timeout(limit, self.wire.receive()).await {
            Ok(received) => received,
            Err(_) => Err(Ending::Fatal(match open {
                true => Error::new(
                    SqlState::IdleInTransactionSessionTimeout,
                    "terminating connection due to idle-in-transaction timeout",
                ),
                false => Error::new(
                    SqlState::IdleSessionTimeout,
                    "terminating connection due to idle-session timeout",
                ),
            })),
        }
    }

    async fn handle(&mut self, message: Message) -> Result<(), Ending> {
        match message {
            Message::Terminate => return Err(Ending::Closed),
            Message::Sync => return self.sync().await,
            _ if self.skipping => return Ok(()),
            Message::Flush => self.flush_due = true,
            Message::Query(text) => {
                self.simple_query(&text).await?;
                self.ready().await;
            }
            // What a client sends after COPY has failed under it is passed over.
            Message::CopyData(_) | Message::CopyDone | Message::CopyFail(_) => {}
            other => {
                if let Err(error) = self.extended(other).await? {
                    self.fail(&error, 0).await;
                    self.skipping = true;
                }
            }
        }
        Ok(())
    }

    /// The end of a group of messages: its transaction is committed if it was none of the client's own.
    async fn sync(&mut self) -> Result<(), Ending> {
        self.skipping = false;
        self.end_group().await;
        self.ready().await;
        Ok(())
    }

    /// Commits what statements that came together have done.
    pub(crate) async fn end_group(&mut self) {
        if let Err(error) = self.session.end_implicit().await {
            self.fail(&error, 0).await;
        }
        if self.session.transaction_status().await == TransactionStatus::Idle {
            self.portals.retain(|_, portal| portal.hold);
        }
    }

    /// Tells the client that it may go on.
    async fn ready(&mut self) {
        self.report_settings();
        let status = self.session.transaction_status().await;
        self.wire.out.ready(status);
        self.flush_due = true;
    }

    /// Tells the client of an error; the transaction, if one is open, has failed.
    pub(crate) async fn fail(&mut self, error: &Error, offset: usize) {
        self.notices();
        self.session.fail().await;
        self.wire.out.error("ERROR", error, offset);
        // A client that asked for answers with Flush waits for this one.
        self.flush_due = true;
    }

    /// What is gathered is sent as soon as nothing more is there to handle.
    pub(crate) fn flush_due(&mut self) {
        self.flush_due = true;
    }

    /// Passes on what statements had to say.
    pub(crate) fn notices(&mut self) {
        for notice in self.session.take_notices() {
            self.wire.out.notice(&notice);
        }
    }

    /// Tells the client of settings that it follows and that have changed.
    pub(crate) fn report_settings(&mut self) {
        for (name, value) in &mut self.reported {
            let Some(now) = self.session.setting(&name.to_lowercase()) else { continue };
            if now != *value {
                self.wire.out.parameter_status(name, &now);
                *value = now;
            }
        }
    }
}
