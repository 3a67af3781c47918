//! The three published ways in which many servers answer one client, over real connections (requirements B1 to B3).
//!
//! Each server keeps one bucket and hears of a query by datagram.
//!
//! 1. Push once: all connect to the client at once; whom its backlog does not admit drops out, and is asked again.
//! 2. Push with retries: whom it does not admit tries again after a random pause, which doubles each time.
//! 3. Pull: each announces itself by datagram, and the client connects to a few at a time.
//!
//! The client knows from the buckets that have come which ones are missing, and asks for them again: it ends with all or
//! with an error. Refusals are those of the operating system's real backlog.

mod client;
mod message;
mod site;
mod table;

use client::Client;
use site::Sites;
pub(super) use table::run;

/// How the answers come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strategy {
    PushOnce,
    PushWithRetries,
    /// With so many connections at a time.
    Pull(usize),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::range::ROWS_A_BUCKET;

    async fn gather(strategy: Strategy, buckets: u16) {
        let sites = Sites::start(buckets).await.expect("servers");
        let client = Client::start(2).await.expect("a client");
        let gathered = client.gather(&sites, strategy, buckets).await.expect("all of them");
        assert_eq!(gathered.records, u32::from(buckets) * ROWS_A_BUCKET, "{strategy:?}");
    }

    #[tokio::test]
    async fn every_strategy_gathers_every_bucket_once() {
        for strategy in [Strategy::PushWithRetries, Strategy::Pull(1), Strategy::Pull(8)] {
            gather(strategy, 40).await;
        }
    }

    #[tokio::test]
    async fn who_drops_out_is_asked_again() {
        gather(Strategy::PushOnce, 60).await;
    }
}
