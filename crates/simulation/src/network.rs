//! A network between servers: messages take time, get lost, and arrive late.
//!
//! It keeps the promises of [`cluster::net`]: a call is delivered at most once, its answers in order, and an error says
//! whether it may have been executed. A message that gets lost is noticed at the deadline of its caller.

use crate::dice::Dice;
use crate::executor::{Executor, Owner, WORLD};
use crate::trace::Trace;
use bytes::Bytes;
use cluster::name_of_call;
use cluster::net::{Address, Answers, Caller, Delivery, NetError, Network, Service};
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::future::{Either, select};
use futures::{FutureExt, StreamExt, stream};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How messages travel from one server to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    /// Whether they get lost.
    pub(crate) is_cut: bool,
    /// The longest time that they take, in microseconds.
    pub(crate) micros_max: u64,
    /// How many of a thousand get lost.
    pub(crate) lost: u64,
    /// How many of a thousand come late, by up to [`LATE`].
    pub(crate) late: u64,
}

/// How late a late message may be.
pub(crate) const LATE: Duration = Duration::from_secs(16);

impl Default for Link {
    fn default() -> Self {
        Self { is_cut: false, micros_max: 500, lost: 0, late: 0 }
    }
}

/// A server as others find it.
#[derive(Debug, Clone)]
struct Station {
    owner: Owner,
    service: Arc<dyn Service>,
}

/// All links and servers. Clones are the same network.
#[derive(Debug, Clone)]
pub(crate) struct Wires {
    executor: Executor,
    trace: Trace,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    stations: BTreeMap<String, Station>,
    links: BTreeMap<(String, String), Link>,
    dice: Dice,
    messages: u64,
    lost: u64,
    late: u64,
}

/// What arrives at the caller.
enum Arrival {
    /// All answers of a call, which end it.
    Answers(Vec<Result<Bytes, NetError>>),
    Broken(NetError),
}

impl Wires {
    /// A network without servers.
    pub(crate) fn new(executor: Executor, trace: Trace, dice: Dice) -> Self {
        let state = State {
            stations: BTreeMap::new(),
            links: BTreeMap::new(),
            dice,
            messages: 0,
            lost: 0,
            late: 0,
        };
        Self { executor, trace, state: Arc::new(Mutex::new(state)) }
    }

    /// Lets a server answer.
    pub(crate) fn serve(&self, name: &str, owner: Owner, service: Arc<dyn Service>) {
        self.state.lock().stations.insert(name.to_owned(), Station { owner, service });
    }

    /// Lets nobody answer under a name.
    pub(crate) fn close(&self, name: &str) {
        let station = self.state.lock().stations.remove(name);
        drop(station);
    }

    /// Changes the way from one server to another.
    pub(crate) fn set_link(&self, from: &str, to: &str, link: Link) {
        self.state.lock().links.insert((from.to_owned(), to.to_owned()), link);
    }

    /// Makes all links good again.
    pub(crate) fn heal(&self) {
        self.state.lock().links.clear();
    }

    /// Messages that were sent, lost, and late.
    pub(crate) fn counts(&self) -> (u64, u64, u64) {
        let state = self.state.lock();
        (state.messages, state.lost, state.late)
    }

    /// The network as one server sees it.
    pub(crate) fn of(&self, name: &str) -> Arc<dyn Network> {
        Arc::new(Line { wires: self.clone(), name: name.to_owned() })
    }

    /// How long a message takes; `None` if it gets lost.
    fn fate(&self, from: &str, to: &str) -> Option<Duration> {
        let mut state = self.state.lock();
        let key = (from.to_owned(), to.to_owned());
        let link = state.links.get(&key).copied().unwrap_or_default();
        state.messages += 1;
        if link.is_cut || state.dice.permille(link.lost) {
            state.lost += 1;
            return None;
        }
        let usual = Duration::from_micros(state.dice.between(20, link.micros_max));
        if state.dice.permille(link.late) {
            state.late += 1;
            return Some(LATE.mul_f64(state.dice.below(1000) as f64 / 1000.0));
        }
        Some(usual)
    }

    /// Does something after a time.
    fn after(&self, wait: Duration, work: impl FnOnce() + Send + 'static) {
        let sleep = self.executor.sleep(wait);
        let work = async move {
            sleep.await;
            work();
        };
        self.executor.spawn(WORLD, work.boxed());
    }

