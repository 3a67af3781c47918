//! Waiting until tables lie where they will stay.

use crate::Embedded;
use crate::endpoint::Endpoint;
use anyhow::{Context, Result, ensure};
use std::time::{Duration, Instant};

/// It is waited no longer.
const PATIENCE: Duration = Duration::from_secs(180);
/// When nothing has changed for so long, nothing will.
const REST: Duration = Duration::from_millis(600);
const LOOK_EVERY: Duration = Duration::from_millis(50);
const MOVES: &str = "SELECT count(*) FROM pando.moves WHERE state IN ('copying', 'waiting')";

const BUCKETS: &str =
    "SELECT \"table\", low, rows, bytes, delta_rows, runs FROM pando.buckets ORDER BY 1, 2";

/// How a table lies on the servers that have some of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Shares {
    /// Rows by server.
    pub(crate) rows: Vec<u64>,
    /// Bytes by server.
    pub(crate) bytes: Vec<u64>,
    /// Buckets of all.
    pub(crate) buckets: u64,
}

impl Shares {
    /// The percentage of the table's bytes that the fullest server has.
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

/// Waits until each of so many servers has its share of a table of so many rows, and nothing moves.
///
/// # Errors
/// Where that takes minutes.
pub(crate) async fn settle(
    endpoint: &Endpoint,
    table: &str,
    rows: u64,
    servers: usize,
) -> Result<Shares> {
    let (started, mut still) = (Instant::now(), Instant::now());
    let mut last = Shares::default();
    while still.elapsed() < REST || !last.has_all(rows, servers) {
        ensure!(started.elapsed() < PATIENCE, "{table} does not come to rest: {last:?}");
        tokio::time::sleep(LOOK_EVERY).await;
        let is_moving = endpoint.number(MOVES).await? > 0;
        let now = look(endpoint, table).await?;
        if is_moving || now != last {
            (last, still) = (now, Instant::now());
        }
    }
    Ok(last)
}

/// Waits until nothing is merged or folded in the background of a database in this process any more.
///
/// # Errors
/// Where that takes minutes.
pub async fn come_to_rest(pando: &Embedded) -> Result<()> {
    let (started, mut still) = (Instant::now(), Instant::now());
    let mut last = None;
    while still.elapsed() < REST {
        ensure!(started.elapsed() < PATIENCE, "the buckets do not come to rest");
        let now = Some(pando.answer(BUCKETS).await?);
        if now != last {
            (last, still) = (now, Instant::now());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

/// How a table lies now.
async fn look(endpoint: &Endpoint, table: &str) -> Result<Shares> {
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
    fn a_table_has_spread_when_all_rows_are_there_and_everywhere() {
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
