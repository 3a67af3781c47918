//! The parts of an exchange on the server that deals it out: a queue each.
//!
//! Whoever deals out waits while every part that is still wanted has rows that nobody has taken yet; as long as one of
//! them has none, all get more. So no reader ever waits for what another one does, in whatever order they read, and
//! nothing can lock up. What a slow reader leaves lying counts as memory of queries.

use datafusion::arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use futures::Stream;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::Notify;

/// Batches that a part may have in stock while no other part is short of rows.
const BATCHES_AHEAD: usize = 2;

/// The queues.
#[derive(Debug)]
pub(super) struct Queues {
    state: Mutex<State>,
    /// Rows were taken, or a part is not wanted any more.
    room: Notify,
    /// By part: rows have come, or there will be none.
    arrivals: Vec<Notify>,
}

#[derive(Debug)]
struct State {
    parts: Vec<Part>,
    /// Parts that are wanted and have no rows.
    short: usize,
    /// Parts that are wanted.
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
    /// So many empty parts, all of them wanted.
    pub(super) fn new(parts: usize, pool: &Arc<dyn MemoryPool>) -> Self {
        let part = || Part { batches: VecDeque::new(), is_taken: false, is_wanted: true };
        let state = State {
            parts: std::iter::repeat_with(part).take(parts).collect(),
            short: parts,
            wanted: parts,
            end: None,
            reservation: MemoryConsumer::new("Exchange").register(pool),
        };
        let arrivals = std::iter::repeat_with(Notify::new).take(parts).collect();
        Self { state: Mutex::new(state), room: Notify::new(), arrivals }
    }

    /// Puts rows into a part, when there is room; whether anybody still wants rows of any part.
    ///
    /// # Errors
    /// Where there is no memory for them.
    pub(super) async fn put(&self, part: usize, batch: RecordBatch) -> Result<bool> {
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

    /// The same at once; `None` where there is no room.
    fn try_put(&self, part: usize, batch: &RecordBatch) -> Result<Option<bool>> {
        let mut state = self.state.lock();
        if state.end.is_some() || state.wanted == 0 {
            return Ok(Some(false));
        }
        if !state.parts[part].is_wanted {
            return Ok(Some(true));
        }
        let in_stock = state.parts[part].batches.len();
        if in_stock >= BATCHES_AHEAD && state.short == 0 {
            return Ok(None);
        }
        state.reservation.try_grow(batch.get_array_memory_size())?;
        state.parts[part].batches.push_back(batch.clone());
        state.short -= usize::from(in_stock == 0);
        drop(state);
        self.arrivals[part].notify_one();
        Ok(Some(true))
    }

    /// All rows are there.
    pub(super) fn complete(&self) {
        self.end(End::Complete);
    }

    /// There will be no more rows; whoever takes some is told why.
    pub(super) fn fail(&self, error: DataFusionError) {
        self.end(End::Failed(Arc::new(error)));
    }

    fn end(&self, end: End) {
        self.state.lock().end.get_or_insert(end);
        self.room.notify_waiters();
        self.arrivals.iter().for_each(Notify::notify_one);
    }

    /// Forgets all rows: nobody will take them any more.
    pub(super) fn clear(&self) {
        let mut state = self.state.lock();
        state.parts.iter_mut().for_each(|part| part.batches.clear());
        state.short = state.wanted;
        state.reservation.free();
    }

    /// The rows of a part, once; `None` where it has been taken before, or there is no such part. Who drops them wants no
    /// more of them.
    pub(super) fn take(
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

/// Who takes the rows of a part.
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

    /// What comes next; `None` where that is not known yet.
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
        state.short += usize::from(in_stock == 0);
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
        state.short -= usize::from(batches.is_empty());
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

    /// Whether there is room for rows of a part at once.
    fn has_room(queues: &Queues, part: usize) -> bool {
        let put = queues.put(part, batch(10)).now_or_never();
        put.map(|put| assert!(put.expect("memory"), "somebody wants more")).is_some()
    }

    #[tokio::test]
    async fn who_is_short_is_not_kept_waiting_by_who_is_not() {
        let (queues, _) = queues(2);
        let mut second = Box::pin(queues.take(1).expect("not taken"));
        (0..10).for_each(|_| assert!(has_room(&queues, 0), "the second part is short"));
        assert!(has_room(&queues, 1));
        assert!(!has_room(&queues, 0), "both have some");
        assert_eq!(second.next().await.expect("rows").expect("rows").num_rows(), 10);
        assert!(has_room(&queues, 0), "the second part is short again");
        drop(second);
        assert!(!has_room(&queues, 0), "nobody wants the second part");
        let mut first = Box::pin(queues.take(0).expect("not taken"));
        queues.complete();
        for _ in 0..11 {
            first.next().await.expect("rows").expect("rows");
        }
        assert!(first.next().await.is_none());
    }

    #[tokio::test]
    async fn who_waits_for_room_goes_on_when_there_is_some() {
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
        assert!(!queues.put(0, batch(1)).await.expect("memory"), "nobody wants more");
    }

    #[tokio::test]
    async fn a_part_is_taken_once_and_memory_is_given_back() {
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
    async fn a_failure_is_what_everybody_hears() {
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
