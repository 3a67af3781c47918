//! Calls over TCP: one connection to each server, opened on first use.
//!
//! A connection that cannot be opened is not retried at once: for a short time, which doubles with
//! each failure, calls fail with the last error. An unreachable server therefore does not delay its
//! callers.

use super::connection::{Connection, NotSent};
use super::hello::{self, Hello, Purpose};
use super::reach::reach;
use super::security::Security;
use super::transport::Transport;
use crate::answers::{checked_length, only, when_polled};
use crate::trust::tls;
use crate::{Address, Answers, Delivery, NetError, Network, TimeLimits};
use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout, timeout_at};

/// Calls other servers over TCP. Clones share their connections; dropping the last clone closes
/// them.
#[derive(Debug, Clone)]
pub struct Tcp {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    own: Address,
    security: Security,
    limits: TimeLimits,
    /// Runs the connections: callers may be on runtimes that are busy.
    runtime: Handle,
    open: RwLock<HashMap<Address, Arc<Connection>>>,
    /// A task that connects to a server holds its lock; other tasks wait for the result.
    connecting: Mutex<HashMap<Address, Arc<tokio::sync::Mutex<Failures>>>>,
}

/// Failed attempts to connect to a server.
#[derive(Debug, Default)]
struct Failures {
    count: u32,
    last: Option<(Instant, NetError)>,
}

impl Failures {
    /// The last error, while it is too early for another attempt.
    fn recent(&self, limits: &TimeLimits) -> Option<NetError> {
        let (at, error) = self.last.as_ref()?;
        let doubled = 2u32.saturating_pow(self.count.saturating_sub(1));
        let pause = limits.back_off.saturating_mul(doubled).min(limits.back_off_max);
        (at.elapsed() < pause).then(|| error.clone())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.open.get_mut().values().for_each(|connection| connection.close());
    }
}

impl Network for Tcp {
    fn call(
        &self,
        to: &Address,
        request: Bytes,
        deadline: Duration,
        delivery: Delivery,
    ) -> Answers {
        let (network, to) = (self.clone(), to.clone());
        when_polled(async move {
            let started = network.start(&to, request, deadline, delivery).await;
            started.unwrap_or_else(only)
        })
    }
}

impl Tcp {
    /// A network for the server at the address `own`. Connections run on the current runtime.
    pub fn new(own: Address, security: Security, limits: TimeLimits) -> Self {
        let (open, connecting) = Default::default();
        let runtime = Handle::current();
        Self { shared: Arc::new(Shared { own, security, limits, runtime, open, connecting }) }
    }

    /// Until the request is queued nothing has been sent, so an error before means that it was not
    /// delivered.
    async fn start(
        &self,
        to: &Address,
        request: Bytes,
        deadline: Duration,
        delivery: Delivery,
    ) -> Result<Answers, NetError> {
        checked_length(to, &request)?;
        let since = Instant::now();
        let queued =
            timeout_at(since + deadline, self.queue(to, request, since, deadline, delivery)).await;
        queued.unwrap_or_else(|_| {
            Err(NetError::unreachable(
                to,
                format!("the request could not be sent within {deadline:?}"),
            ))
        })
    }

    async fn queue(
        &self,
        to: &Address,
        mut request: Bytes,
        since: Instant,
        deadline: Duration,
        delivery: Delivery,
    ) -> Result<Answers, NetError> {
        loop {
            let connection = self.connection(to).await?;
            match connection.call(request, since, deadline, delivery).await {
                Ok(answers) => return Ok(answers),
                // The connection has just ended. The next attempt opens another, or returns the
                // reason.
                Err(NotSent(back)) => request = back,
            }
        }
    }

    async fn connection(&self, to: &Address) -> Result<Arc<Connection>, NetError> {
        if let Some(connection) = self.open(to) {
            return Ok(connection);
        }
        // In its own task: a caller that is dropped or not polled must not block the others.
        let (network, address) = (self.clone(), to.clone());
        let runtime = &self.shared.runtime;
        let opening = runtime.spawn(async move { network.open_new(&address).await });
        opening.await.unwrap_or_else(|error| Err(NetError::unreachable(to, error)))
    }

    async fn open_new(&self, to: &Address) -> Result<Arc<Connection>, NetError> {
        let connecting = Arc::clone(self.shared.connecting.lock().entry(to.clone()).or_default());
        let mut failures = connecting.lock().await;
        if let Some(connection) = self.open(to) {
            return Ok(connection);
        }
        if let Some(error) = failures.recent(&self.shared.limits) {
            return Err(error);
        }
        match self.connect(to).await {
            Ok(transport) => {
                *failures = Failures::default();
                let opened = Connection::open(to.clone(), transport, self.shared.limits.keep_alive);
                self.shared.open.write().insert(to.clone(), Arc::clone(&opened));
                Ok(opened)
            }
            Err(error) => {
                failures.count += 1;
                failures.last = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    fn open(&self, to: &Address) -> Option<Arc<Connection>> {
        self.shared.open.read().get(to).filter(|connection| connection.is_open()).cloned()
    }

    async fn connect(&self, to: &Address) -> Result<Transport, NetError> {
        let limit = self.shared.limits.handshake;
        let late = |_| Err(NetError::unreachable(to, format!("no connection within {limit:?}")));
        timeout(limit, self.transport(to)).await.unwrap_or_else(late)
    }

    async fn transport(&self, to: &Address) -> Result<Transport, NetError> {
        let mut stream = reach(to, Some(&self.shared.security)).await?;
        let hello = Hello { purpose: Purpose::Calls, address: self.shared.own.clone() };
        match &self.shared.security {
            Security::Plain => {
                hello::greet(&mut stream, &hello, to).await?;
                Ok(Transport::plain(stream))
            }
            Security::Mutual { identity, .. } => {
                let connected = tls::connect(&identity.client, stream).await;
                let mut stream = connected.map_err(|error| hello::opening_error(to, &error))?;
                hello::greet(&mut stream, &hello, to).await?;
                Ok(Transport::encrypted(stream))
            }
        }
    }
}
