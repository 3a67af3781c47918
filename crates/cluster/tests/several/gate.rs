//! A service in front of a server, which counts calls and can lose requests or answers.

use bytes::Bytes;
use cluster::net::{Address, Answers, Caller, NetError, Service};
use cluster::{Cluster, name_of_call};
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The request is lost, and the caller gets an error.
    LoseRequest,
    /// The request is executed, and the caller gets an error.
    LoseAnswer,
    /// The request is lost, and the caller gets no answer.
    SwallowRequest,
    /// The request is executed, and the caller gets no answer.
    SwallowAnswer,
    /// The request waits until there is no such rule any more.
    Wait,
    /// As [`Self::Wait`]. It is executed even if the caller has gone.
    Late,
}

/// The gate of a server.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    cluster: OnceLock<Cluster>,
    rules: Arc<Mutex<BTreeMap<String, Fate>>>,
    seen: Mutex<BTreeMap<String, usize>>,
    late: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl Gate {
    pub(crate) fn open(&self, cluster: Cluster) {
        self.cluster.set(cluster).expect("a server starts once");
    }

    /// From now on calls with this name have this fate.
    pub(crate) fn rule(&self, name: &str, fate: Fate) {
        self.rules.lock().insert(name.to_owned(), fate);
    }

    /// Removes all rules.
    pub(crate) fn heal(&self) {
        self.rules.lock().clear();
    }

    /// Number of calls with this name.
    pub(crate) fn seen(&self, name: &str) -> usize {
        self.seen.lock().get(name).copied().unwrap_or(0)
    }

    /// Number of calls with this name that were executed late.
    pub(crate) fn late(&self, name: &str) -> usize {
        self.late.lock().get(name).copied().unwrap_or(0)
    }

    /// Executes a request when there is no rule for it any more.
    fn serve_late(&self, name: String, from: Caller, request: Bytes) -> Answers {
        let (cluster, rules, late) =
            (self.cluster.get().cloned(), Arc::clone(&self.rules), Arc::clone(&self.late));
        let executing = tokio::spawn(async move {
            while rules.lock().get(&name) == Some(&Fate::Late) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let cluster = cluster.expect("it has been asked");
            let answers = cluster.serve(from, request).collect::<Vec<_>>().await;
            *late.lock().entry(name).or_default() += 1;
            answers
        });
        stream::once(executing).flat_map(|done| stream::iter(done.expect("no panic"))).boxed()
    }
}

impl Service for Gate {
    fn serve(&self, from: Caller, request: Bytes) -> Answers {
        let failure = |reason: &str| {
            let error = NetError::Lost { address: Address::new("gate"), reason: reason.into() };
            stream::once(async move { Err(error) })
        };
        let Some(cluster) = self.cluster.get() else { return failure("too early").boxed() };
        let name = name_of_call(&request).expect("servers send what they understand");
        *self.seen.lock().entry(name.clone()).or_default() += 1;
        let fate = self.rules.lock().get(&name).copied();
        if fate == Some(Fate::Late) {
            return self.serve_late(name, from, request);
        }
        if fate == Some(Fate::Wait) {
            let (cluster, rules) = (cluster.clone(), Arc::clone(&self.rules));
            let served = async move {
                while rules.lock().get(&name) == Some(&Fate::Wait) {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                cluster.serve(from, request)
            };
            return stream::once(served).flatten().boxed();
        }
        let answers = cluster.serve(from, request);
        let Some(fate) = fate else { return answers };
        let done = async move { answers.collect::<Vec<_>>().await };
        let done = stream::once(done).filter_map(|_| async { None });
        match fate {
            Fate::LoseRequest => failure("by rule").boxed(),
            Fate::LoseAnswer => done.chain(failure("by rule")).boxed(),
            Fate::SwallowRequest => stream::pending().boxed(),
            Fate::Wait | Fate::Late => unreachable!("it was served above"),
            Fate::SwallowAnswer => done.chain(stream::pending()).boxed(),
        }
    }
}
