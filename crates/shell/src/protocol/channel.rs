//! Sends bytes to a server and receives frames.
//!
//! It also receives while it sends. So a server that answers before it has read everything is not blocked, and an error in
//! the middle of a load is noticed at once.

use super::message::{self, Frame};
use super::socket::Duplex;
use bytes::{Buf, BytesMut};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Bytes of one read.
const READ_BYTES: usize = 128 << 10;
/// Maximum number of bytes that are received while sending.
const INCOMING_BYTES_MAX: usize = 1 << 20;

/// The byte stream of a connection, with its buffers.
pub(super) struct Channel {
    stream: Box<dyn Duplex>,
    incoming: BytesMut,
    /// Bytes that [`Self::flush`] sends.
    pub(super) outgoing: BytesMut,
    ended: bool,
    /// Why the stream ended. Returned after all received frames.
    failure: Option<io::Error>,
}

impl Channel {
    /// A channel on an open stream.
    pub(super) fn new(stream: Box<dyn Duplex>) -> Self {
        let (incoming, outgoing) = (BytesMut::with_capacity(READ_BYTES), BytesMut::new());
        Self { stream, incoming, outgoing, ended: false, failure: None }
    }

    /// Sends all of `outgoing`.
    pub(super) async fn flush(&mut self) -> io::Result<()> {
        poll_fn(|context| {
            let sent = self.poll_send(context)?;
            while self.incoming.len() < INCOMING_BYTES_MAX
                && !self.ended
                && self.poll_read(context).is_ready()
            {}
            match sent {
                Poll::Pending if self.ended => Poll::Ready(Err(self.end())),
                sent => sent.map(Ok),
            }
        })
        .await
    }

    /// Receives what has arrived, without waiting.
    pub(super) async fn poll(&mut self) {
        poll_fn(|context| {
            while !self.ended && self.poll_read(context).is_ready() {}
            Poll::Ready(())
        })
        .await;
    }

    /// Receives until the server closes the connection.
    #[cfg(test)]
    pub(super) async fn receive_to_end(&mut self) {
        while !self.ended {
            poll_fn(|context| self.poll_read(context)).await;
        }
    }

    /// The next frame, if it has arrived.
    pub(super) fn arrived(&mut self) -> io::Result<Option<Frame>> {
        message::take(&mut self.incoming)
    }

    /// Whether received bytes are not consumed yet.
    pub(super) fn has_arrived(&self) -> bool {
        !self.incoming.is_empty()
    }

    /// Whether the server has closed the connection.
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// Waits for the next frame.
    pub(super) async fn frame(&mut self) -> io::Result<Frame> {
        loop {
            if let Some(frame) = self.arrived()? {
                return Ok(frame);
            }
            if self.ended {
                return Err(self.end());
            }
            poll_fn(|context| self.poll_read(context)).await;
        }
    }

    /// Sends `outgoing` and closes the connection.
    pub(super) async fn close(&mut self) -> io::Result<()> {
        self.stream.write_all(&self.outgoing).await?;
        self.stream.shutdown().await
    }

    fn poll_send(&mut self, context: &mut Context<'_>) -> io::Result<Poll<()>> {
        while self.outgoing.has_remaining() {
            match Pin::new(&mut self.stream).poll_write(context, &self.outgoing)? {
                Poll::Ready(0) => return Err(closed()),
                Poll::Ready(sent) => self.outgoing.advance(sent),
                Poll::Pending => return Ok(Poll::Pending),
            }
        }
        Ok(Pin::new(&mut self.stream).poll_flush(context)?)
    }

    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.incoming.reserve(READ_BYTES);
        pin!(self.stream.read_buf(&mut self.incoming)).poll(context).map(|read| match read {
            Ok(0) => self.ended = true,
            Ok(_) => {}
            Err(error) => {
                self.ended = true;
                // Some servers close a TLS connection without a notification.
                let broken = error.kind() != io::ErrorKind::UnexpectedEof;
                self.failure = Some(error).filter(|_| broken);
            }
        })
    }

    fn end(&mut self) -> io::Error {
        self.failure.take().unwrap_or_else(closed)
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the server has closed it")
}
