//! The thread that lowers the priority of long statements, and looks whether there is enough memory.

use std::sync::Weak;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Time between two looks at the running statements.
const TICK: Duration = Duration::from_millis(20);

/// A statement that runs for this long is a long one.
pub(crate) const LONG: Duration = Duration::from_millis(50);

/// Time without statements after which the thread sleeps until there is one.
const REST: Duration = Duration::from_secs(1);

/// What the monitor looks at.
pub(crate) trait Watched: Send + Sync {
    /// Stops a statement if the process has too much memory.
    fn look_at_memory(&self);

    /// Lowers the priority of long statements, if there are others. Returns false if no statement runs.
    fn demote_long_ones(&self) -> bool;

    /// Whether no statement runs.
    fn is_idle(&self) -> bool;

    /// The monitor.
    fn monitor(&self) -> &Monitor;
}

/// The monitor of a pool. It ends with the pool.
#[derive(Debug)]
pub(crate) struct Monitor {
    thread: Thread,
    is_asleep: AtomicBool,
}

impl Monitor {
    /// Starts the thread.
    pub(crate) fn start(pool: Weak<impl Watched + 'static>) -> Self {
        let work = move || watch(&pool);
        // A pool without a monitor is a pool without priorities.
        let thread = thread::Builder::new().name("pando-monitor".to_owned()).spawn(work);
        let thread = thread.map_or_else(|_| thread::current(), |handle| handle.thread().clone());
        Self { thread, is_asleep: AtomicBool::new(false) }
    }

    /// Wakes the thread, if it sleeps, because a statement has begun.
    pub(crate) fn wake(&self) {
        if self.is_asleep.load(Ordering::Relaxed) && self.is_asleep.swap(false, Ordering::AcqRel) {
            self.thread.unpark();
        }
    }

    /// Ends the thread, once the pool is gone.
    pub(crate) fn end(&self) {
        self.thread.unpark();
    }
}

fn watch(pool: &Weak<impl Watched>) {
    let mut busy = Instant::now();
    loop {
        let Some(watched) = pool.upgrade() else { return };
        watched.look_at_memory();
        if watched.demote_long_ones() {
            busy = Instant::now();
        }
        if busy.elapsed() < REST {
            drop(watched);
            thread::sleep(TICK);
            continue;
        }
        watched.monitor().is_asleep.store(true, Ordering::Release);
        // A statement that began in between has not woken the thread.
        let is_idle = watched.is_idle();
        drop(watched);
        if is_idle {
            thread::park();
        }
        busy = Instant::now();
    }
}