    /// Sends a request; what comes back arrives through the result, which ends the call when it is dropped.
    fn send(&self, from: &str, to: &Address, request: Bytes) -> Coming {
        let (sender, receiver) = unbounded();
        let back = Back { wires: self.clone(), from: to.as_str().to_owned(), to: from.to_owned() };
        let serving = Arc::new(Mutex::new(Serving::Travelling));
        let coming = Coming {
            receiver,
            _kept: sender.clone(),
            serving: Arc::clone(&serving),
            back: back.clone(),
        };
        let name = name_of_call(&request).unwrap_or_else(|| "?".into());
        let fate = self.fate(from, to.as_str());
        self.trace.event(self.executor.now(), || {
            let fate = fate.map_or("lost".into(), |wait| format!("{} us", wait.as_micros()));
            format!("{from} -> {to} {name} {} bytes, {fate}", request.len())
        });
        let Some(wait) = fate else { return coming };
        let (wires, to) = (self.clone(), to.clone());
        self.after(wait, move || wires.arrive(&to, request, serving, sender, back));
        coming
    }

    /// A request arrives.
    fn arrive(
        &self,
        to: &Address,
        request: Bytes,
        serving: Arc<Mutex<Serving>>,
        sender: UnboundedSender<Arrival>,
        mut back: Back,
    ) {
        let station = self.state.lock().stations.get(to.as_str()).cloned();
        let Some(Station { owner, service }) = station else {
            let (address, reason) = (to.clone(), "nobody listens there".into());
            let error = NetError::Unreachable { address, reason };
            return back.send(&sender, Arrival::Broken(error));
        };
        let caller = Caller { address: Address::new(back.to.as_str()) };
        let mut guard = Broken { to: to.clone(), sender: Some(sender.clone()), back: back.clone() };
        let work = async move {
            let answers = service.serve(caller, request).collect().await;
            back.send(&sender, Arrival::Answers(answers));
            guard.answered();
        };
        let Some(task) = self.executor.spawn(owner, work.boxed()) else { return };
        let was = std::mem::replace(&mut *serving.lock(), Serving::By(task));
        if matches!(was, Serving::Cancelled) {
            // The cancellation follows on the same connection.
            let wait = Duration::from_micros(self.state.lock().dice.below(2_000));
            let executor = self.executor.clone();
            self.after(wait, move || executor.abort(task));
        }
    }
}

/// Where a call is.
enum Serving {
    Travelling,
    By(crate::executor::TaskId),
    Cancelled,
}

/// The way back to a caller.
#[derive(Clone)]
struct Back {
    wires: Wires,
    from: String,
    to: String,
}

impl Back {
    fn send(&mut self, sender: &UnboundedSender<Arrival>, arrival: Arrival) {
        let Some(wait) = self.wires.fate(&self.from, &self.to) else { return };
        let sender = sender.clone();
        self.wires.after(wait, move || drop(sender.unbounded_send(arrival)));
    }
}

/// Tells the caller when the server of a call ends before its answers do.
struct Broken {
    to: Address,
    sender: Option<UnboundedSender<Arrival>>,
    back: Back,
}

impl Broken {
    /// The answers are sent.
    fn answered(&mut self) {
        self.sender = None;
    }
}

impl Drop for Broken {
    fn drop(&mut self) {
        if let Some(sender) = self.sender.take() {
            let (address, reason) = (self.to.clone(), "the connection ended".into());
            self.back.send(&sender, Arrival::Broken(NetError::Lost { address, reason }));
        }
    }
}

/// Answers on their way.
struct Coming {
    receiver: UnboundedReceiver<Arrival>,
    /// What is lost is noticed at the deadline, and not as an end.
    _kept: UnboundedSender<Arrival>,
    serving: Arc<Mutex<Serving>>,
    back: Back,
}

impl Drop for Coming {
    fn drop(&mut self) {
        let Back { wires, from, to } = &self.back;
        let Some(wait) = wires.fate(to, from) else { return };
        let (serving, executor) = (Arc::clone(&self.serving), wires.executor.clone());
        wires.after(wait, move || {
            let was = std::mem::replace(&mut *serving.lock(), Serving::Cancelled);
            if let Serving::By(task) = was {
                executor.abort(task);
            }
        });
    }
}

/// The network of one server.
#[derive(Debug)]
struct Line {
    wires: Wires,
    name: String,
}

impl Network for Line {
    fn call(&self, to: &Address, request: Bytes, deadline: Duration, _: Delivery) -> Answers {
        let (wires, name, to) = (self.wires.clone(), self.name.clone(), to.clone());
        let called = async move {
            let mut coming = wires.send(&name, &to, request);
            let answers = match select(coming.receiver.next(), wires.executor.sleep(deadline)).await
            {
                Either::Left((Some(Arrival::Answers(answers)), _)) => answers,
                Either::Left((Some(Arrival::Broken(error)), _)) => vec![Err(error)],
                Either::Left((None, _)) => Vec::new(),
                Either::Right(_) => {
                    let reason = "it did not answer in time".into();
                    vec![Err(NetError::Lost { address: to, reason })]
                }
            };
            stream::iter(answers)
        };
        stream::once(called).flatten().boxed()
    }
}
