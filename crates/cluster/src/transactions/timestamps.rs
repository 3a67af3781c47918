//! Requests for timestamps, combined: one request to the root is in flight at a time, and tasks
//! that need a timestamp meanwhile share the next one. A timestamp is requested after it is needed,
//! so that it sees every earlier commit.

use crate::calls::{CallError, Calls};
use crate::membership::ROOT;
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use messages::{COMMITS_MAX, RootAnswer, RootRequest, decode, encode, unexpected};
use parking_lot::Mutex;
use sdds::Timestamp;
use std::fmt;
use std::sync::Arc;
use store::Error;

/// Combined requests of one kind.
pub(crate) struct Timestamps {
    request: fn(u32) -> RootRequest,
    newest: Mutex<Option<Question>>,
}

type Answered = Shared<BoxFuture<'static, Result<Timestamp, Arc<Error>>>>;

/// A request, and the number of its waiters; `None` once it is sent.
struct Question {
    answer: Answered,
    waiters: Arc<Mutex<Option<u32>>>,
}

impl fmt::Debug for Timestamps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timestamps").finish_non_exhaustive()
    }
}

impl Timestamps {
    /// Timestamps of snapshots: all waiters of a request get the same.
    pub(crate) fn of_snapshots() -> Self {
        Self { request: |_| RootRequest::Now, newest: Mutex::new(None) }
    }

    /// Timestamps of commits: each waiter gets its own.
    pub(crate) fn of_commits() -> Self {
        Self { request: |count| RootRequest::Next { count }, newest: Mutex::new(None) }
    }

    /// The root's next answer, and the number of waiters before this one.
    pub(crate) async fn ask(&self, calls: &Arc<Calls>) -> Result<(Timestamp, u32), Error> {
        let (answer, place) = self.join(calls);
        let timestamp = answer.await.map_err(|error| copy(&error))?;
        Ok((timestamp, place))
    }

    /// Joins the next request.
    fn join(&self, calls: &Arc<Calls>) -> (Answered, u32) {
        let mut newest = self.newest.lock();
        if let Some(question) = &*newest
            && let Some(waiters) =
                question.waiters.lock().as_mut().filter(|waiters| **waiters < COMMITS_MAX)
        {
            let place = *waiters;
            *waiters += 1;
            return (question.answer.clone(), place);
        }
        let before = newest.take().map(|question| question.answer);
        let before = before.filter(|answer| answer.peek().is_none());
        let waiters = Arc::new(Mutex::new(Some(1)));
        let answer = self.question(calls, before, &waiters).boxed().shared();
        *newest = Some(Question { answer: answer.clone(), waiters });
        (answer, 0)
    }

    /// Sends a request when the previous one is answered.
    fn question(
        &self,
        calls: &Arc<Calls>,
        before: Option<Answered>,
        waiters: &Arc<Mutex<Option<u32>>>,
    ) -> impl Future<Output = Result<Timestamp, Arc<Error>>> + Send + 'static {
        let (calls, waiters, request) = (Arc::clone(calls), Arc::clone(waiters), self.request);
        async move {
            let before = match before {
                Some(before) => before.await.map(drop),
                None => Ok(()),
            };
            let count = waiters.lock().take().unwrap_or(1);
            // If the root could not be reached, this request does not wait for it again.
            before?;
            match calls.ask_leader(ROOT, &request(count)).await.map_err(CallError::into) {
                Ok(RootAnswer::Timestamp(timestamp)) => Ok(timestamp),
                Ok(other) => Err(Arc::new(unexpected(&other))),
                Err(error) => Err(Arc::new(error)),
            }
        }
    }
}

/// A copy of an error for each waiter.
fn copy(error: &Error) -> Error {
    encode(error).and_then(|bytes| decode(&bytes)).unwrap_or_else(|error| error)
}
