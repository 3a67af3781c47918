//! The three published ways in which many servers answer one client, over real connections (requirements B1 to B3).
//!
//! Each server keeps one bucket and hears of a query by datagram.
//!
//! 1. Push once: all connect to the client at once; whom its backlog does not admit drops out, and is asked again.
//! 2. Push with retries: whom it does not admit tries again after a random pause, which doubles each time.
//! 3. Pull: each announces itself by datagram, and the client connects to a few at a time.
//!
//! The client knows from the buckets that have come which ones are missing, and asks for them again: it ends with all or
//! with an error. That is deterministic termination. With the probabilistic one (requirement A3) it knows nothing, asks
//! all servers, and ends when nothing has come for a while. Refusals are those of the operating system's real backlog.

mod client;
mod message;
mod site;
mod table;
mod termination;

use client::Client;
use site::Sites;
use std::time::Duration;
pub(super) use table::run;
pub(super) use termination::run as run_terminations;

/// How the answers come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strategy {
    PushOnce,
    PushWithRetries,
    /// With so many connections at a time.
    Pull(usize),
}

/// When the client has all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// When every bucket has answered.
    Deterministic,
    /// When nothing has come for so long.
    Probabilistic(Duration),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::range::ROWS_A_BUCKET;

    async fn gather(strategy: Strategy, buckets: u16) {
        let sites = Sites::start(buckets).await.expect("servers");
        let client = Client::start(2).await.expect("a client");
        let gathered = client
            .gather(&sites, strategy, buckets, Ending::Deterministic)
            .await
            .expect("all of them");
        assert_eq!(gathered.records, u32::from(buckets) * ROWS_A_BUCKET, "{strategy:?}");
    }

    #[tokio::test]
    async fn every_strategy_gathers_every_bucket_once() {
        for strategy in [Strategy::PushWithRetries, Strategy::Pull(1), Strategy::Pull(8)] {
            gather(strategy, 40).await;
        }
    }

    #[tokio::test]
    async fn who_waits_long_enough_gets_all_of_those_who_have_something_to_say() {
        let sites = Sites::start(20).await.expect("servers");
        let client = Client::start(40).await.expect("a client");
        let ending = Ending::Probabilistic(Duration::from_secs(1));
        for strategy in [Strategy::PushWithRetries, Strategy::Pull(8)] {
            let gathered = client.gather(&sites, strategy, 12, ending).await.expect("an end");
            assert_eq!(gathered.records, 12 * ROWS_A_BUCKET, "{strategy:?}");
        }
    }

    #[tokio::test]
    async fn who_knows_nothing_does_not_know_who_is_missing() {
        let sites = Sites::start(12).await.expect("servers");
        let client = Client::start(40).await.expect("a client");
        let ending = Ending::Probabilistic(Duration::from_millis(200));
        let gathered = client.gather(&sites, Strategy::Pull(8), 20, ending).await;
        assert_eq!(gathered.expect("an end").records, 12 * ROWS_A_BUCKET);
    }

    #[tokio::test]
    async fn who_drops_out_is_asked_again() {
        gather(Strategy::PushOnce, 60).await;
    }
}
