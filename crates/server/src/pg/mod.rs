//! The PostgreSQL wire protocol, version 3.
//!
//! ```text
//! bytes -> wire -> frontend (messages) -> serve, connection -> query::Session
//! bytes <- backend (Output)  <- rows, copy  <---------+
//! ```
//!
//! Messages are decoded by `frontend` and not by a library, because input is untrusted: nothing is
//! allocated from a declared length, texts must be UTF-8, and no message can make a decoder panic.
//! Invalid input ends only its own connection.

mod alone;
mod auth;
mod backend;
mod cancel;
mod connection;
mod copy;
mod cursors;
mod error;
mod extended;
mod gone;
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
mod texts;
mod wire;
#[cfg(test)]
mod writes;

pub use oid::type_oid;

use crate::config::Limits;
use crate::metrics::Metrics;
use alone::Alone;
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

/// The options of a listener.
#[derive(Default)]
pub struct ListenerOptions {
    /// Limits on clients.
    pub limits: Limits,
    /// Encrypts connections, if set.
    pub tls: Option<TlsAcceptor>,
    /// Statements that take longer are logged.
    pub slow_statement: Option<Duration>,
}

/// The signals that end a connection.
#[derive(Debug, Clone)]
pub(crate) struct Stopping {
    /// Ends it as soon as no statement is running.
    pub(crate) soon: CancellationToken,
    /// Ends it immediately.
    pub(crate) now: CancellationToken,
}

/// The state that all connections of a listener share.
pub struct Listener {
    database: Database,
    limits: Limits,
    tls: Option<TlsAcceptor>,
    slow_statement: Option<Duration>,
    metrics: Arc<Metrics>,
    cancels: Arc<Cancels>,
    places: Semaphore,
    lanes: Lanes,
    /// The verifier for users that do not exist.
    unknown_user: String,
}

impl Listener {
    /// A listener for a database.
    ///
    /// # Errors
    /// Threads cannot be started.
    pub fn new(
        database: Database,
        options: ListenerOptions,
        metrics: Arc<Metrics>,
    ) -> io::Result<Arc<Self>> {
        let ListenerOptions { limits, tls, slow_statement } = options;
        let places = Semaphore::new(limits.connections_max.min(Semaphore::MAX_PERMITS));
        let (cancels, unknown_user) = (Arc::default(), auth::unknown_user());
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
            unknown_user,
        }))
    }

    /// Accepts connections until `stop`. Open connections then end as soon as they run no
    /// statement, and all end at `end`.
    ///
    /// # Errors
    /// The listener fails permanently.
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
                // The end of a connection, even by a panic, does not affect others.
                Some(_) = connections.join_next() => continue,
                () = stop.cancelled() => break,
            };
            match accepted {
                Ok((stream, _)) => {
                    let stopping = Stopping { soon: stop.clone(), now: end.clone() };
                    self.start(stream, stopping, &mut connections);
                }
                // Too many open files or the like: retry when other connections may have ended.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
        drop(listener);
        while connections.join_next().await.is_some() {}
        Ok(())
    }

    /// Assigns a connection to one of the threads. A connection that has broken is dropped.
    fn start(self: &Arc<Self>, stream: TcpStream, stopping: Stopping, tasks: &mut JoinSet<()>) {
        let _ = stream.set_nodelay(true);
        let (Ok(stream), Some((lane, place))) = (stream.into_std(), self.lanes.place()) else {
            return;
        };
        let listener = Arc::clone(self);
        let connections = place.connections();
        let served = async move {
            let _place = place;
            if let Ok(stream) = TcpStream::from_std(stream) {
                listener.take(stream, stopping).await;
            }
        };
        tasks.spawn_on(Alone::new(served, connections), lane);
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
