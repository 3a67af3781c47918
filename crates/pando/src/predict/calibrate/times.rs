//! What queries take. All are run in turn, again and again, so that what disturbs the machine for a while disturbs one run of
//! each and not all runs of one: the shortest run of each counts.

use super::Bench;
use anyhow::Result;
use futures::TryStreamExt;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Instant;

/// What is run before each query, so that all find the processor's caches alike: as one has left them that is not quite different
/// and has looked at half a million rows, so that little of what plans queries is still there.
const BETWEEN: &str = "SELECT g, sum(t.n1) FROM t JOIN least ON t.g = least.k WHERE l1 <> 'none' AND t.id < 500000 GROUP BY g ORDER BY g";

/// A query, and whether its plan is cut into bundles.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Query {
    sql: String,
    in_bundles: bool,
}

/// Cycles of queries by their text. Whoever computes with them does so twice: what is asked for at first is noted, and known
/// when it was measured.
#[derive(Default)]
pub(super) struct Times {
    /// Sums of what each took over each load of the tables.
    cycles: RefCell<BTreeMap<Query, f64>>,
    loads: f64,
}

impl Times {
    /// Cycles of a query, their mean over all loads of the tables; none as long as it was not run.
    pub(super) fn of(&self, sql: &str) -> f64 {
        self.asked(Query { sql: sql.to_owned(), in_bundles: false })
    }

    /// The same where every operator is a bundle.
    pub(super) fn in_bundles(&self, sql: &str) -> f64 {
        self.asked(Query { sql: sql.to_owned(), in_bundles: true })
    }

    fn asked(&self, query: Query) -> f64 {
        *self.cycles.borrow_mut().entry(query).or_default() / self.loads.max(1.0)
    }

    /// Runs what was asked for over one more load of the tables. The first round only warms up.
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
    let began = Instant::now();
    let mut stream = bench.session.query(sql).await?.stream;
    while stream.try_next().await?.is_some() {}
    let seconds = began.elapsed().as_secs_f64();
    if in_bundles {
        bench.session.execute("RESET pando.bundling").await?;
    }
    Ok(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_all_loads_counts() {
        let times = Times::default();
        assert_eq!(times.of("SELECT 1"), 0.0);
        times.cycles.borrow_mut().values_mut().for_each(|sum| *sum = 9.0);
        assert_eq!(Times { loads: 3.0, ..times }.of("SELECT 1"), 3.0);
    }
}
