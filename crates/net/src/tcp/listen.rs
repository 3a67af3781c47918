//! Accepts connections of other servers over TCP.

use super::hello::{self, Hello, Purpose};
use super::join;
use super::security::Security;
use super::serving::Serving;
use super::transport::Transport;
use crate::trust::tls;
use crate::{Address, Caller, Service, TimeLimits};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Maximum number of connections from other servers; further ones are closed.
const CONNECTIONS_MAX: usize = 4096;

/// A service that listens on TCP. Dropping it stops the service at once; running calls are lost.
#[derive(Debug)]
pub struct Listening {
    address: Address,
    leaving: CancellationToken,
    gone: CancellationToken,
    task: AbortHandle,
}

/// Offers a service at `address` (`host:port`; port 0 selects a free port).
///
/// # Errors
/// Listening fails, or the address is not loopback while `security` is [`Security::Plain`].
pub async fn listen(
    address: &Address,
    security: Security,
    service: Arc<dyn Service>,
    limits: TimeLimits,
) -> io::Result<Listening> {
    let listener = TcpListener::bind(address.as_str()).await.map_err(|error| {
        io::Error::new(error.kind(), format!("cannot listen at {address}: {error}"))
    })?;
    let bound = listener.local_addr()?;
    security.check(bound).map_err(io::Error::other)?;
    let leaving = CancellationToken::new();
    let gone = CancellationToken::new();
    let acceptor = Acceptor { security, service, limits, leaving: leaving.clone() };
    let ended = gone.clone().drop_guard();
    let task = tokio::spawn(async move {
        acceptor.run(listener).await;
        drop(ended);
    });
    Ok(Listening { address: bound.into(), leaving, gone, task: task.abort_handle() })
}

impl Listening {
    /// The address with the actual port.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Accepts no more calls, and waits until the running ones have ended, for at most `grace`.
    /// Calls that still run are then lost.
    pub async fn shutdown(self, grace: Duration) {
        self.leaving.cancel();
        let _ = timeout(grace, self.gone.cancelled()).await;
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Accepts connections.
#[derive(Clone)]
struct Acceptor {
    security: Security,
    service: Arc<dyn Service>,
    limits: TimeLimits,
    leaving: CancellationToken,
}

impl Acceptor {
    async fn run(self, listener: TcpListener) {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                () = self.leaving.cancelled() => break,
                Some(_) = connections.join_next() => (),
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) if connections.len() < CONNECTIONS_MAX => {
                        connections.spawn(self.clone().connection(stream));
                    }
                    Ok((_, from)) => tracing::warn!(%from, "too many connections from servers"),
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept connections from servers");
                        sleep(self.limits.no_connection_pause).await;
                    }
                },
            }
        }
        drop(listener);
        while connections.join_next().await.is_some() {}
    }

    async fn connection(self, stream: TcpStream) {
        let from = stream.peer_addr();
        let opened = tokio::select! {
            () = self.leaving.cancelled() => return,
            opened = timeout(self.limits.handshake, self.handshake(stream)) => opened,
        };
        let opened = opened.unwrap_or_else(|late| Err(late.into()));
        match opened {
            Ok(Some((from, transport))) => {
                Serving::run(from, self.service, transport, &self.limits, self.leaving).await;
            }
            Ok(None) => (),
            Err(error) => tracing::warn!(?from, %error, "refused a connection from a server"),
        }
    }

    /// Performs the handshake; `None` if the connection needs nothing more.
    async fn handshake(&self, stream: TcpStream) -> io::Result<Option<(Caller, Transport)>> {
        stream.set_nodelay(true)?;
        self.security.check(stream.peer_addr()?).map_err(io::Error::other)?;
        let Security::Mutual { identity, authority } = &self.security else {
            let mut stream = stream;
            let Hello { purpose, address } = hello::hear(&mut stream).await?;
            if purpose == Purpose::Join {
                let reason = "this cluster is not encrypted; its servers need no certificates";
                hello::refuse(&mut stream, reason).await?;
                return Ok(None);
            }
            hello::welcome(&mut stream).await?;
            return Ok(Some((Caller { address }, Transport::plain(stream))));
        };
        let mut stream = tls::accept(&identity.server, stream).await?;
        let Hello { purpose, address } = hello::hear(&mut stream).await?;
        let known = stream.get_ref().1.peer_certificates().is_some();
        match purpose {
            Purpose::Calls if known => {
                hello::welcome(&mut stream).await?;
                Ok(Some((Caller { address }, Transport::encrypted(stream))))
            }
            Purpose::Calls => {
                let reason =
                    "this server requires a certificate of its cluster; join with a token first";
                hello::refuse(&mut stream, reason).await?;
                Ok(None)
            }
            Purpose::Join => {
                join::admit(&mut stream, authority.as_deref(), &address).await?;
                Ok(None)
            }
        }
    }
}
