//! Processor time of servers, and messages between them.
//!
//! Servers on one machine share its processors, so durations say little about servers with a machine each. Processor time
//! and messages are the same there. The processor time of the busiest server is a lower bound for the duration.

use crate::endpoint::Endpoint;
use crate::scaling::Rate;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::time::Duration;
use store::{MessageCount, Traffic};

const SERVERS: &str = "SELECT name, messages_sent, bytes_sent, messages_received, bytes_received \
                       FROM pando.servers ORDER BY number";
const MIB: f64 = 1024.0 * 1024.0;

/// Resource usage of one server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Used {
    /// Name of the server.
    name: String,
    /// Processor time; `None` if it is not known.
    processor: Option<Duration>,
    /// Messages to and from other servers.
    traffic: Traffic,
}

/// Resource usage of each server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Usage(Vec<Used>);

impl Usage {
    /// Usage since the servers started: messages asked through a client, processor time by the number of a server.
    pub(crate) async fn of(
        endpoint: &Endpoint,
        processor: impl Fn(usize) -> Option<Duration>,
    ) -> Result<Self> {
        let rows = endpoint.rows(SERVERS).await?;
        let used = |(server, row): (usize, &Vec<Option<String>>)| {
            let number = |column: usize| -> Result<u64> {
                let cell = row.get(column).cloned().flatten();
                Ok(cell.context("a server is unreachable")?.parse()?)
            };
            let traffic = |at| {
                Ok::<_, anyhow::Error>(MessageCount {
                    messages: number(at)?,
                    bytes: number(at + 1)?,
                })
            };
            Ok(Used {
                name: row.first().cloned().flatten().unwrap_or_default(),
                processor: processor(server),
                traffic: Traffic { sent: traffic(1)?, received: traffic(3)? },
            })
        };
        rows.iter().enumerate().map(used).collect::<Result<_>>().map(Self)
    }

    /// Usage since `then`, divided by `runs`.
    pub(crate) fn since(&self, then: &Self, runs: u32) -> Self {
        let runs = runs.max(1);
        let traffic = |now: MessageCount, then: MessageCount| MessageCount {
            messages: (now.messages - then.messages) / u64::from(runs),
            bytes: (now.bytes - then.bytes) / u64::from(runs),
        };
        let used = self.0.iter().zip(&then.0).map(|(now, then)| Used {
            name: now.name.clone(),
            processor: now.processor.zip(then.processor).map(|(now, then)| (now - then) / runs),
            traffic: Traffic {
                sent: traffic(now.traffic.sent, then.traffic.sent),
                received: traffic(now.traffic.received, then.traffic.received),
            },
        });
        Self(used.collect())
    }

    /// Processor time of all servers.
    pub(crate) fn processor(&self) -> Option<Duration> {
        self.0.iter().map(|used| used.processor).sum()
    }

    /// Processor time of one server.
    pub(crate) fn processor_of(&self, server: usize) -> Option<Duration> {
        self.0.get(server)?.processor
    }

    /// Processor time of the busiest server.
    pub(crate) fn busiest(&self) -> Option<Duration> {
        self.0.iter().map(|used| used.processor).collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// The rate of an amount of work if each server had a processor of its own and all waited for the busiest.
    pub(crate) fn alone(&self, work: u64) -> Option<Rate> {
        let busiest = self.busiest().filter(|time| !time.is_zero())?;
        Some(Rate::of(self.0.len() as u16, work, busiest))
    }

    /// Messages between servers, and their bytes.
    pub(crate) fn traffic(&self) -> MessageCount {
        let sent = self.0.iter().map(|used| used.traffic.sent);
        sent.fold(MessageCount::default(), |sum, traffic| MessageCount {
            messages: sum.messages + traffic.messages,
            bytes: sum.bytes + traffic.bytes,
        })
    }

    /// A line of text for each server.
    pub(crate) fn text(&self) -> String {
        let line = |used: &Used| {
            let traffic = |traffic: MessageCount| {
                format!("{} messages, {:.2} MiB", traffic.messages, mib(traffic.bytes))
            };
            let cpu = used.processor.map_or(String::new(), |time| {
                format!("{:.3} s of a processor, ", time.as_secs_f64())
            });
            let Traffic { sent, received } = used.traffic;
            format!(
                "       {}: {cpu}sent {}, received {}",
                used.name,
                traffic(sent),
                traffic(received)
            )
        };
        self.0.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// A JSON object for each server.
    pub(crate) fn json(&self) -> Value {
        let object = |used: &Used| {
            let Traffic { sent, received } = used.traffic;
            json!({
                "server": used.name, "cpu_seconds": used.processor.map(|time| time.as_secs_f64()),
                "messages_sent": sent.messages, "bytes_sent": sent.bytes,
                "messages_received": received.messages, "bytes_received": received.bytes,
            })
        };
        self.0.iter().map(object).collect()
    }
}

/// Bytes as mebibytes.
pub(crate) fn mib(bytes: u64) -> f64 {
    bytes as f64 / MIB
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::servers::Servers;
    use query::Executors;

    fn used(name: &str, ms: u64, messages: u64) -> Used {
        let traffic = MessageCount { messages, bytes: 100 * messages };
        Used {
            name: name.to_owned(),
            processor: Some(Duration::from_millis(ms)),
            traffic: Traffic { sent: traffic, received: traffic },
        }
    }

    #[test]
    fn usage_since_is_a_mean_of_the_runs() {
        let then = Usage(vec![used("a", 100, 10), used("b", 0, 0)]);
        let now = Usage(vec![used("a", 400, 40), used("b", 600, 3)]);
        let one = now.since(&then, 3);
        assert_eq!(one, Usage(vec![used("a", 100, 10), used("b", 200, 1)]));
        assert_eq!(one.processor(), Some(Duration::from_millis(300)));
        assert_eq!(one.processor_of(0), Some(Duration::from_millis(100)));
        assert_eq!(one.busiest(), Some(Duration::from_millis(200)));
        assert_eq!(one.alone(40), Some(Rate { servers: 2, per_second: 200.0 }));
        assert_eq!(one.traffic(), MessageCount { messages: 11, bytes: 1100 });
    }

    #[test]
    fn unknown_processor_time_of_one_server_makes_sums_unknown() {
        let unknown = Used { processor: None, ..used("b", 0, 1) };
        let usage = Usage(vec![used("a", 100, 1), unknown]);
        assert_eq!((usage.processor(), usage.busiest(), usage.alone(1)), (None, None, None));
        let text = usage.text();
        assert!(text.contains("a: 0.100 s of a processor, sent 1 messages"), "{text}");
        assert!(text.contains("b: sent 1 messages"), "{text}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn statements_on_several_servers_send_messages() {
        let servers = Servers::start(2, true, &Executors::new(None).expect("threads"))
            .await
            .expect("two servers");
        let endpoint = servers.endpoint(1).await.expect("a session");
        let before = servers.usage(&endpoint).await.expect("usage");
        endpoint.execute("CREATE TABLE t (id int PRIMARY KEY)").await.expect("created");
        let usage = servers.usage(&endpoint).await.expect("usage").since(&before, 1);
        let traffic = usage.traffic();
        assert!(traffic.messages > 1 && traffic.bytes > traffic.messages, "{traffic:?}");
        assert_eq!(usage.processor(), None, "all are in one process");
    }
}
