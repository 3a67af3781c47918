//! Calling other servers over TCP: one connection to each, opened when it is needed.
//!
//! A connection that cannot be opened is not tried again at once: for a short while, which grows with each failure,
//! calls fail with what happened last. So a server that is away costs its callers nothing.

use super::answers::{checked_length, only, when_polled};
use super::connection::{Connection, NotSent};
use super::hello::{self, Hello, Purpose};
use super::incoming::KEEP_ALIVE;
use super::listen::OPENING;
use super::tls;
use super::transport::Transport;
use super::{Address, Answers, NetError, Network, Security};
use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::Delivery;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout, timeout_at};

/// How long a server is left alone after the first failure to connect to it; doubled by each further one.
const BACK_OFF: Duration = Duration::from_millis(10);

/// The longest that it is left alone.
const BACK_OFF_MAX: Duration = Duration::from_millis(320);

/// Other servers, over TCP. Clones share their connections; the last one that is dropped closes them.
#[derive(Debug, Clone)]
pub struct Tcp {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    own: Address,
    security: Security,
    keep_alive: Duration,
    /// Where connections live: callers may be on runtimes that are busy with other things.
    runtime: Handle,
    open: RwLock<HashMap<Address, Arc<Connection>>>,
    /// Who connects to a server holds its lock; the others wait for what comes of it.
    connecting: Mutex<HashMap<Address, Arc<tokio::sync::Mutex<Failures>>>>,
}

/// What came of the last attempts to connect to a server.
#[derive(Debug, Default)]
struct Failures {
    count: u32,
    last: Option<(Instant, NetError)>,
}

impl Failures {
    /// The last failure, while it is too early to try again.
    fn recent(&self) -> Option<NetError> {
        let (at, error) = self.last.as_ref()?;
        let doubled = 2u32.saturating_pow(self.count.saturating_sub(1));
        let pause = BACK_OFF.saturating_mul(doubled).min(BACK_OFF_MAX);
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
    /// The other servers, as the one that is called at `own` calls them. Connections live on the runtime on which this
    /// is called.
    pub fn new(own: Address, security: Security) -> Self {
        Self::with_keep_alive(own, security, KEEP_ALIVE)
    }

    /// The same; a connection on which calls wait and nothing comes for `keep_alive` is probed, and after as long
    /// again given up.
    pub fn with_keep_alive(own: Address, security: Security, keep_alive: Duration) -> Self {
        let (open, connecting) = Default::default();
        let runtime = Handle::current();
        Self { shared: Arc::new(Shared { own, security, keep_alive, runtime, open, connecting }) }
    }

    /// Until the request is queued, nothing has been sent: what goes wrong before has not been delivered.
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
            Err(NetError::unreachable(to, format!("it could not be sent within {deadline:?}")))
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
                // It ended just now; there will be another, or the reason why there is none.
                Err(NotSent(back)) => request = back,
            }
        }
    }

    async fn connection(&self, to: &Address) -> Result<Arc<Connection>, NetError> {
        if let Some(connection) = self.open(to) {
            return Ok(connection);
        }
        // In a task of its own: a caller that goes away, or does not poll, must not keep the others waiting.
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
        if let Some(error) = failures.recent() {
            return Err(error);
        }
        match self.connect(to).await {
            Ok(transport) => {
                *failures = Failures::default();
                let opened = Connection::open(to.clone(), transport, self.shared.keep_alive);
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
        let late = |_| Err(NetError::unreachable(to, format!("no connection within {OPENING:?}")));
        timeout(OPENING, self.transport(to)).await.unwrap_or_else(late)
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
                let connected = tls::connect(identity, stream).await;
                let mut stream = connected.map_err(|error| hello::trouble(to, &error))?;
                hello::greet(&mut stream, &hello, to).await?;
                Ok(Transport::encrypted(stream))
            }
        }
    }
}

/// Connects to the first of an address's addresses that answers, where `security` allows that.
pub(super) async fn reach(
    to: &Address,
    security: Option<&Security>,
) -> Result<TcpStream, NetError> {
    let unreachable = |error: std::io::Error| NetError::unreachable(to, error);
    let mut error = NetError::unreachable(to, "its name has no address");
    for address in tokio::net::lookup_host(to.as_str()).await.map_err(unreachable)? {
        let allowed = security.map_or(Ok(()), |security| security.check(address));
        allowed.map_err(|reason| NetError::refused(to, reason))?;
        match TcpStream::connect(address).await {
            Ok(stream) => {
                stream.set_nodelay(true).map_err(unreachable)?;
                return Ok(stream);
            }
            Err(failed) => error = unreachable(failed),
        }
    }
    Err(error)
}
