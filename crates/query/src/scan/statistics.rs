//! What a scan knows of its rows before it reads them: counts, bytes, least and greatest values.
//!
//! Figures are exact when every piece is a chunk without changes and no predicate is in the way; then
//! `count(*)`, `min` and `max` are answered from them without reading (A6, A7).

use super::bucket_scan::{BucketScan, Piece};
use crate::scan::estimate::{Column, Guesses, Input, row_bytes};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};
use store::ZoneValue;

/// What is known of a scan's pieces. Each figure is found out when it is first asked for: planning asks again and again, and
/// there may be thousands of pieces.
#[derive(Debug)]
pub(crate) struct Known {
    totals: OnceLock<Totals>,
    /// Of each column of the table; `None` where some piece has a chunk without a zone for it.
    bounds: Box<[OnceLock<Option<Bounds>>]>,
}

/// What is known of the pieces as a whole.
#[derive(Debug, Clone, Copy)]
struct Totals {
    rows: usize,
    bytes: usize,
    exact: bool,
}

/// The zone of several zones.
#[derive(Debug)]
struct Bounds {
    nulls: u64,
    min: Option<ZoneValue>,
    max: Option<ZoneValue>,
    exact: bool,
}

/// The statistics of a whole scan, or of one partition.
pub(crate) fn of_scan(scan: &BucketScan, partition: Option<usize>) -> Statistics {
    let some = partition.filter(|_| scan.stretches.len() > 1);
    let (pieces, known) = match some {
        Some(partition) => {
            let known = Arc::new(Known::nothing(scan.table.columns.len()));
            (&scan.pieces[scan.stretches[partition].clone()], known)
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
    let rows = at_least_one(totals.rows, kept(scan)).min(most(scan));
    statistics.num_rows = Precision::Inexact(rows);
    let part = rows as f64 / totals.rows.max(1) as f64;
    statistics.total_byte_size = Precision::Inexact((bytes as f64 * part) as usize);
    statistics
}

/// Rows, as many as a limit leaves, and bytes of all columns in a scan's pieces.
pub(super) fn in_pieces(scan: &BucketScan) -> (usize, usize) {
    let totals = scan.known.totals(&scan.pieces);
    (totals.rows.min(most(scan)), totals.bytes)
}

/// How many rows a scan's limit allows.
fn most(scan: &BucketScan) -> usize {
    scan.limit.map_or(usize::MAX, |limit| limit.saturating_mul(scan.stretches.len()))
}

/// The part of the rows in its pieces that a scan's predicate is believed to keep.
pub(super) fn kept(scan: &BucketScan) -> f64 {
    let Some(predicate) = &scan.predicate else { return 1.0 };
    *scan.kept.get_or_init(|| {
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

/// A part of some rows: one where there are any at all.
fn at_least_one(rows: usize, part: f64) -> usize {
    ((rows as f64 * part).round() as usize).max(1).min(rows)
}

/// How much of a row's bytes the columns that come out have, about.
pub(super) fn share_of_columns(scan: &BucketScan) -> f64 {
    let all = scan.table.columns.iter().map(|column| Column::of_type(&column.sql_type.arrow()));
    let out = scan.schema.fields().iter().map(|field| Column::of_type(field.data_type()));
    let bytes = |columns: Vec<Column>| row_bytes(&columns).max(1.0);
    (bytes(out.collect()) / bytes(all.collect())).min(1.0)
}

impl Known {
    /// Of pieces of a table with so many columns.
    pub(super) fn nothing(columns: usize) -> Self {
        Self { totals: OnceLock::new(), bounds: (0..columns).map(|_| OnceLock::new()).collect() }
    }

    fn totals(&self, pieces: &[Piece]) -> Totals {
        let of_all = || Totals {
            rows: pieces.iter().map(|piece| piece.morsel.rows()).sum(),
            bytes: pieces.iter().map(|piece| piece.morsel.bytes() as usize).sum(),
            exact: pieces.iter().all(|piece| piece.with_chunk && !piece.morsel.has_changes()),
        };
        *self.totals.get_or_init(of_all)
    }

    fn bounds(&self, pieces: &[Piece], column: usize) -> Option<&Bounds> {
        self.bounds[column].get_or_init(|| Bounds::over(pieces, column)).as_ref()
    }
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

impl Bounds {
    /// `None` when some piece has a chunk without a zone for the column.
    fn over(pieces: &[Piece], column: usize) -> Option<Self> {
        let mut bounds = Self { nulls: 0, min: None, max: None, exact: true };
        let morsels = pieces.iter().map(|piece| &piece.morsel);
        for morsel in morsels.filter(|morsel| morsel.has_chunk()) {
            let zone = morsel.zone(column)?;
            bounds.nulls += zone.nulls;
            bounds.exact &= zone.exact;
            extend(&mut bounds.min, zone.min.as_ref(), Ordering::Less);
            extend(&mut bounds.max, zone.max.as_ref(), Ordering::Greater);
        }
        Some(bounds)
    }
}

/// Moves a bound to a value that lies beyond it.
fn extend(bound: &mut Option<ZoneValue>, value: Option<&ZoneValue>, beyond: Ordering) {
    let Some(value) = value else { return };
    if bound.as_ref().is_none_or(|bound| value.partial_cmp(bound) == Some(beyond)) {
        *bound = Some(value.clone());
    }
}

fn scalar(value: &ZoneValue, data_type: &DataType) -> Option<ScalarValue> {
    let array = store::zone::to_array(data_type.clone(), std::iter::once(Some(value)));
    ScalarValue::try_from_array(&array, 0).ok().filter(|scalar| !scalar.is_null())
}
