//! Bytes to a server and frames from it.
//!
//! While it sends it also takes in what comes: a server that answers before it has heard everything does not
//! stop listening, and an error in the middle of a load is seen at once.

use super::message::{self, Frame};
use bytes::{Buf, BytesMut};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Bytes that are read at once.
const READ_BYTES: usize = 128 << 10;
/// While something is sent, not more than this is taken in.
const INCOMING_BYTES_MAX: usize = 1 << 20;

/// A stream of bytes in both directions.
pub(super) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A connection's bytes.
pub(super) struct Channel {
    stream: Box<dyn Duplex>,
    incoming: BytesMut,
    /// What is to be sent by [`Self::flush`].
    pub(super) outgoing: BytesMut,
    ended: bool,
    /// Why it ended, told once everything that came before is taken.
    failure: Option<io::Error>,
}

impl Channel {
    /// A channel on a connection that has been made.
    pub(super) fn new(stream: Box<dyn Duplex>) -> Self {
        let (incoming, outgoing) = (BytesMut::with_capacity(READ_BYTES), BytesMut::new());
        Self { stream, incoming, outgoing, ended: false, failure: None }
    }

    /// Sends everything that is to be sent.
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

    /// Takes in what has come, without waiting.
    pub(super) async fn look(&mut self) {
        poll_fn(|context| {
            while !self.ended && self.poll_read(context).is_ready() {}
            Poll::Ready(())
        })
        .await;
    }

    /// Takes in everything until the server ends the connection.
    #[cfg(test)]
    pub(super) async fn hear_the_end(&mut self) {
        while !self.ended {
            poll_fn(|context| self.poll_read(context)).await;
        }
    }

    /// The next frame, if it has come already.
    pub(super) fn arrived(&mut self) -> io::Result<Option<Frame>> {
        message::take(&mut self.incoming)
    }

    /// Whether something has come that is not yet taken.
    pub(super) fn has_arrived(&self) -> bool {
        !self.incoming.is_empty()
    }

    /// Whether the server has ended the connection.
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// The next frame.
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

    /// Ends the connection.
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
                // A server that goes does not always say so before it closes.
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
