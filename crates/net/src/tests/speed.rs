//! Throughput of small calls: `cargo test --profile quick -p net speed -- --ignored --nocapture`.

use super::place::{LONG, Pair, Place};
use crate::Delivery;
use futures::{StreamExt, stream};
use std::time::Instant;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it measures, and proves nothing"]
async fn speed() {
    for place in [Place::Local, Place::Plain, Place::Encrypted] {
        let pair = Pair::new(place).await;
        for in_flight in [1, 64] {
            let count = 50_000;
            let start = Instant::now();
            let calls = stream::iter(0..count).map(|_| pair.ask("echo x"));
            let done = calls.buffer_unordered(in_flight).filter(|answer| {
                let right = answer.is_ok();
                async move { right }
            });
            assert_eq!(done.count().await, count);
            let rate = count as f64 / start.elapsed().as_secs_f64();
            println!("{place:?}: {in_flight} in flight, {rate:.0} calls/s");
        }
        let start = Instant::now();
        let mut answers =
            pair.network.call(&pair.to, "count 1000 1000000".into(), LONG, Delivery::Pushed);
        let mut bytes = 0;
        while let Some(answer) = answers.next().await {
            bytes += answer.expect("an answer").len();
        }
        let rate = bytes as f64 / 1e6 / start.elapsed().as_secs_f64();
        println!("{place:?}: one stream of answers, {rate:.0} MB/s");
    }
}
