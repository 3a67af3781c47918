//! Metrics of a scan's output: rows returned in place, rows copied, and runs of selected rows.

use datafusion::arrow::buffer::BooleanBuffer;
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};

/// The metric that counts rows of pieces whose rows all match and are returned without a copy.
pub const ROWS_IN_PLACE: &str = "rows_in_place";
/// The metric that counts selected rows that are copied into a batch with rows of other pieces.
pub const ROWS_GATHERED: &str = "rows_gathered";
/// The metric that counts runs of adjacent selected rows.
pub const ROW_RUNS: &str = "row_runs";

/// The counters of one partition of a scan.
pub(super) struct OutputMetrics {
    in_place: Count,
    gathered: Count,
    runs: Count,
    /// A piece with more selected rows than this is not combined with others.
    coalesced_max: usize,
}

impl OutputMetrics {
    /// Counters among the metrics of a scan.
    pub(super) fn new(
        metrics: &ExecutionPlanMetricsSet,
        partition: usize,
        coalesced_max: usize,
    ) -> Self {
        let counter = |name| MetricBuilder::new(metrics).counter(name, partition);
        let (in_place, gathered) = (counter(ROWS_IN_PLACE), counter(ROWS_GATHERED));
        Self { in_place, gathered, runs: counter(ROW_RUNS), coalesced_max }
    }

    /// Counts a piece of which all rows are selected.
    pub(super) fn add_all(&self, rows: usize) {
        if rows > self.coalesced_max {
            self.in_place.add(rows);
        }
    }

    /// Counts a piece of which `rows` rows, those in `selected`, are selected.
    pub(super) fn add_selected(&self, rows: usize, selected: &BooleanBuffer) {
        if rows <= self.coalesced_max {
            self.gathered.add(rows);
        }
        self.runs.add(runs(selected));
    }
}

/// The number of runs of adjacent selected rows.
fn runs(selected: &BooleanBuffer) -> usize {
    let (mut runs, mut before) = (0, 0);
    for word in selected.bit_chunks().iter_padded() {
        // A run begins with a selected row after a row that is not selected.
        runs += (word & !(word << 1 | before)).count_ones() as usize;
        before = word >> 63;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::ops::Range;

    proptest! {
        #[test]
        fn runs_are_as_many_as_there_are_slices(
            rows in prop::collection::vec(prop::bool::weighted(0.7), 0..400),
            cut in 0..70_usize,
        ) {
            let all = BooleanBuffer::from(rows);
            let cut = cut.min(all.len());
                        let selected = all.slice(cut, all.len() - cut);
                        prop_assert_eq!(runs(&selected), selected.set_slices().count());
        }
    }

    #[test]
    fn a_run_may_cross_words() {
        let selected =
            |range: &Range<usize>| BooleanBuffer::collect_bool(200, |row| range.contains(&row));
        for range in [0..200, 60..70, 63..64, 64..65, 127..129] {
            assert_eq!(runs(&selected(&range)), 1, "{range:?}");
        }
        assert_eq!(runs(&selected(&(0..0))), 0);
    }
}
