//! A client's byte stream with its buffers.

use super::backend::Output;
use super::error::{Answer, Ending};
use super::held::Held;
use frontend::{Frames, Message};
use query::Control;
use std::net::SocketAddr;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Answers are sent before the client waits for them when they fill so many bytes.
const OUTPUT_BYTES: usize = 64 << 10;
/// Received bytes that do not count as memory that a client takes.
const MESSAGE_BYTES_FREE: usize = 1 << 20;

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
        if self.out.0.len() >= OUTPUT_BYTES { self.flush().await } else { Ok(()) }
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
    pub(super) fn account(&mut self) -> Result<(), Ending> {
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
