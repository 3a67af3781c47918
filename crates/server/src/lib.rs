//! The network interfaces of a server: the PostgreSQL wire protocol and HTTP.
//!
//! [`Server::start`] binds both and serves a database until [`Server::stop`]. The caller gathers
//! the configuration ([`config`]).

pub mod config;
mod http;
pub mod logging;
pub mod metrics;
pub mod pg;
pub mod tls;

use config::Config;
use metrics::Metrics;
use pg::{Listener, ListenerOptions};
use query::Database;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Time to complete HTTP responses when the server stops.
const HTTP_GRACE: Duration = Duration::from_secs(1);

/// A running server.
pub struct Server {
    pg: SocketAddr,
    http: SocketAddr,
    encrypted: bool,
    stopping: CancellationToken,
    end: CancellationToken,
    pg_listener: JoinHandle<io::Result<()>>,
    http_listener: JoinHandle<io::Result<()>>,
}

impl Server {
    /// Starts the listeners on the current runtime.
    ///
    /// # Errors
    /// An address cannot be bound, certificates are invalid, or an address is reachable from other
    /// machines while the database has no superuser with a password.
    pub async fn start(config: &Config, database: Database) -> io::Result<Self> {
        refuse_open_listeners(config, &database)?;
        let pg = bind("pg", config.pg).await?;
        let http = bind("http", config.http).await?;
        let (pg_address, http_address) = (pg.local_addr()?, http.local_addr()?);
        let hosts = vec!["localhost".to_owned(), config.pg.ip().to_string()];
        let tls = tls::acceptor(&config.tls, hosts)?;
        let encrypted = tls.is_some();
        let metrics = Arc::new(Metrics::new());
        let (stopping, end) = (CancellationToken::new(), CancellationToken::new());
        let options = ListenerOptions {
            limits: config.limits.clone(),
            tls,
            slow_statement: config.slow_statement,
        };
        let listener = Listener::new(database.clone(), options, Arc::clone(&metrics))?;
        let (stop_pg, end_pg) = (stopping.clone(), end.clone());
        let page = http::page(pg_address);
        let pg_listener = tokio::spawn(async move { listener.serve(pg, stop_pg, end_pg).await });
        let serving = http::serve(http, database, metrics, page, stopping.clone(), end.clone());
        let http_listener = tokio::spawn(serving);
        tracing::info!(pg = %pg_address, http = %http_address, tls = encrypted, "listening");
        Ok(Self {
            pg: pg_address,
            http: http_address,
            encrypted,
            stopping,
            end,
            pg_listener,
            http_listener,
        })
    }

    /// The listen address for PostgreSQL clients.
    pub fn pg(&self) -> SocketAddr {
        self.pg
    }

    /// The listen address for HTTP.
    pub fn http(&self) -> SocketAddr {
        self.http
    }

    /// Whether clients can use TLS.
    pub fn is_encrypted(&self) -> bool {
        self.encrypted
    }

    /// Stops accepting connections, waits for open ones, and ends them after the grace period.
    pub async fn stop(self, grace: Duration) {
        self.stopping.cancel();
        tracing::info!(grace_seconds = grace.as_secs_f64(), "stopping");
        let mut pg = self.pg_listener;
        if tokio::time::timeout(grace, &mut pg).await.is_err() {
            self.end.cancel();
            let _ = pg.await;
        }
        self.end.cancel();
        // Incomplete HTTP requests are aborted.
        let mut http = self.http_listener;
        if tokio::time::timeout(HTTP_GRACE, &mut http).await.is_err() {
            http.abort();
        }
    }
}

async fn bind(name: &str, address: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let message = format!(
            "cannot listen on {address} ({name}): {error}; use --{name} to set another address"
        );
        io::Error::new(error.kind(), message)
    })
}

/// Without a superuser with a password there is no authentication: the server must only listen on loopback addresses.
fn refuse_open_listeners(config: &Config, database: &Database) -> io::Result<()> {
    let reachable =
        [config.pg, config.http].into_iter().find(|address| !address.ip().is_loopback());
    match reachable {
        Some(address) if !database.authenticates() => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!(
                "{address} is reachable from other machines, but the database has no superuser with a password: set \
                 --superuser NAME and --superuser-password-file FILE, or listen on 127.0.0.1"
            ),
        )),
        _ => Ok(()),
    }
}
