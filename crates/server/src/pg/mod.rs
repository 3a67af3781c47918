//! The PostgreSQL wire protocol, version 3.
//!
//! ```text
//! bytes -> frames -> frontend (messages) -> connection -> query::Session
//! bytes <- backend (Output)  <- rows, copy  <-----+
//! ```
//!
//! Messages are decoded here and not by a library, since a client can send anything: nothing is allocated
//! from a declared length, texts must be UTF-8, and no message can make a decoder panic. What a client
//! sends costs at most its own connection.

mod auth;
mod backend;
mod cancel;
mod connection;
mod copy;
mod cursors;
mod error;
mod extended;
mod frames;
mod frontend;
mod oid;
mod parameters;
mod rows;
mod simple;
mod startup;
mod steer;

use cancel::Cancels;
use query::Database;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// What a client may take.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of a message.
    pub message_bytes_max: usize,
    /// Time from the first byte to the end of log-in.
    pub startup_timeout: Duration,
    /// Connections at a time.
    pub connections_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes_max: 16 << 20,
            startup_timeout: Duration::from_secs(60),
            connections_max: 10_000,
        }
    }
}

/// The door: what all its connections share.
pub struct Door {
    database: Database,
    limits: Limits,
    tls: Option<TlsAcceptor>,
    cancels: Arc<Cancels>,
    places: Semaphore,
    /// What somebody who does not exist is challenged with.
    nobody: String,
}

impl Door {
    /// A door to a database.
    pub fn new(database: Database, limits: Limits, tls: Option<TlsAcceptor>) -> Arc<Self> {
        let places = Semaphore::new(limits.connections_max.min(Semaphore::MAX_PERMITS));
        Arc::new(Self {
            database,
            limits,
            tls,
            cancels: Arc::default(),
            places,
            nobody: auth::nobody(),
        })
    }

    /// Takes connections until `stop`, then waits for those that are open to end. They are told to
    /// end when `end` comes.
    ///
    /// # Errors
    /// Only when the listener itself fails for good.
    pub async fn serve(
        self: &Arc<Self>,
        listener: TcpListener,
        stop: CancellationToken,
        end: CancellationToken,
    ) -> io::Result<()> {
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                // A connection's end, even by a panic, is nobody else's business.
                Some(_) = connections.join_next() => continue,
                () = stop.cancelled() => break,
            };
            match accepted {
                Ok((stream, _)) => {
                    let _ = stream.set_nodelay(true);
                    let (door, end) = (Arc::clone(self), end.clone());
                    connections.spawn(async move { door.take(stream, end).await });
                }
                // Out of descriptors or the like: what is open goes on, and later there is room again.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
        drop(listener);
        while connections.join_next().await.is_some() {}
        Ok(())
    }

    async fn take(self: Arc<Self>, stream: tokio::net::TcpStream, end: CancellationToken) {
        let door = Arc::clone(&self);
        let Ok(_place) = door.places.try_acquire() else {
            return startup::turn_away(stream).await;
        };
        startup::serve(stream, self, end).await;
    }
}
