//! Averages, variances and sums of the totals of an aggregate.

use super::super::totals::STATE;
use columnar::{Types, function};
use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::logical_expr::ScalarUDF;
use numerics::{Error, Numeric, Totals};
use values::error::{self, Result, SqlState};
use values::numbers::{Numbers, OPEN, collect, of_rows};

/// The name of the function of totals that returns their sum.
pub const SUM: &str = "numeric_total";

/// The name of the function of totals that returns their average.
pub const AVERAGE: &str = "numeric_average";

/// The name of the function of a sum and a count that returns the average.
pub const MEAN: &str = "numeric_mean";

/// The names of the functions of totals that return the variance and the standard deviation of a sample, and of a population.
pub const DEVIATIONS: [&str; 4] =
    ["numeric_var_samp", "numeric_stddev_samp", "numeric_var_pop", "numeric_stddev_pop"];

/// The functions of this file.
pub(super) fn all() -> Vec<ScalarUDF> {
    let types: Types = |_| Ok((vec![STATE], OPEN));
    let [variance, deviation, variance_pop, deviation_pop] = DEVIATIONS;
    vec![
        function(SUM, types, |args| of_totals(args, Totals::sum)),
        function(AVERAGE, types, |args| of_totals(args, Totals::avg)),
        function(variance, types, |args| of_totals(args, |totals| totals.variance(true))),
        function(deviation, types, |args| of_totals(args, |totals| totals.stddev(true))),
        function(variance_pop, types, |args| of_totals(args, |totals| totals.variance(false))),
        function(deviation_pop, types, |args| of_totals(args, |totals| totals.stddev(false))),
        function(MEAN, |types| Ok((types.to_vec(), OPEN)), means),
    ]
}

type Value = fn(&Totals) -> std::result::Result<Option<Numeric>, Error>;

fn of_totals(args: &[ArrayRef], value: Value) -> Result<ArrayRef> {
    let states = args[0].as_binary_view();
    collect(states.iter().map(|state| {
        let Some(state) = state else { return Ok(None) };
        let damaged = |_| error::Error::new(SqlState::DataCorrupted, "totals are damaged");
        Ok(value(&Totals::decode(state).map_err(damaged)?)?)
    }))
}

/// The quotient of a sum and a count, NULL if the count is 0.
fn means(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (sums, counts) = (Numbers::new(&args[0])?, args[1].as_primitive::<Int64Type>());
    of_rows(args, |row| match counts.value(row) {
        0 => Ok(None),
        count => Ok(Some(sums.number(row)?.div(&Numeric::from_i128(count.into(), 0))?)),
    })
}
