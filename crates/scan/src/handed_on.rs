//! How the rows of a scan are handed on, counted: as they lie, or copied, in how many runs and how often.

use datafusion::arrow::buffer::BooleanBuffer;
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};

/// How EXPLAIN ANALYZE calls the rows of pieces of which all were kept, and which were handed on as they lay.
pub const NAME_OF_IN_PLACE: &str = "rows_in_place";
/// The rows that were chosen from among others and copied once more, into a batch with those of other pieces.
pub const NAME_OF_GATHERED: &str = "rows_gathered";
/// The runs of rows that were chosen: a row begins one if the row before it was not.
pub const NAME_OF_RUNS: &str = "row_runs";

/// What one partition of a scan has counted.
pub(super) struct HandedOn {
    in_place: Count,
    gathered: Count,
    runs: Count,
    /// More rows of a piece than this are not gathered with others.
    whole: usize,
}

impl HandedOn {
    /// Nothing yet.
    pub(super) fn new(metrics: &ExecutionPlanMetricsSet, partition: usize, whole: usize) -> Self {
        let counter = |name| MetricBuilder::new(metrics).counter(name, partition);
        let (in_place, gathered) = (counter(NAME_OF_IN_PLACE), counter(NAME_OF_GATHERED));
        Self { in_place, gathered, runs: counter(NAME_OF_RUNS), whole }
    }

    /// All rows of a piece.
    pub(super) fn add_all(&self, rows: usize) {
        if rows > self.whole {
            self.in_place.add(rows);
        }
    }

    /// So many rows of a piece that were chosen.
    pub(super) fn add_chosen(&self, rows: usize, chosen: &BooleanBuffer) {
        if rows <= self.whole {
            self.gathered.add(rows);
        }
        self.runs.add(runs(chosen));
    }
}

fn runs(chosen: &BooleanBuffer) -> usize {
    let (mut runs, mut before) = (0, 0);
    for word in chosen.bit_chunks().iter_padded() {
        // A run begins with a row before which none is chosen.
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
            let chosen = all.slice(cut, all.len() - cut);
            prop_assert_eq!(runs(&chosen), chosen.set_slices().count());
        }
    }

    #[test]
    fn a_run_may_go_from_one_word_to_the_next() {
        let chosen =
            |range: &Range<usize>| BooleanBuffer::collect_bool(200, |row| range.contains(&row));
        for range in [0..200, 60..70, 63..64, 64..65, 127..129] {
            assert_eq!(runs(&chosen(&range)), 1, "{range:?}");
        }
        assert_eq!(runs(&chosen(&(0..0))), 0);
    }
}
