//! The parts of an exchange on one producer: a queue for each.
//!
//! The producer waits only while every wanted part has queued rows. As long as one of them has
//! none, all get more. So no reader waits for another one, in whatever order they read, and there
//! is no deadlock. Queued rows count as memory of queries.

use datafusion::arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use futures::Stream;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::Notify;

/// Batches that a part may have queued while no other part is empty.
const BATCHES_AHEAD: usize = 2;

/// The queues of all parts.
#[derive(Debug)]
pub(crate) struct Queues {
    state: Mutex<State>,
    /// Rows were taken, or a part is no longer wanted.
    room: Notify,
    /// By part: rows were queued, or there will be no more.
    arrivals: Vec<Notify>,
}

#[derive(Debug)]
struct State {
    parts: Vec<Part>,
    /// Wanted parts without queued rows.
    empty: usize,
    /// Wanted parts.
    wanted: usize,
    end: Option<End>,
    reservation: MemoryReservation,
}

#[derive(Debug)]
struct Part {
    batches: VecDeque<RecordBatch>,
    is_taken: bool,
    is_wanted: bool,
}

/// Why there will be no more rows.
#[derive(Debug, Clone)]
enum End {
    Complete,
    Failed(Arc<DataFusionError>),
}

impl Queues {
    /// Empty parts, all of them wanted.
    pub(crate) fn new(parts: usize, pool: &Arc<dyn MemoryPool>) -> Self {
        let part = || Part { batches: VecDeque::new(), is_taken: false, is_wanted: true };
        let state = State {
            parts: std::iter::repeat_with(part).take(parts).collect(),
            empty: parts,
            wanted: parts,
            end: None,
            reservation: MemoryConsumer::new("Exchange").register(pool),
        };
        let arrivals = std::iter::repeat_with(Notify::new).take(parts).collect();
        Self { state: Mutex::new(state), room: Notify::new(), arrivals }
    }

    /// Queues rows of a part as soon as there is room; whether any reader wants more rows of any
    /// part.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub(crate) async fn put(&self, part: usize, batch: RecordBatch) -> Result<bool> {
        loop {
            let room = self.room.notified();
            tokio::pin!(room);
            room.as_mut().enable();
            if let Some(go_on) = self.try_put(part, &batch)? {
                return Ok(go_on);
            }
            room.await;
        }
    }

    /// Queues rows now; `None` if there is no room.
    fn try_put(&self, part: usize, batch: &RecordBatch) -> Result<Option<bool>> {
        let mut state = self.state.lock();
        if state.end.is_some() || state.wanted == 0 {
            return Ok(Some(false));
        }
        if !state.parts[part].is_wanted {
            return Ok(Some(true));
        }
        let in_stock = state.parts[part].batches.len();
        if in_stock >= BATCHES_AHEAD && state.empty == 0 {
            return Ok(None);
        }
        state.reservation.try_grow(batch.get_array_memory_size())?;
        state.parts[part].batches.push_back(batch.clone());
        state.empty -= usize::from(in_stock == 0);
        drop(state);
        self.arrivals[part].notify_one();
        Ok(Some(true))
    }

    /// All rows are queued.
    pub(crate) fn complete(&self) {
        self.end(End::Complete);
    }

    /// There will be no more rows; readers get the error.
    pub(crate) fn fail(&self, error: DataFusionError) {
        self.end(End::Failed(Arc::new(error)));
    }

    fn end(&self, end: End) {
        self.state.lock().end.get_or_insert(end);
        self.room.notify_waiters();
        self.arrivals.iter().for_each(Notify::notify_one);
    }

    /// Removes all rows.
    pub(crate) fn clear(&self) {
        let mut state = self.state.lock();
        state.parts.iter_mut().for_each(|part| part.batches.clear());
        state.empty = state.wanted;
        state.reservation.free();
    }

    /// The rows of a part, once; `None` if it was taken before, or there is no such part. Dropping
    /// the stream says that no more rows are wanted.
    pub(crate) fn take(
        self: &Arc<Self>,
        part: usize,
    ) -> Option<impl Stream<Item = Result<RecordBatch>> + Send + use<>> {
        let mut state = self.state.lock();
        let found = state.parts.get_mut(part).filter(|part| !part.is_taken)?;
        found.is_taken = true;
        let consumer = Consumer { queues: Arc::clone(self), part };
        Some(futures::stream::unfold(consumer, |consumer| async move {
            Some((consumer.next().await?, consumer))
        }))
    }
}

/// The reader of a part.
struct Consumer {
    queues: Arc<Queues>,
    part: usize,
}

impl Consumer {
    async fn next(&self) -> Option<Result<RecordBatch>> {
        loop {
            if let Some(next) = self.try_next() {
                return next;
            }
            self.queues.arrivals[self.part].notified().await;
        }
    }

