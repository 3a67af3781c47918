//! Totals and bounds of the pieces of a scan, computed when they are first needed.

use super::pieces::Piece;
use datafusion::common::Statistics;
use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};
use store::ZoneValue;

/// The statistics of all rows of a scan, once computed: planning asks for them after each change of an operator above. A
/// copy of the scan may read other rows or columns, so that nothing is known of it.
#[derive(Debug, Default)]
pub(super) struct Overall(OnceLock<Arc<Statistics>>);

impl Clone for Overall {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Overall {
    pub(super) fn get_or_init(&self, compute: impl FnOnce() -> Statistics) -> Arc<Statistics> {
        Arc::clone(self.0.get_or_init(|| Arc::new(compute())))
    }
}

/// Totals and bounds of a scan's pieces. Each is computed once: planning asks repeatedly, and there
/// may be thousands of pieces.
#[derive(Debug)]
pub(crate) struct Known {
    totals: OnceLock<Totals>,
    /// By column of the table; `None` if a chunk has no zone for it.
    bounds: Box<[OnceLock<Option<Bounds>>]>,
}

/// Totals of the pieces.
#[derive(Debug, Clone, Copy)]
pub(super) struct Totals {
    pub(super) rows: usize,
    /// Of all columns.
    pub(super) bytes: usize,
    /// Whether `rows` is exact: no piece has changes, and no chunk is excluded.
    pub(super) exact: bool,
}

/// The union of the zones of several chunks.
#[derive(Debug)]
pub(super) struct Bounds {
    pub(super) nulls: u64,
    pub(super) min: Option<ZoneValue>,
    pub(super) max: Option<ZoneValue>,
    pub(super) exact: bool,
}

impl Known {
    /// Nothing computed yet, for a table with this number of columns.
    pub(super) fn nothing(columns: usize) -> Self {
        Self { totals: OnceLock::new(), bounds: (0..columns).map(|_| OnceLock::new()).collect() }
    }

    pub(super) fn totals(&self, pieces: &[Piece]) -> Totals {
        let of_all = || Totals {
            rows: pieces.iter().map(|piece| piece.morsel.rows()).sum(),
            bytes: pieces.iter().map(|piece| piece.morsel.bytes() as usize).sum(),
            exact: pieces.iter().all(|piece| piece.with_chunk && !piece.morsel.has_changes()),
        };
        *self.totals.get_or_init(of_all)
    }

    pub(super) fn bounds(&self, pieces: &[Piece], column: usize) -> Option<&Bounds> {
        self.bounds[column].get_or_init(|| Bounds::over(pieces, column)).as_ref()
    }
}

impl Bounds {
    /// `None` if a chunk has no zone for the column.
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

/// Moves a bound to `value` if that lies beyond it.
fn extend(bound: &mut Option<ZoneValue>, value: Option<&ZoneValue>, beyond: Ordering) {
    let Some(value) = value else { return };
    if bound.as_ref().is_none_or(|bound| value.partial_cmp(bound) == Some(beyond)) {
        *bound = Some(value.clone());
    }
}
