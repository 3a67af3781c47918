//! Costs of a query that do not depend on the number of rows: planning, and bundles.

use super::Bench;
use super::costs::Costs;
use super::times::Times;
use anyhow::Result;
use dbsim::plan::{KINDS_OF_PLANNING as KINDS, Planning};

/// Queries over a single row, whose duration is that of planning. Their shapes differ: a join, many expressions, a scan, two
/// joins with an order, CASE, grouped groups, and NOT IN with a subquery. One table has twice as many columns as the other,
/// because the planner carries all columns of a table until it knows which ones are needed.
const PLANNED: [&str; 7] = [
    JOIN,
    "SELECT s1, s2, sum(n1), sum(n2), sum(n1 * (1 - n2)), sum(n1 * (1 - n2) * (1 + n3)), avg(n1), avg(n2), avg(n3), count(*) \
     FROM narrow WHERE d1 > date '1990-01-01' GROUP BY s1, s2 ORDER BY s1, s2",
    "SELECT sum(n1 * n2) FROM narrow WHERE d1 >= date '1992-01-01' AND d1 < date '1992-01-01' + interval '1' year \
     AND n2 BETWEEN 0.01 - 0.01 AND 0.06 + 0.01 AND n3 < 24",
    "SELECT a.r, b.d1, sum(c.n1 * (1 - c.n2)) FROM slim a, slim b, narrow c WHERE a.s1 = 'SHIP 0' AND a.id = b.r AND c.id = b.id \
     AND b.d1 < date '1995-03-15' AND c.d1 > date '1991-03-15' GROUP BY a.r, b.d1 ORDER BY 3 DESC, 2 LIMIT 10",
    "SELECT b.s2, sum(CASE WHEN a.s1 = 'SHIP 1' OR a.s1 = 'SHIP 2' THEN 1 ELSE 0 END), \
     sum(CASE WHEN a.s1 <> 'SHIP 1' AND a.s1 <> 'SHIP 2' THEN 1 ELSE 0 END) FROM slim a, narrow b WHERE a.id = b.r \
     AND b.s2 IN ('MODE 0', 'MODE 1') AND b.d1 <= b.d2 AND b.d3 <= b.d1 AND b.d2 >= date '1992-01-01' GROUP BY b.s2 ORDER BY b.s2",
    "SELECT many, count(*) FROM (SELECT a.id, count(b.id) FROM slim a LEFT JOIN slim b ON a.id = b.r AND b.c1 NOT LIKE '%copper%signal%' \
     GROUP BY a.id) AS counted (id, many) GROUP BY many ORDER BY 2 DESC, many DESC",
    "SELECT b.s1, b.c1, b.g, count(DISTINCT a.r) FROM slim a, slim b WHERE b.id = a.r AND b.s1 <> 'none' AND b.c1 NOT LIKE 'none%' \
     AND b.g IN (49, 14, 23, 0) AND a.v NOT IN (SELECT id FROM slim WHERE c1 LIKE '%copper%signal%') \
     GROUP BY b.s1, b.c1, b.g ORDER BY 4 DESC, 1, 2, 3",
];
/// The query that also runs with a bundle for each operator.
const JOIN: &str = "SELECT a.g, sum(b.v) FROM slim a JOIN narrow b ON a.r = b.r WHERE b.id < 9 GROUP BY a.g ORDER BY 2";

/// A query with an IN list of varying length.
const OF_LIST: &str = "SELECT id FROM narrow WHERE s1 <> 'none' AND g IN (LIST) ORDER BY id";
/// The lengths of the list.
const LISTS: [u64; 2] = [8, 48];

/// Rounds of coordinate descent.
const ROUNDS: usize = 10_000;

/// The counts of [`PLANNED`] by which the simulator computes planning time.
#[derive(Default)]
pub(super) struct Planned {
    /// For each query, the number of items of each kind that planning takes time for.
    counts: [[f64; KINDS]; PLANNED.len()],
    /// Bundles of [`JOIN`] if each operator is a bundle.
    bundles: f64,
}

impl Planned {
    /// Plans the queries and counts.
    pub(super) async fn of(bench: &Bench) -> Result<Self> {
        let mut counts = [[0.0; KINDS]; PLANNED.len()];
        for (counts, query) in counts.iter_mut().zip(PLANNED) {
            *counts = bench.plan(query).await?.planned();
        }
        let bundles = bench.plan(JOIN).await?.operators().len() as f64;
        Ok(Self { counts, bundles })
    }
}

/// Adds the costs of planning and of a bundle. The short IN lists of [`PLANNED`] count as part of their expressions.
pub(super) fn planning(times: &Times, planned: &Planned, costs: &mut Costs) {
    let cycles = PLANNED.map(|query| times.of(query));
    let with_list = |values: u64| {
        let list: Vec<String> = (0..values).map(|value| value.to_string()).collect();
        times.of(&OF_LIST.replace("LIST", &list.join(", ")))
    };
    let [few, many] = LISTS;
    let listed = (with_list(many) - with_list(few)).max(0.0) / (many - few) as f64;
    let others = Planning::from(non_negative_least_squares(&planned.counts, &cycles));
    costs.planning = Planning { listed, ..others };
    let in_bundles = times.in_bundles(JOIN);
    let bundle = (in_bundles - cycles[0]).max(1.0) / (planned.bundles - 1.0);
    costs.cycles.push(("bundle", bundle));
}

/// Non-negative least squares fit of the costs: minimises the squares of the relative errors of `counts` times costs.
fn non_negative_least_squares<const KINDS: usize>(
    counts: &[[f64; KINDS]],
    measured: &[f64],
) -> [f64; KINDS] {
    let mut costs = [0.0; KINDS];
    for _ in 0..ROUNDS {
        for kind in 0..KINDS {
            let (mut missing, mut square) = (0.0, 0.0);
            for (counts, cycles) in counts.iter().zip(measured) {
                let of_all: f64 = counts.iter().zip(&costs).map(|(count, cost)| count * cost).sum();
                let [part, rest] = [counts[kind], cycles - of_all].map(|of| of / cycles.max(1.0));
                missing += part * rest;
                square += part * part;
            }
            if square > 0.0 {
                costs[kind] = (costs[kind] + missing / square).max(0.0);
            }
        }
    }
    costs
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: [[f64; 3]; 4] =
        [[1.0, 5.0, 6.0], [1.0, 3.0, 21.0], [1.0, 2.0, 7.0], [1.0, 7.0, 10.0]];

    #[test]
    fn known_costs_are_recovered() {
        let known = [1e6, 4e5, 2e5];
        let cycles = |counts: [f64; 3]| counts.iter().zip(known).map(|(n, cost)| n * cost).sum();
        let found = non_negative_least_squares(&COUNTS, &COUNTS.map(cycles));
        for (found, known) in found.iter().zip(known) {
            assert!((found / known - 1.0).abs() < 1e-3, "{found} for {known}");
        }
    }

    #[test]
    fn costs_are_not_negative() {
        let decreasing = [9e6, 1e6, 9e6, 9e6];
        let found = non_negative_least_squares(&COUNTS, &decreasing);
        assert!(found.iter().all(|cost| *cost >= 0.0), "{found:?}");
        assert_eq!(found[2], 0.0);
        assert_eq!(non_negative_least_squares(&COUNTS, &[0.0; 4]), [0.0; 3]);
    }
}
