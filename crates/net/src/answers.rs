//! Parts of a call that all networks share: reading answers with a deadline, and serving without
//! panics.

use super::{Address, Answers, Caller, MESSAGE_BYTES_MAX, NetError, Service};
use bytes::Bytes;
use futures::{FutureExt, Stream, StreamExt, stream};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

/// One answer, or the error that ends the call.
pub(super) type Answer = Result<Bytes, NetError>;

/// Answers that consist of one error.
pub(super) fn only(error: NetError) -> Answers {
    stream::once(async { Err(error) }).boxed()
}

/// The answers from `receiver` until it closes or yields an error. The first answer must arrive
/// within `deadline` from `since`, each further one within `deadline` from the time its reader
/// waits for it. `wanted` is called when the reader has taken an answer and waits for the next.
pub(super) fn by_deadline(
    address: Address,
    receiver: mpsc::Receiver<Answer>,
    since: Instant,
    deadline: Duration,
    wanted: impl FnMut() + Send + 'static,
) -> impl Stream<Item = Answer> + Send + 'static {
    let start = Some((receiver, Some(since + deadline), wanted));
    stream::unfold(start, move |state| {
        let address = address.clone();
        async move {
            let (mut receiver, first_by, mut wanted) = state?;
            let by = first_by.unwrap_or_else(|| {
                wanted();
                Instant::now() + deadline
            });
            match timeout_at(by, receiver.recv()).await {
                Ok(Some(Ok(answer))) => Some((Ok(answer), Some((receiver, None, wanted)))),
                Ok(Some(Err(error))) => Some((Err(error), None)),
                Ok(None) => None,
                Err(_) => {
                    let reason = format!("no answer within {deadline:?}");
                    Some((Err(NetError::lost(&address, reason)), None))
                }
            }
        }
    })
}

/// The answers of a service. Panics, errors and answers that are too long become an error text that
/// ends the call.
pub(super) fn guarded(
    service: &dyn Service,
    from: Caller,
    request: Bytes,
) -> impl Stream<Item = Result<Bytes, String>> + Send + use<> {
    let started = catch_unwind(AssertUnwindSafe(|| service.serve(from, request)));
    let answers = match started {
        Ok(answers) => answers.map(|answer| answer.map_err(|error| error.to_string())).boxed(),
        Err(panic) => {
            let reason = panic_text(panic.as_ref());
            stream::once(async { Err(reason) }).boxed()
        }
    };
    AssertUnwindSafe(answers).catch_unwind().map(|item| match item {
        Ok(Ok(answer)) if answer.len() > MESSAGE_BYTES_MAX => {
            Err(format!("an answer of {} bytes is longer than {MESSAGE_BYTES_MAX}", answer.len()))
        }
        Ok(answer) => answer,
        Err(panic) => Err(panic_text(panic.as_ref())),
    })
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the service panicked: {}", text.unwrap_or("no message"))
}

/// Runs `start` when the answers are first polled, and continues with its result.
pub(super) fn when_polled(start: impl Future<Output = Answers> + Send + 'static) -> Answers {
    start.flatten_stream().boxed()
}

/// Checks the length of a request.
///
/// # Errors
/// [`NetError::Refused`] if it exceeds [`MESSAGE_BYTES_MAX`].
pub(super) fn checked_length(address: &Address, request: &Bytes) -> Result<(), NetError> {
    if request.len() <= MESSAGE_BYTES_MAX {
        return Ok(());
    }
    let reason = format!("a request of {} bytes is longer than {MESSAGE_BYTES_MAX}", request.len());
    Err(NetError::refused(address, reason))
}
