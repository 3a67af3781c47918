//! The first and last rows of a streamed result.
//!
//! Only slices of batches are kept, so the memory does not grow with the result.

use crate::error::SqlError;
use arrow::array::RecordBatch;
use futures::StreamExt;
use futures::stream::BoxStream;
use std::collections::VecDeque;

/// The shown rows of a result.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// The first rows; all rows if there are not more than the limit.
    pub(crate) head: Vec<RecordBatch>,
    /// The last rows, if rows between are omitted.
    pub(crate) tail: VecDeque<RecordBatch>,
    /// Rows of the result.
    pub(crate) total: u64,
}

impl Window {
    /// Reads a result to its end and keeps at most `limit` rows.
    pub(crate) async fn gather(
        mut batches: BoxStream<'_, Result<RecordBatch, SqlError>>,
        limit: Option<usize>,
    ) -> Result<Self, SqlError> {
        let mut window = Self::default();
        while let Some(batch) = batches.next().await {
            window.push(batch?, limit);
        }
        window.finish(limit);
        Ok(window)
    }

    /// The head keeps up to `limit` rows until the end, because the result may not be longer.
    fn push(&mut self, batch: RecordBatch, limit: Option<usize>) {
        let before = usize::try_from(self.total).unwrap_or(usize::MAX);
        self.total += batch.num_rows() as u64;
        let Some(limit) = limit else { return self.head.push(batch) };
        let room = limit.saturating_sub(before).min(batch.num_rows());
        if room > 0 {
            self.head.push(batch.slice(0, room));
        }
        self.tail.push_back(batch);
        self.trim_tail(limit / 2);
    }

    fn trim_tail(&mut self, limit: usize) {
        let mut excess = row_count(&self.tail).saturating_sub(limit);
        while excess > 0 {
            let Some(first) = self.tail.pop_front() else { return };
            if first.num_rows() > excess {
                self.tail.push_front(first.slice(excess, first.num_rows() - excess));
                return;
            }
            excess -= first.num_rows();
        }
    }

    fn finish(&mut self, limit: Option<usize>) {
        match limit {
            Some(limit) if self.total > limit as u64 => {
                let mut room = limit - limit / 2;
                for batch in &mut self.head {
                    *batch = batch.slice(0, room.min(batch.num_rows()));
                    room -= batch.num_rows();
                }
            }
            _ => self.tail.clear(),
        }
    }
}

fn row_count(batches: &VecDeque<RecordBatch>) -> usize {
    batches.iter().map(RecordBatch::num_rows).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::grid::tests::numbers;

    fn rows_of<'a>(batches: impl IntoIterator<Item = &'a RecordBatch>) -> Vec<i64> {
        batches.into_iter().flat_map(crate::output::grid::tests::values).collect()
    }

    fn window(sizes: &[i64], limit: Option<usize>) -> Window {
        let mut window = Window::default();
        let mut next = 0;
        for size in sizes {
            window.push(numbers(next..next + size), limit);
            next += size;
        }
        window.finish(limit);
        window
    }

    #[test]
    fn a_short_result_is_all_head() {
        let window = window(&[2, 0, 2], Some(4));
        assert_eq!(rows_of(&window.head), [0, 1, 2, 3]);
        assert!(window.tail.is_empty());
    }

    #[test]
    fn a_long_result_is_its_two_ends() {
        for sizes in [&[100][..], &[1, 98, 1], &[50, 49, 1], &[3, 3, 90, 2, 2]] {
            let window = window(sizes, Some(5));
            assert_eq!(rows_of(&window.head), [0, 1, 2], "{sizes:?}");
            assert_eq!(rows_of(&window.tail), [98, 99], "{sizes:?}");
            assert_eq!(window.total, 100);
        }
    }

    #[test]
    fn without_a_limit_everything_stays() {
        assert_eq!(rows_of(&window(&[60, 60], None).head).len(), 120);
    }
}
