//! Two servers, caller `a` and service `b`, over each of the networks.

use super::talker::{Event, Talker};
use crate::local::Hub;
use crate::{
    Address, Answers, Authority, Delivery, JoinToken, Listening, NetError, Network, Security,
    Service, Tcp, TimeLimits, ask, join, listen,
};
use futures::StreamExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};

/// A deadline that does not pass: longer than any test.
pub(super) const LONG: Duration = Duration::from_secs(60);

/// Time limits of connections.
pub(super) const LIMITS: TimeLimits = TimeLimits {
    handshake: Duration::from_secs(10),
    keep_alive: Duration::from_secs(5),
    closing: Duration::from_secs(1),
    back_off: Duration::from_millis(10),
    back_off_max: Duration::from_millis(320),
    no_connection_pause: Duration::from_millis(100),
};

#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    Local,
    Plain,
    Encrypted,
}

enum Server {
    Local(Hub),
    Tcp(Listening),
}

pub(super) struct Pair {
    pub(super) network: Arc<dyn Network>,
    pub(super) to: Address,
    pub(super) events: mpsc::UnboundedReceiver<Event>,
    pub(super) gate: Arc<Semaphore>,
    server: Option<Server>,
}

pub(super) fn talker() -> (Arc<dyn Service>, mpsc::UnboundedReceiver<Event>, Arc<Semaphore>) {
    let (events, receiver) = mpsc::unbounded_channel();
    let gate = Arc::new(Semaphore::new(0));
    (Arc::new(Talker { events, gate: Arc::clone(&gate) }), receiver, gate)
}

/// The security of a cluster's first server.
pub(super) fn founder() -> (Security, JoinToken) {
    let authority = Arc::new(Authority::found().expect("an authority"));
    let identity = Arc::new(authority.identity().expect("an identity"));
    let token = authority.token();
    (Security::Mutual { identity, authority: Some(authority) }, token)
}

pub(super) async fn joined(to: &Address, token: &JoinToken) -> Security {
    let identity = join(to, &"a:1".into(), token, LIMITS).await.expect("it has the token");
    Security::Mutual { identity: Arc::new(identity), authority: None }
}

pub(super) async fn listening(security: Security, service: Arc<dyn Service>) -> Listening {
    listen(&"127.0.0.1:0".into(), security, service, LIMITS).await.expect("loopback")
}

impl Pair {
    pub(super) async fn new(place: Place) -> Self {
        let (service, events, gate) = talker();
        let own = Address::new("a:1");
        let (network, to, server): (Arc<dyn Network>, _, _) = match place {
            Place::Local => {
                let (hub, to) = (Hub::new(), Address::new("b:1"));
                hub.serve(to.clone(), service);
                (Arc::new(hub.network(own)), to, Server::Local(hub))
            }
            Place::Plain => {
                let listening = listening(Security::Plain, service).await;
                let to = listening.address().clone();
                (Arc::new(Tcp::new(own, Security::Plain, LIMITS)), to, Server::Tcp(listening))
            }
            Place::Encrypted => {
                let (security, token) = founder();
                let listening = listening(security, service).await;
                let to = listening.address().clone();
                let security = joined(&to, &token).await;
                (Arc::new(Tcp::new(own, security, LIMITS)), to, Server::Tcp(listening))
            }
        };
        Self { network, to, events, gate, server: Some(server) }
    }

    pub(super) fn call(&self, request: &str) -> Answers {
        self.call_within(request, LONG)
    }

    pub(super) fn call_within(&self, request: &str, deadline: Duration) -> Answers {
        let request = request.to_owned().into();
        self.network.call(&self.to, request, deadline, Delivery::Pushed)
    }

    pub(super) fn call_by(&self, request: &str, delivery: Delivery) -> Answers {
        self.network.call(&self.to, request.to_owned().into(), LONG, delivery)
    }

    pub(super) async fn ask(&self, request: &str) -> Result<String, NetError> {
        self.ask_within(request, LONG).await
    }

    pub(super) async fn ask_within(
        &self,
        request: &str,
        deadline: Duration,
    ) -> Result<String, NetError> {
        let request = request.to_owned().into();
        let answer = ask(&*self.network, &self.to, request, deadline).await?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    /// Waits for an event of the service.
    pub(super) async fn event(&mut self, expected: Event) {
        while self.events.recv().await.expect("it is there") != expected {}
    }

    /// Stops the server as a crash does.
    pub(super) fn kill(&mut self) {
        match self.server.take().expect("it runs") {
            Server::Local(hub) => hub.stop(&self.to),
            Server::Tcp(listening) => drop(listening),
        }
    }

    /// The listening side over TCP.
    pub(super) fn listening(&mut self) -> Listening {
        match self.server.take().expect("it runs") {
            Server::Local(_) => panic!("nothing listens"),
            Server::Tcp(listening) => listening,
        }
    }
}

/// The next answer as text. Panics if there is none.
pub(super) async fn next(answers: &mut Answers) -> Result<String, NetError> {
    let answer = answers.next().await.expect("another item")?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
