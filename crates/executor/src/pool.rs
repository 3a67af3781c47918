//! The pool of executors: threads, a few for each running statement.
//!
//! An executor that is given back is used again, the last one first, whose threads' caches are warm. It is not before all
//! of its tasks have ended: an abandoned statement keeps its executor for as long as it does not notice. When there are
//! very many statements, they share executors.
//!
//! While other statements run, the threads of a statement that takes long work at a lower priority. The system does not
//! let an unprivileged process raise it again: such an executor is thrown away, and a new one costs less than a thousandth
//! of the time that its statement took.

use crate::control::Control;
use crate::monitor::{LONG, Monitor, Watched};
use crate::priority::Threads;
use crate::scope;
use crate::shortage::{Charge, Shortage};
use crate::task::Task;
use parking_lot::Mutex;
use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Instant;
use tokio::runtime::{Builder, Handle, Runtime};

/// Stack of a thread, in bytes. It is address space, of which only what a statement has used is memory. Planning recurses
/// as deeply as expressions nest.
const STACK_BYTES: usize = 64 << 20;

/// Threads of all executors together, beyond which statements share executors.
const THREADS_MAX: usize = 512;

/// Executors of the pool at least, however many threads each has.
const EXECUTORS_MIN: usize = 16;

/// Threads of unused executors that are kept: starting one takes as long as a small statement.
const UNUSED_THREADS_MAX: usize = 128;

/// Unused executors that are kept at least, however many threads each has.
const UNUSED_MIN: usize = 8;

/// A pool of executors. A clone is the same pool.
#[derive(Debug, Clone)]
pub struct Executors(Arc<Pool>);

#[derive(Debug)]
pub(crate) struct Pool {
    /// Threads of an executor.
    threads: usize,
    executors: Mutex<Vec<Arc<Executor>>>,
    leases: AtomicUsize,
    monitor: OnceLock<Monitor>,
    running: Mutex<Vec<Arc<Charge>>>,
    /// Set once, by a database with a memory limit.
    shortage: OnceLock<Shortage>,
}

/// Threads that run statements, usually one.
#[derive(Debug)]
struct Executor {
    /// `None` once it is thrown away.
    runtime: Option<Runtime>,
    handle: Handle,
    threads: Arc<Threads>,
    leases: AtomicUsize,
    /// When its last lease began.
    since: Mutex<Instant>,
}

/// An executor, for a statement. It goes back to the pool when the lease is dropped and the statement's tasks have ended.
#[derive(Debug)]
pub struct Lease {
    pool: Arc<Pool>,
    executor: Arc<Executor>,
    charge: Arc<Charge>,
}

impl Executors {
    /// A pool whose executors have `threads` threads each, one a processor by default.
    ///
    /// # Errors
    /// Threads cannot be started.
    pub fn new(threads: Option<NonZeroUsize>) -> io::Result<Self> {
        scope::inherit();
        let threads = threads.map_or_else(processors, NonZeroUsize::get);
        let pool = Arc::new(Pool {
            threads,
            executors: Mutex::new(vec![Arc::new(Executor::start(threads)?)]),
            leases: AtomicUsize::new(0),
            monitor: OnceLock::new(),
            running: Mutex::default(),
            shortage: OnceLock::new(),
        });
        pool.monitor.get_or_init(|| Monitor::start(Arc::downgrade(&pool)));
        Ok(Self(pool))
    }

    /// Stops the largest statement whenever the process has much more than `limit` bytes, although `give_back` has
    /// made the allocator return what it keeps. Only the first call has an effect.
    pub fn limit_memory(&self, limit: u64, give_back: fn()) {
        self.0.shortage.get_or_init(|| Shortage::new(limit, give_back));
    }

    /// An executor for a statement. If no thread can be started, it is one that others use as well.
    pub fn lease(&self, control: &Control) -> Lease {
        let executor = self.0.take();
        *executor.since.lock() = Instant::now();
        self.0.leases.fetch_add(1, Ordering::AcqRel);
        let charge = Arc::new(Charge::new(control.clone()));
        self.0.running.lock().push(Arc::clone(&charge));
        self.0.monitor().wake();
        Lease { pool: Arc::clone(&self.0), executor, charge }
    }
}

