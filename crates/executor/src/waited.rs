//! Asynchronous functions that are called as others are.
//!
//! The engine calls an asynchronous function before the expression that it is in, for all rows. Where some rows do not need
//! it, it is called with the expression: the thread of the statement waits for it.

use crate::scope;
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};
use futures::FutureExt;
use std::sync::Arc;
use tokio::runtime::{Builder, Handle, RuntimeFlavor};
use values::translate::external;

/// An asynchronous function as one that is called for the rows that need it. `None` for other functions.
pub fn waited(function: &Arc<ScalarUDF>) -> Option<ScalarUDF> {
    function.as_async()?;
    Some(ScalarUDF::new_from_impl(Waited(Arc::clone(function))))
}

/// Whether a call of a function may wait.
pub fn waits(function: &ScalarUDF) -> bool {
    function.as_async().is_some() || function.inner().downcast_ref::<Waited>().is_some()
}

/// An asynchronous function.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Waited(Arc<ScalarUDF>);

impl ScalarUDFImpl for Waited {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.0.inner().return_type(types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.0.inner().return_field_from_args(args)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(function) = self.0.as_async() else {
            return internal_err!("{} is no asynchronous function", self.name());
        };
        let control = scope::current();
        awaited(async {
            tokio::select! {
                biased;
                error = control.ended() => Err(external(error)),
                value = function.invoke_async_with_args(args) => value,
            }
        })
    }
}

/// Awaits work. On a runtime of several threads another one takes over the tasks of this one meanwhile; elsewhere a thread
/// of its own does the work, because timers belong to the runtime that polls them.
fn awaited<T: Send>(work: impl Future<Output = Result<T>> + Send) -> Result<T> {
    match Handle::try_current() {
        Ok(runtime) if runtime.runtime_flavor() == RuntimeFlavor::MultiThread => {
            let mut work = std::pin::pin!(work);
            match work.as_mut().now_or_never() {
                Some(done) => done,
                None => tokio::task::block_in_place(|| runtime.block_on(work)),
            }
        }
        _ => {
            let done = std::thread::scope(|scope| scope.spawn(|| alone(work)).join());
            done.unwrap_or_else(|_| internal_err!("a function ended early; the log says why"))
        }
    }
}

/// Does work on a runtime of this thread.
fn alone<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    Builder::new_current_thread().enable_all().build()?.block_on(work)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    async fn late() -> Result<i32> {
        tokio::time::sleep(Duration::from_millis(1)).await;
        Ok(7)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn work_is_awaited_among_several_threads() {
        assert_eq!(awaited(late()).ok(), Some(7));
    }

    #[tokio::test]
    async fn work_is_awaited_on_one_thread() {
        assert_eq!(awaited(late()).ok(), Some(7));
    }

    #[test]
    fn work_is_awaited_without_a_runtime() {
        assert_eq!(awaited(late()).ok(), Some(7));
    }
}
