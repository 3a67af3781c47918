//! Runs tasks one at a time, in an order and at times that depend on a seed only.
//!
//! Every poll takes a microsecond of simulated time. When no task can run, the time goes on to the next timer. Each
//! task has an owner: a start of a server, or the world. A paused owner's tasks wait; a killed one's are dropped,
//! wherever they are.

use crate::dice::Dice;
use crate::trace::Trace;
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// The simulated time that a poll takes.
const STEP: Duration = Duration::from_micros(1);

/// Whose task it is: a start of a server, or [`WORLD`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Owner(pub(crate) u64);

/// Clients, faults and the network.
pub(crate) const WORLD: Owner = Owner(0);

/// A task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TaskId(u64);

/// An executor. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Executor {
    state: Arc<Mutex<State>>,
    ready: Arc<Ready>,
    trace: Trace,
    /// Where simulated time begins.
    base: Instant,
    /// Hears of each task that has run.
    watch: Arc<Mutex<Option<Watch>>>,
}

/// Hears whose task has run.
pub(crate) type Watch = Arc<dyn Fn(Owner) + Send + Sync>;

impl std::fmt::Debug for Executor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Executor")
    }
}

struct State {
    now: Duration,
    next_task: u64,
    next_timer: u64,
    next_owner: u64,
    tasks: BTreeMap<TaskId, Slot>,
    timers: BTreeMap<(Duration, u64), Waker>,
    /// Paused owners, with their tasks that could run.
    paused: BTreeMap<Owner, Vec<TaskId>>,
    dead: BTreeSet<Owner>,
    dice: Dice,
    steps: u64,
}

struct Slot {
    owner: Owner,
    /// `None` while it runs.
    work: Option<BoxFuture<'static, ()>>,
}

/// Tasks that can run, each once.
#[derive(Default)]
struct Ready(Mutex<(Vec<TaskId>, BTreeSet<TaskId>)>);

impl Ready {
    fn push(&self, task: TaskId) {
        let mut ready = self.0.lock();
        if ready.1.insert(task) {
            ready.0.push(task);
        }
    }

    fn take(&self, dice: &mut Dice) -> Option<TaskId> {
        let mut ready = self.0.lock();
        if ready.0.is_empty() {
            return None;
        }
        let at = dice.index(ready.0.len());
        let task = ready.0.swap_remove(at);
        ready.1.remove(&task);
        Some(task)
    }
}

struct TaskWaker {
    task: TaskId,
    ready: Arc<Ready>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.ready.push(self.task);
    }
}

impl Executor {
    /// An executor without tasks.
    pub(crate) fn new(dice: Dice, trace: Trace) -> Self {
        let state = State {
            now: Duration::ZERO,
            next_task: 0,
            next_timer: 0,
            next_owner: 0,
            tasks: BTreeMap::new(),
            timers: BTreeMap::new(),
            paused: BTreeMap::new(),
            dead: BTreeSet::new(),
            dice,
            steps: 0,
        };
        let base = Instant::now();
        let (ready, watch) = (Arc::default(), Arc::default());
        Self { state: Arc::new(Mutex::new(state)), ready, trace, base, watch }
    }

    /// The simulated time since the beginning.
    pub(crate) fn now(&self) -> Duration {
        self.state.lock().now
    }

    /// The simulated time, as servers know it.
    pub(crate) fn instant(&self) -> Instant {
        self.base + self.now()
    }

    /// The number of polls so far.
    pub(crate) fn steps(&self) -> u64 {
        self.state.lock().steps
    }

    /// A new owner of tasks.
    pub(crate) fn owner(&self) -> Owner {
        let mut state = self.state.lock();
        state.next_owner += 1;
        Owner(state.next_owner)
    }

    /// Runs a task. A dead owner's is dropped.
    pub(crate) fn spawn(&self, owner: Owner, work: BoxFuture<'static, ()>) -> Option<TaskId> {
        let mut state = self.state.lock();
        if state.dead.contains(&owner) {
            drop(state);
            return None;
        }
        state.next_task += 1;
        let task = TaskId(state.next_task);
        state.tasks.insert(task, Slot { owner, work: Some(work) });
        drop(state);
        self.ready.push(task);
        Some(task)
    }

    /// Drops a task.
    pub(crate) fn abort(&self, task: TaskId) {
        let slot = self.state.lock().tasks.remove(&task);
        drop(slot);
    }

    /// Drops the tasks of an owner, and those that it begins later.
    pub(crate) fn kill(&self, owner: Owner) {
        let mut state = self.state.lock();
        state.dead.insert(owner);
        state.paused.remove(&owner);
        let killed: Vec<_> = state
            .tasks
            .extract_if(.., |_, slot| slot.owner == owner)
            .map(|(_, slot)| slot)
            .collect();
        drop(state);
        drop(killed);
    }