    /// The next item; `None` if it is not known yet.
    fn try_next(&self) -> Option<Option<Result<RecordBatch>>> {
        let mut state = self.queues.state.lock();
        if let Some(End::Failed(error)) = &state.end {
            return Some(Some(Err(DataFusionError::Shared(Arc::clone(error)))));
        }
        let part = &mut state.parts[self.part];
        let Some(batch) = part.batches.pop_front() else {
            return state.end.is_some().then_some(None);
        };
        let in_stock = part.batches.len();
        state.empty += usize::from(in_stock == 0);
        state.reservation.shrink(batch.get_array_memory_size());
        drop(state);
        if in_stock < BATCHES_AHEAD {
            self.queues.room.notify_waiters();
        }
        Some(Some(Ok(batch)))
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        let mut state = self.queues.state.lock();
        let part = &mut state.parts[self.part];
        part.is_wanted = false;
        let batches = std::mem::take(&mut part.batches);
        let bytes = batches.iter().map(RecordBatch::get_array_memory_size).sum();
        state.empty -= usize::from(batches.is_empty());
        state.wanted -= 1;
        state.reservation.shrink(bytes);
        drop(state);
        self.queues.room.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::Int64Array;
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use datafusion::execution::memory_pool::GreedyMemoryPool;
    use futures::{FutureExt, StreamExt};

    fn batch(rows: i64) -> RecordBatch {
        let schema = Schema::new(vec![Field::new("n", DataType::Int64, false)]);
        let column = Int64Array::from_iter_values(0..rows);
        RecordBatch::try_new(Arc::new(schema), vec![Arc::new(column)]).expect("one column")
    }

    fn queues(parts: usize) -> (Arc<Queues>, Arc<dyn MemoryPool>) {
        let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(1 << 20));
        (Arc::new(Queues::new(parts, &pool)), pool)
    }

    /// Whether there is room for rows of a part.
    fn has_room(queues: &Queues, part: usize) -> bool {
        let put = queues.put(part, batch(10)).now_or_never();
        put.map(|put| assert!(put.expect("memory"), "rows are wanted")).is_some()
    }

    #[tokio::test]
    async fn a_full_part_does_not_keep_an_empty_one_waiting() {
        let (queues, _) = queues(2);
        let mut second = Box::pin(queues.take(1).expect("not taken"));
        (0..10).for_each(|_| assert!(has_room(&queues, 0), "the second part is empty"));
        assert!(has_room(&queues, 1));
        assert!(!has_room(&queues, 0), "both have some");
        assert_eq!(second.next().await.expect("rows").expect("rows").num_rows(), 10);
        assert!(has_room(&queues, 0), "the second part is empty again");
        drop(second);
        assert!(!has_room(&queues, 0), "the second part is not wanted");
        let mut first = Box::pin(queues.take(0).expect("not taken"));
        queues.complete();
        for _ in 0..11 {
            first.next().await.expect("rows").expect("rows");
        }
        assert!(first.next().await.is_none());
    }

    #[tokio::test]
    async fn the_producer_continues_when_there_is_room() {
        let (queues, _) = queues(1);
        assert!(has_room(&queues, 0) && has_room(&queues, 0) && !has_room(&queues, 0));
        let waiting = tokio::spawn({
            let queues = Arc::clone(&queues);
            async move { queues.put(0, batch(7)).await }
        });
        tokio::task::yield_now().await;
        let mut taken = Box::pin(queues.take(0).expect("not taken"));
        for rows in [10, 10, 7] {
            assert_eq!(taken.next().await.expect("rows").expect("rows").num_rows(), rows);
        }
        assert!(waiting.await.expect("no panic").expect("memory"));
        drop(taken);
        assert!(!queues.put(0, batch(1)).await.expect("memory"), "no rows are wanted");
    }

    #[tokio::test]
    async fn a_part_is_taken_once_and_memory_is_released() {
        let (queues, pool) = queues(3);
        (0..3).for_each(|part| assert!(has_room(&queues, part)));
        assert!(pool.reserved() > 0);
        let (first, second) = (queues.take(0).expect("new"), queues.take(1).expect("new"));
        assert!(queues.take(0).is_none() && queues.take(3).is_none());
        drop((first, second));
        assert!(pool.reserved() > 0, "the third part has rows");
        queues.clear();
        assert_eq!(pool.reserved(), 0);
    }

    #[tokio::test]
    async fn all_readers_get_the_error() {
        let (queues, pool) = queues(2);
        assert!(has_room(&queues, 0));
        let too_large = queues.put(0, batch(1 << 20)).await.expect_err("no memory");
        queues.fail(too_large);
        queues.complete();
        for part in [0, 1] {
            let mut part = Box::pin(queues.take(part).expect("new"));
            part.next().await.expect("an item").expect_err("it has failed");
        }
        queues.clear();
        assert_eq!(pool.reserved(), 0);
    }
}
