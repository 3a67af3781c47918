//! What frames travel over: TCP, plain or encrypted, as a half to read and a half to write.

use tokio::io::{AsyncRead, AsyncWrite};

/// A connection in both directions.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A connection after its first words.
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
