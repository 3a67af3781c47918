//! A byte stream for frames: TCP, plain or encrypted, split into a reading and a writing half.

use tokio::io::{AsyncRead, AsyncWrite};

/// A bidirectional byte stream.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A connection after its handshake.
pub(super) struct Transport {
    pub(super) read: Box<dyn AsyncRead + Send + Unpin>,
    pub(super) write: Box<dyn AsyncWrite + Send + Unpin>,
}

impl Transport {
    pub(super) fn plain(stream: tokio::net::TcpStream) -> Self {
        let (read, write) = stream.into_split();
        Self { read: Box::new(read), write: Box::new(write) }
    }

    pub(super) fn encrypted(stream: impl Stream + 'static) -> Self {
        let (read, write) = tokio::io::split(stream);
        Self { read: Box::new(read), write: Box::new(write) }
    }
}
