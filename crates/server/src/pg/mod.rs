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
mod held;
mod lanes;
mod oid;
mod parameters;
mod portal;
mod prepare;
mod prepared;
mod reading;
mod rows;
mod serve;
mod simple;
mod startup;
mod steer;
mod wire;
#[cfg(test)]
mod writes;

pub use oid::type_oid;

use crate::config::Limits;
use crate::metrics::Metrics;
use cancel::Cancels;
use lanes::Lanes;
use query::Database;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// How a door is opened.
#[derive(Default)]
pub struct ListenerOptions {
    /// What a client may take.
    pub limits: Limits,
    /// What encrypts connections, if anything does.
    pub tls: Option<TlsAcceptor>,
    /// Statements that take longer are logged.
    pub slow_statement: Option<Duration>,
}

/// When a connection ends that its client would go on with.
#[derive(Debug, Clone)]
pub(crate) struct Stopping {
    /// As soon as no statement is running.
    pub(crate) soon: CancellationToken,
    /// At once.
    pub(crate) now: CancellationToken,
}

/// The door: what all its connections share.
pub struct Listener {
    database: Database,
    limits: Limits,
    tls: Option<TlsAcceptor>,
    slow_statement: Option<Duration>,
    metrics: Arc<Metrics>,
    cancels: Arc<Cancels>,
    places: Semaphore,
    lanes: Lanes,
    /// What somebody who does not exist is challenged with.
    nobody: String,
}

impl Listener {
    /// A door to a database.
    ///
    /// # Errors
    /// Threads that the system refuses.
    pub fn new(
        database: Database,
        options: ListenerOptions,
        metrics: Arc<Metrics>,
    ) -> io::Result<Arc<Self>> {
        let ListenerOptions { limits, tls, slow_statement } = options;
        let places = Semaphore::new(limits.connections_max.min(Semaphore::MAX_PERMITS));
        let (cancels, nobody) = (Arc::default(), auth::nobody());
        let lanes = Lanes::start()?;
        Ok(Arc::new(Self {
            database,
            limits,
            tls,
            slow_statement,
            metrics,
            cancels,
            places,
            lanes,
            nobody,
        }))
    }

    /// Takes connections until `stop`. Those that are open end then, as soon as they run no statement; at
    /// `end` they all do.
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
                    let stopping = Stopping { soon: stop.clone(), now: end.clone() };
                    self.start(stream, stopping, &mut connections);
                }
                // Out of descriptors or the like: what is open goes on, and later there is room again.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
        drop(listener);
        while connections.join_next().await.is_some() {}
        Ok(())
    }

    /// Gives a connection to one of the threads. One that breaks meanwhile is gone.
    fn start(
        self: &Arc<Self>,
        stream: TcpStream,
        stopping: Stopping,
        connections: &mut JoinSet<()>,
    ) {
        let _ = stream.set_nodelay(true);
        let (Ok(stream), Some((lane, place))) = (stream.into_std(), self.lanes.place()) else {
            return;
        };
        let listener = Arc::clone(self);
        let served = async move {
            let _place = place;
            if let Ok(stream) = TcpStream::from_std(stream) {
                listener.take(stream, stopping).await;
            }
        };
        connections.spawn_on(served, lane);
    }

    async fn take(self: Arc<Self>, stream: TcpStream, stopping: Stopping) {
        let listener = Arc::clone(&self);
        let Ok(_place) = listener.places.try_acquire() else {
            listener.metrics.connection_refused();
            return startup::turn_away(stream).await;
        };
        listener.metrics.connection_opened();
        startup::serve(stream, self, stopping).await;
        listener.metrics.connection_closed();
    }
}
