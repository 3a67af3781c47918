//! Statistics of a scan before it runs: rows, bytes, and the minimum and maximum of each column.
//!
//! They are exact if every piece is a chunk without changes and there is no predicate. Then
//! `count(*)`, `min` and `max` are answered without reading rows (A6, A7).

use super::known::{Bounds, Known, Totals};
use super::scan::BucketScan;
use crate::estimate::{Column, Guesses, Input, row_bytes};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use std::sync::Arc;
use store::ZoneValue;

/// The statistics of a whole scan, or of one partition.
pub(super) fn of_scan(scan: &BucketScan, partition: Option<usize>) -> Statistics {
    let some = partition.filter(|_| scan.piece_ranges.len() > 1);
    let (pieces, known) = match some {
        Some(partition) => {
            let known = Arc::new(Known::nothing(scan.table.columns.len()));
            (&scan.pieces[scan.piece_ranges[partition].clone()], known)
        }
        None => (&scan.pieces[..], Arc::clone(&scan.known)),
    };
    let totals = known.totals(pieces);
    let key = scan.table.key_indices();
    let bytes = (totals.bytes as f64 * share_of_columns(scan)) as usize;
    let column_statistics = scan
        .output
        .iter()
        .map(|&out| {
            let column = scan.read[out];
            let unique = key[..] == [column];
            let data_type = scan.read_schema.field(out).data_type();
            of_column(known.bounds(pieces, column), data_type, totals, unique)
        })
        .collect();
    let statistics = Statistics {
        num_rows: precision(totals.rows, totals.exact),
        total_byte_size: Precision::Inexact(bytes),
        column_statistics,
    };
    if scan.predicate.is_none() && scan.hint.is_none() && scan.limit.is_none() {
        return statistics;
    }
    let mut statistics = statistics.to_inexact();
    let rows = at_least_one(totals.rows, selectivity(scan)).min(rows_max(scan));
    statistics.num_rows = Precision::Inexact(rows);
    let part = rows as f64 / totals.rows.max(1) as f64;
    statistics.total_byte_size = Precision::Inexact((bytes as f64 * part) as usize);
    statistics
}

/// Rows in a scan's pieces, at most as many as its limit allows, and their bytes of all columns.
pub(crate) fn in_pieces(scan: &BucketScan) -> (usize, usize) {
    let totals = scan.known.totals(&scan.pieces);
    (totals.rows.min(rows_max(scan)), totals.bytes)
}

/// Rows that a scan's limit allows in all partitions.
fn rows_max(scan: &BucketScan) -> usize {
    scan.limit.map_or(usize::MAX, |limit| limit.saturating_mul(scan.piece_ranges.len()))
}

/// The estimated selectivity of a scan's predicate, from 0 to 1.
pub(crate) fn selectivity(scan: &BucketScan) -> f64 {
    let Some(predicate) = &scan.predicate else { return 1.0 };
    *scan.selectivity.get_or_init(|| {
        let totals = scan.known.totals(&scan.pieces);
        let key = scan.table.key_indices();
        let column = |(&column, field): (&usize, &FieldRef)| {
            let (data_type, unique) = (field.data_type(), key[..] == [column]);
            let bounds = scan.known.bounds(&scan.pieces, column);
            let mut known = Column::of_type(data_type);
            known.learn(&of_column(bounds, data_type, totals, unique), totals.rows as f64);
            known
        };
        let columns: Vec<Column> =
            scan.read.iter().zip(scan.read_schema.fields()).map(column).collect();
        let input = Input { rows: totals.rows as f64, columns: &columns };
        input.kept(predicate, &mut Guesses::default())
    })
}

/// A share of `rows`, at least one row unless there is none.
fn at_least_one(rows: usize, part: f64) -> usize {
    ((rows as f64 * part).round() as usize).max(1).min(rows)
}

/// The estimated share of a row's bytes that the output columns have.
pub(crate) fn share_of_columns(scan: &BucketScan) -> f64 {
    let all = scan.table.columns.iter().map(|column| Column::of_type(&column.sql_type.arrow()));
    let out = scan.schema.fields().iter().map(|field| Column::of_type(field.data_type()));
    let bytes = |columns: Vec<Column>| row_bytes(&columns).max(1.0);
    (bytes(out.collect()) / bytes(all.collect())).min(1.0)
}

fn precision<T: Clone + Eq + PartialOrd + std::fmt::Debug>(value: T, exact: bool) -> Precision<T> {
    if exact { Precision::Exact(value) } else { Precision::Inexact(value) }
}

fn of_column(
    bounds: Option<&Bounds>,
    data_type: &DataType,
    totals: Totals,
    unique: bool,
) -> ColumnStatistics {
    let mut statistics = ColumnStatistics::new_unknown();
    if unique {
        statistics.distinct_count = precision(totals.rows, totals.exact);
    }
    let Some(bounds) = bounds else { return statistics };
    statistics.null_count = precision(bounds.nulls as usize, totals.exact);
    let exact = totals.exact && bounds.exact;
    let value = |of: &Option<ZoneValue>| of.as_ref().and_then(|value| scalar(value, data_type));
    if let Some(value) = value(&bounds.min) {
        statistics.min_value = precision(value, exact);
    }
    if let Some(value) = value(&bounds.max) {
        statistics.max_value = precision(value, exact);
    }
    statistics
}

fn scalar(value: &ZoneValue, data_type: &DataType) -> Option<ScalarValue> {
    let array = store::zone::to_array(data_type.clone(), std::iter::once(Some(value)));
    ScalarValue::try_from_array(&array, 0).ok().filter(|scalar| !scalar.is_null())
}
