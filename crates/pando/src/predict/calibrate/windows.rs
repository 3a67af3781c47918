//! Costs of window functions over rows in key order, so that nothing is sorted.

use super::tables::sorted;
use super::times::Times;
use dbsim::Windows;

/// A moving frame.
const SEVEN: &str = "ROWS BETWEEN 6 PRECEDING AND CURRENT ROW";

/// Costs of window functions, from tables of `rows` rows. Comparing a row with its predecessor takes `group_ordered` cycles, and
/// aggregating it `aggregate`.
pub(super) fn windows(rows: u64, times: &Times, group_ordered: f64, aggregate: f64) -> Windows {
    let sizes = sorted(rows);
    // The largest table; and a smaller one for partitions of one row, which take many times as long.
    let (many, few) = (sizes.len() - 1, sizes.len().min(2) - 1);
    let of = |table: usize, window: &str| {
        let computed =
            times.of(&format!("SELECT sum(w) FROM (SELECT {window} AS w FROM few{table}) s"));
        computed - times.of(&format!("SELECT sum(v) FROM few{table}"))
    };
    let each =
        |function: &str| of(many, &format!("{function} OVER (ORDER BY id)")) / sizes[many] as f64;
    let number = each("row_number()");
    let value = (number + each("lag(v)")) / 2.0;
    let moving = of(many, &format!("sum(v) OVER (ORDER BY id {SEVEN})")) / sizes[many] as f64;
    let partition = |function: &str| {
        let in_partitions = of(few, &format!("{function} OVER (PARTITION BY id ORDER BY id)"));
        let in_one = of(few, &format!("{function} OVER (ORDER BY id)"));
        ((in_partitions - in_one) / sizes[few] as f64).max(0.0)
    };
    let of_numbers = partition("row_number()");
    let above = |cycles: f64, known: f64| (cycles - known).max(0.0);
    Windows {
        value: above(value, group_ordered + aggregate),
        rank: above(each("rank()"), value),
        running: above(each("sum(v)"), value),
        moving: above(moving, value),
        partition: of_numbers,
        partition_running: above(partition("sum(v)"), of_numbers),
    }
}
