//! The three published strategies by which many servers answer one client, over TCP (requirements B1 to B3).
//!
//! Each server has one bucket and receives queries as datagrams.
//!
//! 1. Push once: all servers connect to the client. A server that the client's backlog refuses is queried again.
//! 2. Push with retries: a refused server retries after a random pause, whose bound doubles each time.
//! 3. Pull: each server announces itself by datagram, and the client connects to a few servers at a time.
//!
//! With deterministic termination the client knows which buckets are missing and queries them again. It ends with all
//! buckets or an error. With probabilistic termination (requirement A3) it queries all servers, and ends when no answer has
//! come for a while. Connections are refused by the operating system's backlog.

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

/// How answers reach the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strategy {
    PushOnce,
    PushWithRetries,
    /// With so many connections at a time.
    Pull(usize),
}

/// When the client stops waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// When every bucket has answered.
    Deterministic,
    /// When no answer has come for so long.
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
    async fn probabilistic_termination_with_a_long_timeout_finds_all() {
        let sites = Sites::start(20).await.expect("servers");
        let client = Client::start(40).await.expect("a client");
        let ending = Ending::Probabilistic(Duration::from_secs(1));
        for strategy in [Strategy::PushWithRetries, Strategy::Pull(8)] {
            let gathered = client.gather(&sites, strategy, 12, ending).await.expect("an end");
            assert_eq!(gathered.records, 12 * ROWS_A_BUCKET, "{strategy:?}");
        }
    }

    #[tokio::test]
    async fn probabilistic_termination_does_not_notice_missing_buckets() {
        let sites = Sites::start(12).await.expect("servers");
        let client = Client::start(40).await.expect("a client");
        let ending = Ending::Probabilistic(Duration::from_millis(200));
        let gathered = client.gather(&sites, Strategy::Pull(8), 20, ending).await;
        assert_eq!(gathered.expect("an end").records, 12 * ROWS_A_BUCKET);
    }

    #[tokio::test]
    async fn refused_servers_are_queried_again() {
        gather(Strategy::PushOnce, 60).await;
    }
}
