//! Functions on dates, times, timestamps and intervals.

pub mod bounds;
mod clock;
pub mod extract;
pub mod intervals;
pub mod local;
mod making;
pub mod moments;
mod overlaps;
pub(crate) mod precision;
mod sleep;
pub mod zones;

use datafusion::logical_expr::ScalarUDF;

/// The functions of this folder.
pub(crate) fn all() -> Vec<ScalarUDF> {
    let mut all = intervals::all();
    all.extend(making::all());
    all.extend([
        extract::date_part(),
        moments::age_function(),
        sleep::function(),
        zones::at_time_zone(),
    ]);
    all.extend([clock::function(), overlaps::overlaps()]);
    all
}
