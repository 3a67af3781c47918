//! Waiting for asynchronous work in a function of the engine, which is not asynchronous, and the stack that calls need.

use datafusion::common::runtime::SpawnedTask;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::runtime::{Builder, Handle, RuntimeFlavor};
use values::error::{Error, Result, SqlState};

/// The bytes of stack that the statements of one function may need.
const ROOM: usize = 2 << 20;

/// A call, which may be within others, on a stack with enough room.
pub fn deep<'a, T: Send + 'a>(call: BoxFuture<'a, T>) -> BoxFuture<'a, T> {
    Box::pin(Deep(call))
}

struct Deep<'a, T>(BoxFuture<'a, T>);

impl<T> Future for Deep<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        grammar::with_room(ROOM, || self.0.as_mut().poll(context))
    }
}

/// Awaits work, on a stack with enough room. On a runtime of several threads another one takes over the tasks of this one
/// meanwhile; elsewhere a thread of its own does the work.
///
/// # Errors
/// Those of the work.
pub fn awaited<T: Send>(work: impl Future<Output = Result<T>> + Send) -> Result<T> {
    let work = std::pin::pin!(work);
    grammar::with_room(ROOM, || here(work))
}

fn here<T: Send>(mut work: Pin<&mut (impl Future<Output = Result<T>> + Send)>) -> Result<T> {
    // Work that only computes has no need to wait.
    if let Some(done) = work.as_mut().now_or_never() {
        return done;
    }
    match Handle::try_current() {
        Ok(runtime) if runtime.runtime_flavor() == RuntimeFlavor::MultiThread => {
            tokio::task::block_in_place(|| runtime.block_on(work))
        }
        _ => std::thread::scope(|scope| scope.spawn(|| alone(work)).join()).unwrap_or_else(|_| {
            Err(Error::new(SqlState::InternalError, "a function ended early; the log says why"))
        }),
    }
}

/// Does work on a runtime of this thread.
fn alone<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        let message = format!("a function has no thread: {error}");
        Error::new(SqlState::OutOfMemory, message)
    })?;
    runtime.block_on(work)
}

/// Work in a task, on another thread than the one that executes the statements of its functions.
pub fn task<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> SpawnedTask<Result<T>> {
    let is_shared = Handle::try_current()
        .is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    match is_shared {
        true => SpawnedTask::spawn(work),
        false => SpawnedTask::spawn_blocking(move || alone(work)),
    }
}
