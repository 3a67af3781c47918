//! Cycles of queries. Each round runs all queries, so that other load on the machine affects one run of each. The shortest run of
//! each counts.

use super::Bench;
use anyhow::Result;
use futures::TryStreamExt;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Instant;

/// Runs before each query, so that every query finds the processor's caches in the same state: it evicts most of the planner's
/// code and data.
const BETWEEN: &str = "SELECT g, sum(t.n1) FROM t JOIN least ON t.g = least.k WHERE l1 <> 'none' AND t.id < 500000 GROUP BY g ORDER BY g";

/// A query, and whether each operator of its plan is a bundle.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Query {
    sql: String,
    in_bundles: bool,
}

/// Cycles of queries by their text. A computation runs twice: the first time registers its queries, the second time gets their
/// cycles.
#[derive(Default)]
pub(super) struct Times {
    /// Sum of each query's cycles over all loads of the tables.
    cycles: RefCell<BTreeMap<Query, f64>>,
    loads: f64,
}

impl Times {
    /// Mean cycles of a query over all loads of the tables; 0 if it is not measured yet.
    pub(super) fn of(&self, sql: &str) -> f64 {
        self.mean(Query { sql: sql.to_owned(), in_bundles: false })
    }

    /// The same if every operator is a bundle.
    pub(super) fn in_bundles(&self, sql: &str) -> f64 {
        self.mean(Query { sql: sql.to_owned(), in_bundles: true })
    }

    fn mean(&self, query: Query) -> f64 {
        *self.cycles.borrow_mut().entry(query).or_default() / self.loads.max(1.0)
    }

    /// Measures the registered queries over another load of the tables. The first round warms up.
    pub(super) async fn measure(&mut self, bench: &Bench) -> Result<()> {
        let cycles = self.cycles.get_mut();
        let mut shortest = vec![f64::INFINITY; cycles.len()];
        for round in 0..=bench.runs {
            for (query, shortest) in cycles.keys().zip(&mut shortest) {
                seconds(bench, BETWEEN, false).await?;
                let seconds = seconds(bench, &query.sql, query.in_bundles).await?;
                if round > 0 {
                    *shortest = shortest.min(bench.mhz * 1e6 * seconds);
                }
            }
        }
        cycles.values_mut().zip(shortest).for_each(|(sum, shortest)| *sum += shortest);
        self.loads += 1.0;
        Ok(())
    }
}

async fn seconds(bench: &Bench, sql: &str, in_bundles: bool) -> Result<f64> {
    if in_bundles {
        bench.session.execute("SET pando.bundling = none").await?;
    }
    let started = Instant::now();
    let mut stream = bench.session.query(sql).await?.stream;
    while stream.try_next().await?.is_some() {}
    let seconds = started.elapsed().as_secs_f64();
    if in_bundles {
        bench.session.execute("RESET pando.bundling").await?;
    }
    Ok(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_the_mean_of_all_loads() {
        let times = Times::default();
        assert_eq!(times.of("SELECT 1"), 0.0);
        times.cycles.borrow_mut().values_mut().for_each(|sum| *sum = 9.0);
        assert_eq!(Times { loads: 3.0, ..times }.of("SELECT 1"), 3.0);
    }
}
