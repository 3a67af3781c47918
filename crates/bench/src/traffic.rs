//! What the servers of one process say to each other, counted as it would travel: encoded, without a transport's frames.

use bytes::Bytes;
use cluster::name_of_call;
use cluster::net::local::LocalNetwork;
use cluster::net::{Address, Answers, Network};
use futures::StreamExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Heartbeats are smaller; what is larger is not looked into.
const HEARTBEAT_BYTES_MAX: usize = 4 << 10;

/// Calls between servers so far; heartbeats are left out.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    calls: AtomicU64,
    bytes: AtomicU64,
}

/// How much was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Said {
    /// Calls, however many answers each had.
    pub(crate) calls: u64,
    /// Bytes of calls and answers.
    pub(crate) bytes: u64,
}

impl Traffic {
    /// All so far.
    pub(crate) fn said(&self) -> Said {
        let (calls, bytes) = (&self.calls, &self.bytes);
        Said { calls: calls.load(Ordering::Relaxed), bytes: bytes.load(Ordering::Relaxed) }
    }

    fn add(&self, calls: u64, bytes: usize) {
        self.calls.fetch_add(calls, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl Said {
    /// What was said since then, for one of so many runs.
    pub(crate) fn since(self, then: Self, runs: u64) -> Self {
        let mean = |now: u64, then: u64| (now - then) / runs.max(1);
        Self { calls: mean(self.calls, then.calls), bytes: mean(self.bytes, then.bytes) }
    }
}

/// A network that counts.
#[derive(Debug)]
pub(crate) struct Counted {
    network: LocalNetwork,
    traffic: Arc<Traffic>,
}

impl Counted {
    pub(crate) fn new(network: LocalNetwork, traffic: Arc<Traffic>) -> Self {
        Self { network, traffic }
    }
}

impl Network for Counted {
    fn call(&self, to: &Address, request: Bytes, deadline: Duration) -> Answers {
        let is_heartbeat = request.len() <= HEARTBEAT_BYTES_MAX
            && name_of_call(&request).is_some_and(|name| name == "Heartbeat");
        let bytes = request.len();
        let answers = self.network.call(to, request, deadline);
        if is_heartbeat {
            return answers;
        }
        self.traffic.add(1, bytes);
        let traffic = Arc::clone(&self.traffic);
        let count = move |answer: &Result<Bytes, _>| {
            traffic.add(0, answer.as_ref().map_or(0, Bytes::len));
        };
        answers.inspect(count).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InProcess;
    use crate::settling::settle;
    use query::Options;

    #[test]
    fn means_are_of_what_came_since() {
        let then = Said { calls: 4, bytes: 1000 };
        let now = Said { calls: 10, bytes: 1600 };
        assert_eq!(now.since(then, 3), Said { calls: 2, bytes: 200 });
    }

    /// The owners of the rows change them: what travels is how many there were.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_update_of_all_rows_says_little() {
        const ROWS: u64 = 20_000;
        let options = Options { bucket_size: Some(256 << 10), ..Options::default() };
        let started = InProcess::start_counted(4, options).await;
        let (servers, traffic) = started.expect("four servers");
        let session = servers.servers()[1].database.session();
        let fill = format!(
            "CREATE TABLE t (id bigint PRIMARY KEY, v bigint CHECK (v >= 0), note text); \
             INSERT INTO t SELECT i, 0, 'note ' || i FROM generate_series(1, {ROWS}) AS g(i)"
        );
        session.execute(&fill).await.expect("filled");
        settle(&servers, "t", ROWS).await.expect("it comes to rest");
        session.execute("ALTER SYSTEM SET pando.moves = paused").await.expect("paused");
        let mut said = Vec::new();
        for bundling in ["optimal", "optimal", "none"] {
            let before = traffic.said();
            let update = format!("SET pando.bundling = {bundling}; UPDATE t SET v = v + 1");
            session.execute(&update).await.expect("updated");
            said.push(traffic.said().since(before, 1));
        }
        // The first one may have taught the image something.
        let [_, by_owners, from_here] = said[..] else { unreachable!("three updates") };
        assert!(by_owners.bytes < 16 << 10, "{by_owners:?}");
        assert!(from_here.bytes > 20 * by_owners.bytes, "{from_here:?}, {by_owners:?}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn statements_count() {
        let started = InProcess::start_counted(2, Options::default()).await;
        let (servers, traffic) = started.expect("two servers");
        let before = traffic.said();
        let session = servers.servers()[1].database.session();
        session.execute("CREATE TABLE t (id int PRIMARY KEY)").await.expect("created");
        let said = traffic.said().since(before, 1);
        assert!(said.calls > 0 && said.bytes > said.calls, "{said:?}");
    }
}
