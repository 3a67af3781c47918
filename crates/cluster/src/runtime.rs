//! What a server needs of its surroundings: tasks, time, and threads for long computations. In production it is tokio;
//! a simulation has its own clock and its own order of tasks.

use futures::future::{BoxFuture, Either, select};
use futures::{FutureExt, pin_mut};
use messages::invalid_message;
use std::any::Any;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use store::Error;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Runs the tasks of a server, and keeps its time.
pub trait Runtime: Debug + Send + Sync {
    /// Runs a task, which does not block.
    fn spawn(&self, task: BoxFuture<'static, ()>);

    /// Runs a task with long computations, on a thread of its own if there are threads. The other tasks go on
    /// meanwhile: a server that blocks them misses heartbeats and is evicted.
    fn spawn_apart(&self, task: BoxFuture<'static, ()>);

    /// The time.
    fn now(&self) -> Instant;

    /// Ends after some time.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// The tasks of a server. Clones are handles on the same ones.
#[derive(Debug, Clone)]
pub struct Tasks(Arc<dyn Runtime>);

impl Tasks {
    /// Tasks of a runtime.
    pub fn on(runtime: Arc<dyn Runtime>) -> Self {
        Self(runtime)
    }

    /// The time.
    pub(crate) fn now(&self) -> Instant {
        self.0.now()
    }

    /// Ends after some time.
    pub(crate) fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.0.sleep(duration)
    }

    /// Runs a task, whether or not its result is awaited.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Task<T> {
        let (task, result) = task(work);
        self.0.spawn(task);
        result
    }

    /// Runs a task with long computations, which completes even if the caller is dropped.
    pub(crate) async fn run_apart<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Error> {
        let (task, result) = task(work);
        self.0.spawn_apart(task);
        match result.0.await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => Err(invalid_message("the server is stopping")),
        }
    }

    /// Executes a long computation. It completes even if the caller is dropped.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        self.run_apart(async move { work() }).await
    }

    /// The result of a future, unless it takes too long.
    pub(crate) async fn within<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        pin_mut!(work);
        match select(work, self.sleep(limit)).await {
            Either::Left((done, _)) => Some(done),
            Either::Right(_) => None,
        }
    }
}

/// The result of a task; `None` if it has panicked, or the server has ended.
#[derive(Debug)]
pub(crate) struct Task<T>(oneshot::Receiver<Result<T, Panic>>);

type Panic = Box<dyn Any + Send>;

impl<T> Future for Task<T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        self.0.poll_unpin(context).map(|ended| ended.ok()?.ok())
    }
}

/// A task that sends its result.
fn task<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> (BoxFuture<'static, ()>, Task<T>) {
    let (sender, receiver) = oneshot::channel();
    let work = AssertUnwindSafe(work).catch_unwind();
    let task = async move {
        // Nobody may wait for it.
        let _ = sender.send(work.await);
    };
    (task.boxed(), Task(receiver))
}

#[derive(Debug)]
struct TokioRuntime(Handle);

impl From<Handle> for Tasks {
    fn from(handle: Handle) -> Self {
        Self(Arc::new(TokioRuntime(handle)))
    }
}

impl Runtime for TokioRuntime {
    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.0.spawn(task);
    }

    fn spawn_apart(&self, task: BoxFuture<'static, ()>) {
        let handle = self.0.clone();
        self.0.spawn_blocking(move || handle.block_on(task));
    }

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        // The time of this runtime, also where the caller is on another one.
        let _entered = self.0.enter();
        tokio::time::sleep(duration).boxed()
    }
}