    /// Lets the tasks of an owner wait, or go on.
    pub(crate) fn pause(&self, owner: Owner, is_paused: bool) {
        let mut state = self.state.lock();
        if is_paused {
            state.paused.entry(owner).or_default();
        } else if let Some(tasks) = state.paused.remove(&owner) {
            drop(state);
            tasks.into_iter().for_each(|task| self.ready.push(task));
        }
    }

    /// Ends after some simulated time.
    pub(crate) fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let executor = self.clone();
        let mut timer: Option<Timer> = None;
        poll_fn(move |context| {
            let due = match &timer {
                Some(timer) => timer.key.0,
                None => executor.now() + duration,
            };
            if executor.now() >= due {
                return Poll::Ready(());
            }
            let id = timer.as_ref().map(|timer| timer.key.1);
            let key = executor.wake_at(due, id, context.waker().clone());
            timer.get_or_insert_with(|| Timer { executor: executor.clone(), key });
            Poll::Pending
        })
        .boxed()
    }

    fn wake_at(&self, due: Duration, id: Option<u64>, waker: Waker) -> (Duration, u64) {
        let mut state = self.state.lock();
        let id = id.unwrap_or_else(|| {
            state.next_timer += 1;
            state.next_timer
        });
        state.timers.insert((due, id), waker);
        (due, id)
    }

    /// Runs tasks until a time, or until there is nothing to run.
    pub(crate) fn run_until(&self, end: Duration) {
        loop {
            let next = {
                let mut state = self.state.lock();
                self.ready.take(&mut state.dice)
            };
            match next {
                Some(task) => self.poll(task),
                None if !self.advance(end) => return,
                None => {}
            }
            if self.now() >= end {
                return;
            }
        }
    }

    /// Goes on to the next timer before a time; returns whether there was one.
    fn advance(&self, end: Duration) -> bool {
        let mut state = self.state.lock();
        let Some(entry) = state.timers.first_entry().filter(|entry| entry.key().0 < end) else {
            state.now = state.now.max(end);
            return false;
        };
        let ((due, _), waker) = entry.remove_entry();
        state.now = state.now.max(due);
        drop(state);
        waker.wake();
        true
    }

    fn wake_due(&self) {
        loop {
            let mut state = self.state.lock();
            let now = state.now;
            let Some(entry) = state.timers.first_entry().filter(|entry| entry.key().0 <= now)
            else {
                return;
            };
            let waker = entry.remove();
            drop(state);
            waker.wake();
        }
    }

    fn poll(&self, task: TaskId) {
        let mut state = self.state.lock();
        let Some(slot) = state.tasks.get_mut(&task) else { return };
        let owner = slot.owner;
        if let Some(waiting) = state.paused.get_mut(&owner) {
            waiting.push(task);
            return;
        }
        let Some(slot) = state.tasks.get_mut(&task) else { return };
        let Some(mut work) = slot.work.take() else { return };
        state.steps += 1;
        state.now += STEP;
        self.trace.step(state.now, owner.0, task.0);
        drop(state);
        let waker = Waker::from(Arc::new(TaskWaker { task, ready: Arc::clone(&self.ready) }));
        let polled = work.poll_unpin(&mut Context::from_waker(&waker));
        // What it owns is dropped without the lock. It may have been aborted meanwhile.
        let ended = {
            let mut state = self.state.lock();
            match (polled, state.tasks.get_mut(&task)) {
                (Poll::Pending, Some(slot)) => {
                    slot.work = Some(work);
                    None
                }
                (Poll::Ready(()) | Poll::Pending, _) => Some((state.tasks.remove(&task), work)),
            }
        };
        drop(ended);
        let watch = self.watch.lock().clone();
        if let Some(watch) = watch {
            watch(owner);
        }
        self.wake_due();
    }

    /// Lets somebody hear of each task that has run.
    pub(crate) fn set_watch(&self, watch: Option<Watch>) {
        *self.watch.lock() = watch;
    }

    /// Ends the run: drops every task.
    pub(crate) fn end(&self) {
        self.set_watch(None);
        let tasks = std::mem::take(&mut self.state.lock().tasks);
        drop(tasks);
        let timers = std::mem::take(&mut self.state.lock().timers);
        drop(timers);
    }
}

/// A timer that is removed when nobody waits for it any more.
struct Timer {
    executor: Executor,
    key: (Duration, u64),
}

impl Drop for Timer {
    fn drop(&mut self) {
        let waker = self.executor.state.lock().timers.remove(&self.key);
        drop(waker);
    }
}
