//! The declared precision of times, timestamps and intervals, and the declared fields of intervals, as functions that
//! statements call by declared types.

use super::intervals::INTERVAL;
use columnar::{Types, function};
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Int32Type, TimeUnit};
use datafusion::logical_expr::ScalarUDF;
use values::error::{Error, Result};
use values::precision;

/// The functions of this file.
pub(crate) fn all() -> [ScalarUDF; 2] {
    let moments: Types = |types| match types {
        [of @ (DataType::Time64(_) | DataType::Timestamp(TimeUnit::Microsecond, _)), _] => {
            Ok((vec![of.clone(), DataType::Int32], of.clone()))
        }
        _ => Err(Error::unsupported("the precision of this type is not supported")),
    };
    let intervals: Types = |_| Ok((vec![INTERVAL, DataType::Int32], INTERVAL));
    [
        function("moment_precision", moments, adjusted),
        function("interval_precision", intervals, adjusted),
    ]
}

fn adjusted(args: &[ArrayRef]) -> Result<ArrayRef> {
    let modifiers = args[1].as_primitive::<Int32Type>();
    let at = |row: usize| if modifiers.is_valid(row) { modifiers.value(row) } else { -1 };
    precision::rounded(&args[0], at)
}
