//! Waiting until a table lies where it will stay.

use crate::InProcess;
use anyhow::{Result, ensure};
use std::time::{Duration, Instant};
use store::catalog::{Relation, TableId};

/// It is waited no longer.
const PATIENCE: Duration = Duration::from_secs(180);
/// When nothing has changed for so long, nothing will.
const REST: Duration = Duration::from_millis(600);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How a table lies on the servers.
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

    fn has_all(&self, rows: u64) -> bool {
        self.rows.iter().sum::<u64>() == rows && self.rows.iter().all(|rows| *rows > 0)
    }
}

/// The number of a table of schema `public`.
///
/// # Errors
/// Where there is none of that name.
pub(crate) fn table_id(servers: &InProcess, name: &str) -> Result<TableId> {
    let catalog = servers.servers()[0].database.session().catalog();
    let found = catalog.relation("public", name).and_then(|relation| match relation {
        Relation::Table(table) => Some(table.id),
        Relation::View(_) | Relation::Sequence(_) => None,
    });
    found.ok_or_else(|| anyhow::anyhow!("there is no table {name}"))
}

/// Waits until every server has its share of a table of so many rows, and nothing moves.
///
/// # Errors
/// Where that takes minutes.
pub(crate) async fn settle(servers: &InProcess, table: &str, rows: u64) -> Result<Shares> {
    let table_id = table_id(servers, table)?;
    let (started, mut still) = (Instant::now(), Instant::now());
    let mut last = Shares::default();
    while still.elapsed() < REST || !last.has_all(rows) {
        ensure!(started.elapsed() < PATIENCE, "{table} does not come to rest: {last:?}");
        tokio::time::sleep(LOOK_EVERY).await;
        let (now, is_moving) = look(servers, table_id).await?;
        if is_moving || now != last {
            (last, still) = (now, Instant::now());
        }
    }
    Ok(last)
}

/// How a table lies now, and whether a server is giving something away.
async fn look(servers: &InProcess, table: TableId) -> Result<(Shares, bool)> {
    let (mut shares, mut is_moving) = (Shares::default(), false);
    for (_, held) in servers.servers()[0].cluster.report().await {
        let load = held?.load;
        let of_table = load.tables.iter().find(|held| held.table == table);
        shares.rows.push(of_table.map_or(0, |held| held.rows));
        shares.bytes.push(of_table.map_or(0, |held| held.bytes));
        shares.buckets += of_table.map_or(0, |held| held.buckets);
        is_moving |= load.is_moving;
    }
    Ok((shares, is_moving))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_spread_when_all_rows_are_there_and_everywhere() {
        let shares =
            |rows: &[u64]| Shares { rows: rows.into(), bytes: rows.into(), ..Shares::default() };
        assert!(shares(&[5, 3, 2]).has_all(10));
        assert!(!shares(&[5, 5, 0]).has_all(10));
        assert!(!shares(&[5, 3, 1]).has_all(10));
        assert!((shares(&[5, 3, 2]).fullest_percent() - 50.0).abs() < 1e-9);
        assert!(shares(&[]).fullest_percent().abs() < 1e-9);
    }
}
