//! Who waits for a position, without a thread for each.
//!
//! A task leaves its waker and returns; a thread waits for a signal. Whoever moves the position wakes
//! those that have arrived, and no others.

use crate::{Error, Position};
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

/// A position that only grows, and those who wait for it.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    /// A copy of the position, for those who find it reached.
    position: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    tasks: BTreeMap<(Position, u64), Waker>,
    next_task: u64,
    /// Set once: no position will be reached any more.
    stopped: Option<Error>,
}

impl Reached {
    pub(crate) fn new(position: Position) -> Self {
        Self { position: AtomicU64::new(position.0), ..Self::default() }
    }

    /// Returns the position.
    pub(crate) fn position(&self) -> Position {
        Position(self.position.load(Ordering::Acquire))
    }

    /// Moves the position, and wakes those who wait for it.
    pub(crate) fn advance(&self, to: Position) {
        let mut state = self.state.lock();
        self.position.store(to.0, Ordering::Release);
        let later = state.tasks.split_off(&(to.next(), 0));
        let arrived = std::mem::replace(&mut state.tasks, later);
        drop(state);
        self.changed.notify_all();
        arrived.into_values().for_each(Waker::wake);
    }

    /// Ends all waiting with an error. Only the first call has an effect.
    pub(crate) fn stop(&self, error: &Error) {
        let mut state = self.state.lock();
        state.stopped.get_or_insert_with(|| error.clone());
        let tasks = std::mem::take(&mut state.tasks);
        drop(state);
        self.changed.notify_all();
        tasks.into_values().for_each(Waker::wake);
    }

    /// Returns the error of [`Self::stop`].
    pub(crate) fn stopped(&self) -> Option<Error> {
        self.state.lock().stopped.clone()
    }

    /// Blocks the thread until a position is reached.
    pub(crate) fn wait(&self, for_position: Position) -> Result<(), Error> {
        if self.position() >= for_position {
            return Ok(());
        }
        let mut state = self.state.lock();
        loop {
            if self.position() >= for_position {
                return Ok(());
            }
            if let Some(error) = &state.stopped {
                return Err(error.clone());
            }
            self.changed.wait(&mut state);
        }
    }

    /// Returns a future that ends when a position is reached.
    pub(crate) fn future(self: &Arc<Self>, position: Position) -> Wait {
        Wait { reached: Arc::clone(self), position, task: None }
    }
}

/// Ends when a position is reached, or never will be. Dropping it ends the waiting.
#[derive(Debug)]
#[must_use = "a future does nothing unless it is awaited"]
pub struct Wait {
    reached: Arc<Reached>,
    position: Position,
    task: Option<u64>,
}

impl Future for Wait {
    type Output = Result<(), Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.reached.position() >= self.position {
            return Poll::Ready(Ok(()));
        }
        let reached = Arc::clone(&self.reached);
        let mut state = reached.state.lock();
        if reached.position() >= self.position {
            return Poll::Ready(Ok(()));
        }
        if let Some(error) = &state.stopped {
            return Poll::Ready(Err(error.clone()));
        }
        let task = *self.task.get_or_insert_with(|| {
            state.next_task += 1;
            state.next_task
        });
        state.tasks.insert((self.position, task), context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        if let Some(task) = self.task {
            self.reached.state.lock().tasks.remove(&(self.position, task));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn only_those_who_have_arrived_are_woken() {
        let reached = Arc::new(Reached::new(Position(3)));
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let mut context = Context::from_waker(&waker);
        let mut waits: Vec<Wait> =
            [3, 4, 5, 9].map(|at| reached.future(Position(at))).into_iter().collect();
        let ready = |waits: &mut Vec<Wait>, context: &mut Context<'_>| -> Vec<bool> {
            waits.iter_mut().map(|wait| Pin::new(wait).poll(context).is_ready()).collect()
        };
        assert_eq!(ready(&mut waits, &mut context), [true, false, false, false]);
        reached.advance(Position(5));
        assert_eq!(woken.0.load(Ordering::Relaxed), 2);
        assert_eq!(ready(&mut waits, &mut context), [true, true, true, false]);
        let reason = "a test".to_owned();
        reached.stop(&Error::Stopped { reason });
        assert_eq!(woken.0.load(Ordering::Relaxed), 3);
        let last = Pin::new(&mut waits[3]).poll(&mut context);
        assert!(matches!(last, Poll::Ready(Err(Error::Stopped { .. }))));
        assert!(matches!(reached.wait(Position(6)), Err(Error::Stopped { .. })));
        assert!(reached.wait(Position(5)).is_ok(), "what was reached stays reached");
    }

    #[test]
    fn a_dropped_future_leaves_no_waker() {
        let reached = Arc::new(Reached::default());
        let mut context = Context::from_waker(Waker::noop());
        let mut wait = reached.future(Position(1));
        assert!(Pin::new(&mut wait).poll(&mut context).is_pending());
        drop(wait);
        assert!(reached.state.lock().tasks.is_empty());
    }
}
