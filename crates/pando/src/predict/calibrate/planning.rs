//! What a query takes however many rows there are.

use super::Bench;
use super::costs::Costs;
use super::times::Times;
use anyhow::Result;
use dbsim::Cost;

/// Queries that are only planned, of ever other shapes: of a join, of many expressions, of a scan alone, of two joins and an order.
const PLANNED: [&str; 4] = [
    JOIN,
    "SELECT s1, s2, sum(n1), sum(n2), sum(n1 * (1 - n2)), sum(n1 * (1 - n2) * (1 + n3)), avg(n1), avg(n2), avg(n3), count(*) \
     FROM one WHERE d1 > date '1990-01-01' GROUP BY s1, s2 ORDER BY s1, s2",
    "SELECT sum(n1 * n2) FROM one WHERE d1 >= date '1994-01-01' AND d1 < date '1994-01-01' + interval '1' year \
     AND n2 BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND n3 < 24",
    "SELECT a.r, b.d1, sum(c.n1 * (1 - c.n2)) FROM one a, few b, one c WHERE a.s1 = 'none' AND a.id = b.r AND c.id = b.id \
     AND b.d1 < date '1995-03-15' AND c.d1 > date '1995-03-15' GROUP BY a.r, b.d1 ORDER BY 3 DESC, 2 LIMIT 10",
];
/// The one that is also run in bundles.
const JOIN: &str = "SELECT a.g, sum(b.v) FROM one a JOIN few b ON a.r = b.r WHERE b.id < 0 GROUP BY a.g ORDER BY 2";

/// How often each of three costs is brought nearer to where the others have it.
const ROUNDS: usize = 10_000;

/// How many statements (one), operators and expressions each of [`PLANNED`] is.
pub(super) struct Planned([[f64; 3]; PLANNED.len()]);

impl Planned {
    /// As the simulator counts them.
    pub(super) async fn of(bench: &Bench) -> Result<Self> {
        let mut counts = [[0.0; 3]; PLANNED.len()];
        for (counts, query) in counts.iter_mut().zip(PLANNED) {
            let plan = bench.plan(query).await?;
            *counts = [1.0, plan.operators().len() as f64, plan.expressions()];
        }
        Ok(Self(counts))
    }
}

/// What a statement takes, and each operator, expression and bundle of it.
pub(super) fn planning(times: &Times, planned: &Planned, costs: &mut Costs) {
    let cycles = PLANNED.map(|query| times.of(query));
    let [statement, operator, expression] = nearest(&planned.0, &cycles);
    let in_bundles = times.in_bundles(JOIN);
    let [[_, operators, _], ..] = planned.0;
    costs.costs.push(("planning", Cost { tuple: operator, byte: expression }));
    costs.cycles.extend([
        ("statement", statement),
        ("bundle", (in_bundles - cycles[0]).max(1.0) / (operators - 1.0)),
    ]);
}

/// Costs, none of them negative, with which counts come nearest to what was measured, by the squares of relative errors.
fn nearest<const KINDS: usize>(counts: &[[f64; KINDS]], measured: &[f64]) -> [f64; KINDS] {
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
        [[1.0, 6.0, 6.0], [1.0, 4.0, 21.0], [1.0, 2.0, 7.0], [1.0, 8.0, 10.0]];

    #[test]
    fn costs_are_found_again_in_what_they_come_to() {
        let known = [1e6, 4e5, 2e5];
        let come_to = |counts: [f64; 3]| counts.iter().zip(known).map(|(n, cost)| n * cost).sum();
        let found = nearest(&COUNTS, &COUNTS.map(come_to));
        for (found, known) in found.iter().zip(known) {
            assert!((found / known - 1.0).abs() < 1e-3, "{found} for {known}");
        }
    }

    #[test]
    fn costs_are_not_negative() {
        let fewer_where_more = [9e6, 1e6, 9e6, 9e6];
        let found = nearest(&COUNTS, &fewer_where_more);
        assert!(found.iter().all(|cost| *cost >= 0.0), "{found:?}");
        assert_eq!(found[2], 0.0);
        assert_eq!(nearest(&COUNTS, &[0.0; 4]), [0.0; 3]);
    }
}
