//! A client's byte stream with its buffers.

use super::backend::Output;
use super::error::{Answer, Ending};
use super::held::Held;
use frontend::{Frames, Message};
use query::Control;
use std::net::SocketAddr;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Received bytes that do not count as memory of the client.
const MESSAGE_BYTES_FREE: usize = 1 << 20;

/// A bidirectional byte stream, plain or encrypted.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A connection's stream with its buffers.
pub(crate) struct Wire<S> {
    pub(crate) stream: S,
    /// The client's address.
    pub(crate) client: Option<SocketAddr>,
    pub(crate) frames: Frames,
    pub(crate) out: Output,
    /// Bytes sent and not yet counted in the metrics.
    pub(crate) sent: usize,
    /// Bytes of `out` that are sent. Kept here, so that a cancelled flush can be resumed.
    gone: usize,
    /// Memory for a large message while it is received and handled; `None` before a session has
    /// begun.
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

    /// Sends all buffered output.
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

    /// Sends the buffered output if it is large.
    pub(crate) async fn flush_if_full(&mut self) -> Result<(), Ending> {
        if self.out.is_full() { self.flush().await } else { Ok(()) }
    }

    /// Sends the buffered output if it is large. A cancelled or timed-out statement ends even if
    /// its client reads no rows: the rest is sent with the error.
    pub(crate) async fn flush_if_full_until(&mut self, control: &Control) -> Answer {
        tokio::select! {
            biased;
            flushed = self.flush_if_full() => flushed.map(Ok),
            error = control.ended() => Ok(Err(error)),
        }
    }

    /// Waits for input.
    pub(crate) async fn receive(&mut self) -> Result<(), Ending> {
        match self.stream.read_buf(self.frames.buffer()).await? {
            0 => Err(Ending::Closed),
            bytes => {
                self.frames.received(bytes);
                self.account()
            }
        }
    }

    /// Adjusts the memory held for a large message.
    pub(super) fn account(&mut self) -> Result<(), Ending> {
        let waiting = self.frames.waiting();
        let bytes = if waiting > MESSAGE_BYTES_FREE { waiting } else { 0 };
        match &mut self.held {
            Some(held) => held.set(bytes).map_err(Ending::Fatal),
            None => Ok(()),
        }
    }

    /// Waits for the next message.
    pub(crate) async fn message(&mut self) -> Result<Message, Ending> {
        loop {
            if let Some((kind, body)) = self.frames.next()? {
                return Ok(Message::decode(kind, body)?);
            }
            self.receive().await?;
        }
    }
}
