//! One client's connection after it has logged in: messages in, answers out.
//!
//! What is received is handled message by message; what is answered is gathered and sent when the client
//! waits for it: once for everything that came together. Rows are sent as they fill a buffer.

use super::backend::Output;
use super::error::Ending;
use super::extended::Answer;
use super::held::Held;
use super::portal::Portal;
use super::prepared::Prepared;
use super::{Listener, Stopping};
use frontend::Frames;
use frontend::Message;
use query::{Control, Error, Session, SettingsSeen, SqlState, StatementKind, TransactionStatus};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

/// Answers are sent before the client waits for them when they fill so many bytes.
const OUTPUT_BYTES: usize = 64 << 10;
/// A buffer that has grown beyond this is given back when the client is waited for.
const OUTPUT_BYTES_KEPT: usize = 16 << 10;

/// Received bytes that do not count as memory that a client takes.
const MESSAGE_BYTES_FREE: usize = 1 << 20;

/// Bytes of a message's type and length.
const HEADER_BYTES: usize = 5;

/// A byte stream in both directions: plain or encrypted.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// Both directions of a connection with what is buffered.
pub(crate) struct Wire<S> {
    pub(crate) stream: S,
    /// Where the client is.
    pub(crate) client: Option<SocketAddr>,
    pub(crate) frames: Frames,
    pub(crate) out: Output,
    /// Bytes that were sent and are not counted yet.
    pub(crate) sent: usize,
    /// Bytes of `out` that have gone: whoever gives up waiting for the rest leaves them so.
    gone: usize,
    /// What a large message takes while it comes and is handled; nobody before a session has begun.
    pub(crate) held: Option<Held>,
}

impl<S: Stream> Wire<S> {
    pub(crate) fn new(stream: S, client: Option<SocketAddr>) -> Self {
        Self {
            stream,
            client,
            frames: Frames::new(),
            out: Output::default(),
            sent: 0,
            gone: 0,
            held: None,
        }
    }

    /// Sends everything that is gathered.
    pub(crate) async fn flush(&mut self) -> Result<(), Ending> {
        if self.out.0.is_empty() {
            return Ok(());
        }
        while self.gone < self.out.0.len() {
            match self.stream.write(&self.out.0[self.gone..]).await? {
                0 => return Err(Ending::Closed),
                bytes => self.gone += bytes,
            }
        }
        self.stream.flush().await?;
        self.sent += std::mem::take(&mut self.gone);
        self.out.0.clear();
        Ok(())
    }

    /// Sends what is gathered if it is much.
    pub(crate) async fn flush_if_full(&mut self) -> Result<(), Ending> {
        match self.out.0.len() >= OUTPUT_BYTES {
            true => self.flush().await,
            false => Ok(()),
        }
    }

    /// Sends what is gathered if it is much. A statement that is cancelled or out of time ends also while
    /// its client takes no rows: what is left is sent with the error.
    pub(crate) async fn flush_if_full_until(&mut self, control: &Control) -> Answer {
        tokio::select! {
            biased;
            flushed = self.flush_if_full() => flushed.map(Ok),
            error = control.ended() => Ok(Err(error)),
        }
    }

    /// Waits until something comes.
    pub(crate) async fn receive(&mut self) -> Result<(), Ending> {
        match self.stream.read_buf(self.frames.buffer()).await? {
            0 => Err(Ending::Closed),
            bytes => {
                self.frames.received(bytes);
                self.account()
            }
        }
    }

