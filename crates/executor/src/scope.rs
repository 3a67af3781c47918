//! The statement that a thread is working for.

use crate::control::Control;
use datafusion::common::runtime::{JoinSetTracer, set_join_set_tracer};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::any::Any;
use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use store::Memory;
use values::error::Result;

thread_local! {
    static CURRENT: RefCell<Option<Control>> = const { RefCell::new(None) };
}

/// Checks whether the statement that this thread is working for has to end. Outside of statements it never has.
///
/// # Errors
/// As [`Control::check`].
pub fn check() -> Result<()> {
    CURRENT.with_borrow(|current| match current {
        Some(control) => control.check(),
        None => Ok(()),
    })
}

/// The control of the statement that this thread is working for.
pub(crate) fn current() -> Control {
    CURRENT.with_borrow(|current| current.clone().unwrap_or_default())
}

/// The memory of the statement that this thread is working for.
pub(crate) fn memory() -> Option<Arc<Memory>> {
    CURRENT.with_borrow(|current| current.as_ref()?.memory())
}

/// A future that is polled on behalf of a statement.
#[derive(Debug)]
#[must_use = "a future does nothing unless it is awaited"]
pub struct Scope<F> {
    control: Control,
    future: Pin<Box<F>>,
}

impl Control {
    /// The future, polled on behalf of this control's statement.
    pub fn scope<F: Future>(&self, future: F) -> Scope<F> {
        Scope { control: self.clone(), future: Box::pin(future) }
    }

    /// Calls `work` on behalf of this control's statement.
    fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Restores the statement of before, also when `work` panics.
        struct Before(Option<Control>);
        impl Drop for Before {
            fn drop(&mut self) {
                CURRENT.set(self.0.take());
            }
        }
        let _before = Before(CURRENT.replace(Some(self.clone())));
        work()
    }
}

impl<F: Future> Future for Scope<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Self { control, future } = self.get_mut();
        control.within(|| future.as_mut().poll(context))
    }
}

/// Passes the statement of a task to the tasks and threads that the query engine starts from it.
struct Inherit;

impl JoinSetTracer for Inherit {
    fn trace_future(
        &self,
        future: BoxFuture<'static, Box<dyn Any + Send>>,
    ) -> BoxFuture<'static, Box<dyn Any + Send>> {
        match CURRENT.with_borrow(Clone::clone) {
            Some(control) => control.scope(future).boxed(),
            None => future,
        }
    }

    fn trace_block(
        &self,
        work: Box<dyn FnOnce() -> Box<dyn Any + Send> + Send>,
    ) -> Box<dyn FnOnce() -> Box<dyn Any + Send> + Send> {
        match CURRENT.with_borrow(Clone::clone) {
            Some(control) => Box::new(move || control.within(work)),
            None => work,
        }
    }
}

/// Makes the tasks of the query engine inherit the statement of the task that starts them.
pub(crate) fn inherit() {
    // An error says that it was done before.
    let _ = set_join_set_tracer(&Inherit);
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::common::runtime::JoinSet;
    use tokio_util::sync::CancellationToken;

    #[tokio::test]
    async fn tasks_of_the_engine_inherit_the_statement() {
        inherit();
        let token = CancellationToken::new();
        let control = Control::new(token.clone(), None);
        token.cancel();
        assert!(check().is_ok());
        let inside = control.scope(async {
            let mut tasks = JoinSet::new();
            tasks.spawn(async { check().is_err() });
            tasks.spawn_blocking(|| check().is_err());
            tasks.join_all().await
        });
        assert_eq!(inside.await, [true, true]);
        assert!(check().is_ok());
    }
}
