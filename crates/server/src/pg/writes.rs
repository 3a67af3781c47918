//! Tests that a connection writes once for each group of messages.

use super::connection::Connection;
use super::gone::Presence;
use super::wire::Wire;
use super::{Listener, ListenerOptions, Stopping};
use crate::metrics::Metrics;
use query::{Database, Options};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf};
use tokio_util::sync::CancellationToken;

/// A stream that counts its writes.
struct Counting {
    stream: DuplexStream,
    writes: Arc<AtomicUsize>,
}

impl AsyncRead for Counting {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Counting {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if written.is_ready() {
            self.writes.fetch_add(1, Ordering::SeqCst);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).expect("short").to_be_bytes();
    [&[kind][..], &length, body].concat()
}

/// The messages of one statement, including Sync.
fn statement() -> Vec<u8> {
    [
        message(b'P', b"\0SELECT 1\0\0\0"),
        message(b'B', b"\0\0\0\0\0\0\0\0"),
        message(b'D', b"P\0"),
        message(b'E', b"\0\0\0\0\0"),
        message(b'S', b""),
    ]
    .concat()
}

#[tokio::test]
async fn what_comes_together_is_answered_by_one_write() {
    let database = Database::open(Options::default()).expect("opened");
    let session = database.session();
    let metrics = Arc::new(Metrics::new());
    let listener =
        Listener::new(database, ListenerOptions::default(), metrics).expect("a listener");
    let (mut client, stream) = tokio::io::duplex(1 << 20);
    let writes = Arc::new(AtomicUsize::new(0));
    let mut wire = Wire::new(Counting { stream, writes: Arc::clone(&writes) }, None);
    wire.frames.limit = 1 << 20;
    let stopping = Stopping { soon: CancellationToken::new(), now: CancellationToken::new() };
    let served =
        tokio::spawn(Connection::new(wire, session, listener).serve(Presence::lasting(), stopping));
    let rounds = [
        (message(b'Q', b"SELECT 1; SELECT 2; SELECT 3\0"), 1),
        (statement(), 1),
        ([statement(), statement(), statement()].concat(), 3),
        ([message(b'Q', b"SELECT 1\0"), message(b'Q', b"SELECT 1/0\0")].concat(), 2),
    ];
    for (bytes, groups) in rounds {
        let before = writes.load(Ordering::SeqCst);
        client.write_all(&bytes).await.expect("sent");
        for _ in 0..groups {
            let mut kind = 0;
            while kind != b'Z' {
                kind = client.read_u8().await.expect("a type");
                let length = client.read_u32().await.expect("a length") as usize;
                client.read_exact(&mut vec![0; length - 4]).await.expect("a body");
            }
        }
        assert_eq!(writes.load(Ordering::SeqCst) - before, 1, "{groups} groups");
    }
    drop(client);
    served.await.expect("ended");
}