impl Pool {
    fn take(&self) -> Arc<Executor> {
        let mut executors = self.executors.lock();
        let unused = executors.iter().rfind(|one| one.is_unused() && one.threads.promote());
        let executor = unused.cloned().or_else(|| self.start(&mut executors));
        let least_busy = || executors.iter().min_by_key(|one| one.busyness()).cloned();
        #[expect(
            clippy::expect_used,
            reason = "the pool begins with one, and keeps it or a newer one"
        )]
        let executor = executor.or_else(least_busy).expect("a pool has executors");
        executor.leases.fetch_add(1, Ordering::AcqRel);
        executor
    }

    /// Starts another executor, in place of those that are unused and slow. `None` if there are too many, or the system
    /// starts no more threads.
    fn start(&self, executors: &mut Vec<Arc<Executor>>) -> Option<Arc<Executor>> {
        let used = executors.iter().filter(|executor| !executor.is_unused()).count();
        if used >= (THREADS_MAX / self.threads).max(EXECUTORS_MIN) {
            return None;
        }
        let started = Arc::new(Executor::start(self.threads).ok()?);
        executors.retain(|executor| !executor.is_unused());
        executors.push(Arc::clone(&started));
        Some(started)
    }

    fn give_back(&self, executor: &Executor) {
        executor.leases.fetch_sub(1, Ordering::AcqRel);
        self.leases.fetch_sub(1, Ordering::AcqRel);
        let mut executors = self.executors.lock();
        let unused = executors.iter().filter(|executor| executor.is_unused()).count();
        if unused > (UNUSED_THREADS_MAX / self.threads).max(UNUSED_MIN)
            && let Some(place) = executors.iter().position(|executor| executor.is_unused())
        {
            let surplus = executors.remove(place);
            drop(executors);
            drop(surplus);
        }
    }
}

impl Watched for Pool {
    fn look_at_memory(&self) {
        if let Some(shortage) = self.shortage.get() {
            let running = self.running.lock().clone();
            shortage.look(running.iter().map(Arc::as_ref));
        }
    }

    fn demote_long_ones(&self) -> bool {
        let leases = self.leases.load(Ordering::Acquire);
        if leases > 1 {
            let executors = self.executors.lock();
            let used =
                executors.iter().filter(|executor| executor.leases.load(Ordering::Acquire) > 0);
            used.filter(|executor| executor.since.lock().elapsed() > LONG)
                .for_each(|executor| executor.threads.demote());
        }
        leases > 0
    }

    fn is_idle(&self) -> bool {
        self.leases.load(Ordering::Acquire) == 0
    }

    #[expect(clippy::expect_used, reason = "it is set before the pool is shared")]
    fn monitor(&self) -> &Monitor {
        self.monitor.get().expect("a pool has a monitor")
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Some(monitor) = self.monitor.get() {
            monitor.end();
        }
    }
}

impl Executor {
    fn start(threads: usize) -> io::Result<Self> {
        let own = Arc::new(Threads::default());
        let (entering, leaving) = (Arc::clone(&own), Arc::clone(&own));
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("pando-executor")
            .thread_stack_size(STACK_BYTES)
            .on_thread_start(move || entering.enter())
            .on_thread_stop(move || leaving.leave())
            .enable_all()
            .build()?;
        let handle = runtime.handle().clone();
        let (leases, since) = (AtomicUsize::new(0), Mutex::new(Instant::now()));
        Ok(Self { runtime: Some(runtime), handle, threads: own, leases, since })
    }

    /// Whether it has no lease, and all of its tasks have ended.
    fn is_unused(&self) -> bool {
        self.leases.load(Ordering::Acquire) == 0 && self.handle.metrics().num_alive_tasks() == 0
    }

    /// What keeps it busy: leases, and tasks that do not notice their end.
    fn busyness(&self) -> usize {
        self.leases.load(Ordering::Acquire) + self.handle.metrics().num_alive_tasks()
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        // Waiting for the threads is not allowed on threads of other runtimes.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Lease {
    /// Runs a task of a statement.
    pub fn spawn<F>(&self, control: &Control, future: F) -> Task<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        Task::new(self.executor.handle.spawn(control.scope(future)), control.clone())
    }

    /// The runtime of the executor.
    pub fn runtime(&self) -> &Handle {
        &self.executor.handle
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.pool.running.lock().retain(|charge| !Arc::ptr_eq(charge, &self.charge));
        self.pool.give_back(&self.executor);
    }
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}
