//! `OVERLAPS`: whether two periods have a moment in common.

use columnar::function;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, SqlState};

/// The function. Its arguments are two bounds of each period, all of one type.
pub(super) fn overlaps() -> ScalarUDF {
    function(
        "periods_overlap",
        |types| match types {
            [of, _, _, _] => Ok((vec![of.clone(); 4], DataType::Boolean)),
            _ => Err(Error::new(SqlState::UndefinedFunction, "OVERLAPS takes two periods")),
        },
        |args| {
            let bounds = args.iter().map(|array| cast(array, &DataType::Int64));
            let bounds = bounds.collect::<std::result::Result<Vec<ArrayRef>, _>>()?;
            let at = |index: usize, row: usize| {
                let values = bounds[index].as_primitive::<Int64Type>();
                values.is_valid(row).then(|| values.value(row))
            };
            let rows = (0..bounds[0].len()).map(|row| {
                let [first, second] = [0, 2].map(|side| period(at(side, row), at(side + 1, row)));
                overlap(first?, second?)
            });
            Ok(Arc::new(rows.collect::<BooleanArray>()))
        },
    )
}

/// A period: its start, and its end if that is known.
type Period = (i64, Option<i64>);

/// The period between two bounds in any order; `None` without any.
fn period(start: Option<i64>, end: Option<i64>) -> Option<Period> {
    match (start, end) {
        (Some(start), Some(end)) => Some((start.min(end), Some(start.max(end)))),
        (Some(known), None) | (None, Some(known)) => Some((known, None)),
        (None, None) => None,
    }
}

/// Whether two periods overlap; `None` if an unknown end decides.
fn overlap(first: Period, second: Period) -> Option<bool> {
    if first.0 == second.0 {
        return first.1.and(second.1).map(|_| true);
    }
    let (earlier, later) = if first.0 < second.0 { (first, second) } else { (second, first) };
    if later.0 < earlier.1? {
        return Some(true);
    }
    later.1.map(|_| false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_ends_are_unknown_answers_where_they_matter() {
        let of = |a: (Option<i64>, Option<i64>), b: (Option<i64>, Option<i64>)| {
            overlap(period(a.0, a.1)?, period(b.0, b.1)?)
        };
        assert_eq!(of((Some(1), Some(5)), (Some(4), Some(9))), Some(true));
        assert_eq!(of((Some(5), Some(1)), (Some(5), Some(9))), Some(false));
        assert_eq!(of((Some(1), Some(1)), (Some(1), Some(1))), Some(true));
        assert_eq!(of((Some(1), None), (Some(4), Some(9))), None);
        assert_eq!(of((Some(1), Some(5)), (Some(4), None)), Some(true));
        assert_eq!(of((Some(1), Some(3)), (Some(4), None)), None);
        assert_eq!(of((None, None), (Some(4), Some(5))), None);
    }
}
