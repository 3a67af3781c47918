//! Waits until a table is spread over all servers and nothing moves.

use crate::endpoint::Endpoint;
use anyhow::{Context, Result, ensure};
use std::time::{Duration, Instant};

/// Longest wait.
const WAIT_MAX: Duration = Duration::from_secs(180);
/// The table is at rest if nothing has changed for so long.
const SETTLED_AFTER: Duration = Duration::from_millis(600);
const LOOK_EVERY: Duration = Duration::from_millis(50);
const MOVES: &str = "SELECT count(*) FROM pando.moves WHERE state IN ('copying', 'waiting')";

/// The distribution of a table over the servers that hold rows of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Shares {
    /// Rows of each server.
    pub(crate) rows: Vec<u64>,
    /// Bytes of each server.
    pub(crate) bytes: Vec<u64>,
    /// Buckets on all servers.
    pub(crate) buckets: u64,
}

impl Shares {
    /// The percentage of the table's bytes on the fullest server.
    pub(crate) fn fullest_percent(&self) -> f64 {
        let all: u64 = self.bytes.iter().sum();
        let fullest = self.bytes.iter().max().copied().unwrap_or_default();
        100.0 * fullest as f64 / all.max(1) as f64
    }

    fn has_all(&self, rows: u64, servers: usize) -> bool {
        let sum: u64 = self.rows.iter().sum();
        let holders = self.rows.iter().filter(|rows| **rows > 0).count();
        sum == rows && holders == servers
    }
}

/// Waits until each of the `servers` servers holds rows of a table of `rows` rows, and nothing moves.
///
/// # Errors
/// If that takes more than three minutes.
pub(crate) async fn settle(
    endpoint: &Endpoint,
    table: &str,
    rows: u64,
    servers: usize,
) -> Result<Shares> {
    let started = Instant::now();
    let mut unchanged_since = Instant::now();
    let mut last = Shares::default();
    while unchanged_since.elapsed() < SETTLED_AFTER || !last.has_all(rows, servers) {
        ensure!(started.elapsed() < WAIT_MAX, "{table} does not come to rest: {last:?}");
        tokio::time::sleep(LOOK_EVERY).await;
        let is_moving = endpoint.number(MOVES).await? > 0;
        let now = current_shares(endpoint, table).await?;
        if is_moving || now != last {
            last = now;
            unchanged_since = Instant::now();
        }
    }
    Ok(last)
}

/// The current distribution of a table.
async fn current_shares(endpoint: &Endpoint, table: &str) -> Result<Shares> {
    let sql = format!("SELECT rows, bytes, buckets FROM pando.shares WHERE \"table\" = '{table}'");
    let mut shares = Shares::default();
    for row in endpoint.rows(&sql).await? {
        let mut numbers = row.iter().flatten().map(|cell| cell.parse::<u64>());
        let mut next = || numbers.next().context("pando.shares has no number")?.context("a number");
        shares.rows.push(next()?);
        shares.bytes.push(next()?);
        shares.buckets += next()?;
    }
    Ok(shares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_spread_when_every_server_holds_rows_and_none_is_missing() {
        let shares =
            |rows: &[u64]| Shares { rows: rows.into(), bytes: rows.into(), ..Shares::default() };
        assert!(shares(&[5, 3, 2]).has_all(10, 3));
        assert!(!shares(&[5, 5, 0]).has_all(10, 3));
        assert!(!shares(&[5, 5]).has_all(10, 3));
        assert!(!shares(&[5, 3, 1]).has_all(10, 3));
        assert!((shares(&[5, 3, 2]).fullest_percent() - 50.0).abs() < 1e-9);
        assert!(shares(&[]).fullest_percent().abs() < 1e-9);
    }
}
