//! What a scan knows of its rows before it reads them: counts, bytes, least and greatest values.
//!
//! Figures are exact when every piece is a chunk without changes and no predicate is in the way; then
//! `count(*)`, `min` and `max` are answered from them without reading (A6, A7).

use super::bucket_scan::{BucketScan, Piece};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use store::{Morsel, ZoneValue};

/// The statistics of a whole scan, or of one partition.
pub(crate) fn of_scan(scan: &BucketScan, partition: Option<usize>) -> Statistics {
    let pieces = match partition {
        Some(partition) => &scan.pieces[scan.stretches[partition].clone()],
        None => &scan.pieces[..],
    };
    let rows = pieces.iter().map(|piece| piece.morsel.rows()).sum();
    let bytes = pieces.iter().map(|piece| piece.morsel.bytes() as usize).sum();
    let exact = pieces.iter().all(|piece| piece.with_chunk && !piece.morsel.has_changes());
    let column_statistics = scan
        .output
        .iter()
        .map(|&out| {
            let column = scan.read[out];
            let unique = scan.table.key_indices() == [column];
            let data_type = scan.read_schema.field(out).data_type();
            of_column(pieces, column, data_type, exact, unique.then_some(rows))
        })
        .collect();
    let statistics = Statistics {
        num_rows: precision(rows, exact),
        total_byte_size: Precision::Inexact(bytes),
        column_statistics,
    };
    match (&scan.predicate, &scan.hint, scan.limit) {
        (None, None, None) => statistics,
        (_, _, limit) => {
            let mut statistics = statistics.to_inexact();
            if let (Some(limit), Precision::Inexact(rows)) = (limit, statistics.num_rows) {
                statistics.num_rows = Precision::Inexact(rows.min(limit * scan.stretches.len()));
            }
            statistics
        }
    }
}

fn precision<T: Clone + Eq + PartialOrd + std::fmt::Debug>(value: T, exact: bool) -> Precision<T> {
    if exact { Precision::Exact(value) } else { Precision::Inexact(value) }
}

fn of_column(
    pieces: &[Piece],
    column: usize,
    data_type: &DataType,
    exact: bool,
    distinct: Option<usize>,
) -> ColumnStatistics {
    let mut statistics = ColumnStatistics::new_unknown();
    if let Some(distinct) = distinct {
        statistics.distinct_count = precision(distinct, exact);
    }
    let Some(bounds) = Bounds::over(pieces.iter().map(|piece| &piece.morsel), column) else {
        return statistics;
    };
    statistics.null_count = precision(bounds.nulls as usize, exact);
    let exact = exact && bounds.exact;
    if let Some(value) = bounds.min.and_then(|value| scalar(value, data_type)) {
        statistics.min_value = precision(value, exact);
    }
    if let Some(value) = bounds.max.and_then(|value| scalar(value, data_type)) {
        statistics.max_value = precision(value, exact);
    }
    statistics
}

/// The zone of several zones.
struct Bounds {
    nulls: u64,
    min: Option<ZoneValue>,
    max: Option<ZoneValue>,
    exact: bool,
}

impl Bounds {
    /// `None` when some piece has a chunk without a zone for the column.
    fn over<'a>(morsels: impl Iterator<Item = &'a Morsel>, column: usize) -> Option<Self> {
        let mut bounds = Self { nulls: 0, min: None, max: None, exact: true };
        for morsel in morsels.filter(|morsel| morsel.has_chunk()) {
            let zone = morsel.zone(column)?;
            bounds.nulls += zone.nulls;
            bounds.exact &= zone.exact;
            bounds.min = choose(bounds.min, zone.min, |new, old| new < old);
            bounds.max = choose(bounds.max, zone.max, |new, old| new > old);
        }
        Some(bounds)
    }
}

fn choose(
    old: Option<ZoneValue>,
    new: Option<ZoneValue>,
    better: impl Fn(&ZoneValue, &ZoneValue) -> bool,
) -> Option<ZoneValue> {
    match (old, new) {
        (Some(old), Some(new)) if better(&new, &old) => Some(new),
        (Some(old), _) => Some(old),
        (None, new) => new,
    }
}

fn scalar(value: ZoneValue, data_type: &DataType) -> Option<ScalarValue> {
    let array = store::zone::to_array(data_type.clone(), std::iter::once(Some(value)));
    ScalarValue::try_from_array(&array, 0).ok().filter(|scalar| !scalar.is_null())
}
