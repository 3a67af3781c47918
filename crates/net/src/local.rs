//! A network within one process, with links that tests can cut, delay and silence.
//!
//! A [`Hub`] holds the services by name. Each server calls the others through a [`LocalNetwork`]
//! that knows its own name. A call runs in its own task; its answers wait in a channel of the
//! length of the window, as over TCP.

use super::answers::{Answer, by_deadline, checked_length, guarded, only, when_polled};
use super::{Address, Answers, Caller, Delivery, NetError, Network, Service, WINDOW};
use bytes::Bytes;
use futures::{Stream, StreamExt};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// State of the link between two servers, in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Link {
    /// Calls arrive without delay.
    #[default]
    Open,
    /// New calls are undeliverable, and running calls are lost.
    Cut,
    /// New calls are delayed by this much.
    Slow(Duration),
    /// New calls are sent but never arrive.
    RequestsVanish,
    /// New calls are executed to their end, but their answers are lost.
    AnswersVanish,
}

/// The services of one process, and the links between them.
#[derive(Debug, Clone, Default)]
pub struct Hub {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    services: HashMap<Address, Registered>,
    /// Links whose state was queried or changed. The two names are sorted.
    links: HashMap<(Address, Address), State>,
}

#[derive(Debug, Clone)]
struct Registered {
    service: Arc<dyn Service>,
    stopped: CancellationToken,
}

#[derive(Debug, Clone, Default)]
struct State {
    link: Link,
    cut: CancellationToken,
}

impl Hub {
    /// A hub without services; all links are open.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a service under a name. A service that has the name already is stopped first.
    pub fn serve(&self, at: Address, service: Arc<dyn Service>) {
        self.stop(&at);
        let registered = Registered { service, stopped: CancellationToken::new() };
        self.shared.lock().services.insert(at, registered);
    }

    /// Stops a service as a crash does: running calls are lost, new calls are undeliverable.
    pub fn stop(&self, at: &Address) {
        let stopped = self.shared.lock().services.remove(at);
        if let Some(registered) = stopped {
            registered.stopped.cancel();
        }
    }

    /// Changes the link between two servers, in both directions.
    pub fn link(&self, one: &Address, other: &Address, link: Link) {
        let mut shared = self.shared.lock();
        let state = shared.links.entry(ordered(one, other)).or_default();
        if link == Link::Cut {
            state.cut.cancel();
        } else if state.link == Link::Cut {
            state.cut = CancellationToken::new();
        }
        state.link = link;
    }

    /// The network for the server of this name.
    pub fn network(&self, own: Address) -> LocalNetwork {
        LocalNetwork { hub: self.clone(), own, runtime: Handle::current() }
    }

    fn find(&self, from: &Address, to: &Address) -> Result<(Registered, State), NetError> {
        let mut shared = self.shared.lock();
        let state = shared.links.entry(ordered(from, to)).or_default().clone();
        if state.link == Link::Cut {
            return Err(NetError::unreachable(to, "the link is cut"));
        }
        let registered = shared.services.get(to).cloned();
        let registered =
            registered.ok_or_else(|| NetError::unreachable(to, "no server has this address"))?;
        Ok((registered, state))
    }
}

fn ordered(one: &Address, other: &Address) -> (Address, Address) {
    let (low, high) = if one <= other { (one, other) } else { (other, one) };
    (low.clone(), high.clone())
}

/// The network of one server of a [`Hub`].
#[derive(Debug, Clone)]
pub struct LocalNetwork {
    hub: Hub,
    own: Address,
    /// Runs the calls: callers may be on runtimes that are busy.
    runtime: Handle,
}

impl Network for LocalNetwork {
    fn call(
        &self,
        to: &Address,
        request: Bytes,
        deadline: Duration,
        delivery: Delivery,
    ) -> Answers {
        let (network, to) = (self.clone(), to.clone());
        when_polled(async move { network.start(&to, request, deadline, delivery) })
    }
}

impl LocalNetwork {
    fn start(
        &self,
        to: &Address,
        request: Bytes,
        deadline: Duration,
        delivery: Delivery,
    ) -> Answers {
        let found = checked_length(to, &request).and_then(|()| self.hub.find(&self.own, to));
        let (registered, state) = match found {
            Ok(found) => found,
            Err(error) => return only(error),
        };
        let (sender, receiver) = mpsc::channel(WINDOW);
        let wanted = CancellationToken::new();
        if delivery == Delivery::Pushed {
            wanted.cancel();
        }
        let (from, second) = (self.own.clone(), wanted.clone());
        let call = Call { from, to: to.clone(), registered, state, sender, second };
        self.runtime.spawn(call.run(request));
        let wants_next = move || wanted.cancel();
        by_deadline(to.clone(), receiver, Instant::now(), deadline, wants_next).boxed()
    }
}

/// A running call.
struct Call {
    from: Address,
    to: Address,
    registered: Registered,
    state: State,
    sender: mpsc::Sender<Answer>,
    /// Cancelled when the second answer may be produced.
    second: CancellationToken,
}

impl Call {
    async fn run(self, request: Bytes) {
        let lost = tokio::select! {
            biased;
            () = self.registered.stopped.cancelled() => "the server stopped",
            () = self.state.cut.cancelled() => "the link was cut",
            () = self.deliver(request) => return,
        };
        let _ = self.sender.send(Err(NetError::lost(&self.to, lost))).await;
    }

    async fn deliver(&self, request: Bytes) {
        match self.state.link {
            Link::Open | Link::Cut => (),
            Link::Slow(delay) => sleep(delay).await,
            Link::RequestsVanish => return self.sender.closed().await,
            Link::AnswersVanish => {
                let answers = self.served(request);
                answers.for_each(|_| async {}).await;
                return self.sender.closed().await;
            }
        }
        tokio::select! {
            biased;
            () = self.sender.closed() => (),
            () = self.pass_on(request) => (),
        }
    }

    async fn pass_on(&self, request: Bytes) {
        let mut answers = pin!(self.served(request));
        // Reserve room before polling, so that a service is never ahead by more than the window.
        while let Ok(room) = self.sender.reserve().await {
            let Some(answer) = answers.next().await else { return };
            let answer = answer.map_err(|reason| NetError::failed(&self.to, reason));
            let failed = answer.is_err();
            room.send(answer);
            if failed {
                return;
            }
            self.second.cancelled().await;
        }
    }

    fn served(&self, request: Bytes) -> impl Stream<Item = Result<Bytes, String>> + Send + 'static {
        guarded(&*self.registered.service, Caller { address: self.from.clone() }, request)
    }
}