    /// Holds what a large message takes, or gives back what one has taken.
    fn account(&mut self) -> Result<(), Ending> {
        let waiting = self.frames.waiting();
        let bytes = if waiting > MESSAGE_BYTES_FREE { waiting } else { 0 };
        match &mut self.held {
            Some(held) => held.set(bytes).map_err(Ending::Fatal),
            None => Ok(()),
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
    pub(crate) listener: Arc<Listener>,
    pub(crate) statements: HashMap<String, Arc<Prepared>>,
    pub(crate) portals: HashMap<String, Portal>,
    /// Answers are due as soon as nothing more is there to handle.
    flush_due: bool,
    /// A message of a group has failed: the others are passed over.
    pub(crate) skipping: bool,
    /// The values that the client was last told of the settings that it follows.
    pub(crate) reported: Vec<(&'static str, String)>,
    settings_seen: SettingsSeen,
}

impl<S: Stream> Connection<S> {
    pub(crate) fn new(wire: Wire<S>, session: Session, listener: Arc<Listener>) -> Self {
        Self {
            wire,
            session,
            listener,
            statements: HashMap::new(),
            portals: HashMap::new(),
            flush_due: false,
            skipping: false,
            reported: Vec::new(),
            settings_seen: SettingsSeen::default(),
        }
    }

    /// Serves the client until one side has enough.
    pub(crate) async fn serve(mut self, stopping: Stopping) {
        let terminated = self.session.clone();
        let ending = tokio::select! {
            ending = self.converse(&stopping.soon) => ending,
            () = stopping.now.cancelled() => shut_down(),
            () = terminated.terminated() => shut_down(),
        };
        if let Ending::Io(error) = &ending {
            tracing::debug!(%error, "a connection broke");
        }
        if let Ending::Fatal(error) = ending {
            self.listener.metrics.error(error.state());
            self.wire.out.error("FATAL", &error, 0);
            let _ = tokio::time::timeout(Duration::from_secs(1), self.wire.flush()).await;
        }
        let _ = self.wire.stream.shutdown().await;
    }

    async fn converse(&mut self, stop: &CancellationToken) -> Ending {
        loop {
            let step = self.step().await;
            let waited = match step {
                Err(ending) => return ending,
                Ok(()) => tokio::select! {
                    waited = self.wait() => waited,
                    () = stop.cancelled() => return shut_down(),
                },
            };
            if let Err(ending) = waited {
                return ending;
            }
        }
    }

    /// Handles everything that is there, and answers.
    async fn step(&mut self) -> Result<(), Ending> {
        while let Some((kind, body)) = self.wire.frames.next()? {
            self.listener.metrics.received(body.len() + HEADER_BYTES);
            let message = Message::decode(kind, body)?;
            self.handle(message).await?;
            self.wire.flush_if_full().await?;
        }
        if std::mem::take(&mut self.flush_due) {
            self.wire.flush().await?;
        }
        self.wire.account()?;
        self.listener.metrics.sent(std::mem::take(&mut self.wire.sent));
        Ok(())
    }

    /// Waits for the client, but not for ever inside a transaction.
    async fn wait(&mut self) -> Result<(), Ending> {
        // What is not due yet waits for the rest of its group.
        if self.wire.out.0.is_empty() && self.wire.out.0.capacity() > OUTPUT_BYTES_KEPT {
            self.wire.out = Output::default();
        }
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
            Message::Terminate => {
                // What was asked before is answered: the client may have stopped writing only.
                self.wire.flush().await?;
                return Err(Ending::Closed);
            }
            Message::Sync => return self.sync().await,
            _ if self.skipping => return Ok(()),
            Message::Flush => self.flush_due = true,
            Message::Query(text) => {
                Box::pin(self.simple_query(&text)).await?;
                self.end_if_terminated()?;
                self.ready().await;
            }
            Message::FunctionCall => {
                let error = Error::unsupported("fastpath function calls are not supported");
                self.fail(&error.with_hint("Call the function in a SELECT."), 0).await;
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
        self.end_if_terminated()?;
        self.ready().await;
        Ok(())
    }

    /// A session that has ended itself is not ready for more.
    fn end_if_terminated(&self) -> Result<(), Ending> {
        match self.session.is_terminated() {
            true => Err(shut_down()),
            false => Ok(()),
        }
    }

    /// Commits what statements that came together have done.
    pub(crate) async fn end_group(&mut self) {
        if let Err(error) = self.session.end_implicit().await {
            self.fail(&error, 0).await;
        }
        let status = self.session.transaction_status().await;
        if status == TransactionStatus::Idle && !self.portals.is_empty() {
            self.portals.retain(|_, portal| portal.is_committed);
        }
    }

    /// Tells the client that it may go on.
    async fn ready(&mut self) {
        let status = self.session.settle().await;
        if self.session.settings_changed(&mut self.settings_seen) {
            self.report_settings();
        }
        self.session.rests(status);
        self.wire.out.ready(status);
        self.flush_due = true;
    }

    /// Counts a statement that is complete, and logs it if it was slow.
    pub(crate) fn count(&self, kind: StatementKind, text: &str, since: Instant, rows: usize) {
        let time = since.elapsed();
        self.listener.metrics.statement(kind, time, rows as u64);
        if self.listener.slow_statement.is_some_and(|limit| time > limit) {
            let milliseconds = time.as_secs_f64() * 1e3;
            tracing::warn!(milliseconds, rows, statement = text, "slow statement");
        }
    }

    /// Tells the client of an error; the transaction, if one is open, has failed.
    pub(crate) async fn fail(&mut self, error: &Error, offset: usize) {
        self.notices();
        self.session.fail().await;
        self.listener.metrics.error(error.state());
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
    fn report_settings(&mut self) {
        for (name, value) in &mut self.reported {
            let Some(now) = self.session.setting(&name.to_lowercase()) else { continue };
            if now != *value {
                self.wire.out.parameter_status(name, &now);
                *value = now;
            }
        }
    }
}

fn shut_down() -> Ending {
    let message = "terminating connection due to administrator command";
    Ending::Fatal(Error::new(SqlState::AdminShutdown, message))
}
