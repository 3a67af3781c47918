//! The serving side of a connection: each call runs in its own task, at most a window ahead of its
//! reader.

use super::connection::CALLS_MAX;
use super::frame::{Frame, Kind};
use super::incoming::{Receiver, read_from};
use super::outgoing::{Closed, Outgoing};
use super::transport::Transport;
use crate::answers::guarded;
use crate::{Caller, Service, TimeLimits, WINDOW};
use bytes::Bytes;
use futures::{FutureExt, StreamExt};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Maximum number of running calls of one connection. A caller that respects its own limit is never
/// declined: calls that it cancelled may still run here.
const RUNNING_MAX: usize = 2 * CALLS_MAX;

/// After an answer up to this length, the end of the call is checked before it is sent, to send
/// both in one frame. After a longer answer that might delay it by the work for the next.
const SHORT_BYTES_MAX: usize = 4 << 10;

/// Maximum length of the reason of a failed call.
const REASON_BYTES_MAX: usize = 4 << 10;

/// A connection from a server whose calls are answered here.
#[derive(Debug)]
pub(super) struct Serving {
    from: Caller,
    service: Arc<dyn Service>,
    outgoing: Outgoing,
    calls: Mutex<Calls>,
}

#[derive(Debug, Default)]
struct Calls {
    last: u64,
    running: HashMap<u64, Running>,
    leaving: bool,
}

#[derive(Debug, Clone)]
struct Running {
    /// `None` until the task is spawned.
    task: Option<AbortHandle>,
    credits: Arc<Semaphore>,
}

impl Serving {
    /// Answers the calls of a connection until it ends. When `leaving` is cancelled, no new calls
    /// are begun, and the connection ends with the last running one. Dropping the future ends the
    /// connection and cancels its calls.
    pub(super) async fn run(
        from: Caller,
        service: Arc<dyn Service>,
        transport: Transport,
        limits: &TimeLimits,
        leaving: CancellationToken,
    ) {
        let calls = Mutex::default();
        let serving = Arc::new(Self { from, service, outgoing: Outgoing::default(), calls });
        let _cancelling = CancelAll(Arc::clone(&serving));
        let answering = Answering(Arc::clone(&serving));
        let mut reading = pin!(read_from(transport.read, &answering, limits.keep_alive));
        let mut writing = pin!(serving.outgoing.write_to(transport.write));
        let leave = async {
            leaving.cancelled().await;
            serving.leave();
            std::future::pending::<()>().await;
        };
        let reason = tokio::select! {
            reason = &mut reading => reason,
            () = leave => unreachable!("it waits for ever"),
            written = &mut writing => match written {
                // Everything is written. Until the other side has read it, its frames must be
                // received.
                Ok(()) => {
                    timeout(limits.closing, reading).await.unwrap_or_else(|late| late.to_string())
                }
                Err(error) => error.to_string(),
            },
        };
        tracing::debug!(from = %serving.from.address, reason, "a connection from a server ended");
    }

    fn leave(&self) {
        let mut calls = self.calls.lock();
        calls.leaving = true;
        let _ = self.outgoing.push(Frame::bare(calls.last, Kind::Goodbye));
        if calls.running.is_empty() {
            self.outgoing.finish();
        }
    }

    fn begin(self: &Arc<Self>, call: u64, request: Bytes, credits: usize) -> Result<(), String> {
        let mut calls = self.calls.lock();
        if call <= calls.last {
            return Err(format!("call {call} came after {}", calls.last));
        }
        if calls.leaving {
            return Ok(());
        }
        calls.last = call;
        if calls.running.len() >= RUNNING_MAX {
            let reason = "it runs too many calls from this server";
            let declined = self.outgoing.push(Frame::text(call, Kind::Declined, reason));
            return declined.map_err(|unread| unread.to_string());
        }
        let credits = Arc::new(Semaphore::new(credits));
        calls.running.insert(call, Running { task: None, credits: Arc::clone(&credits) });
        drop(calls);
        let ending = Ending { serving: Arc::clone(self), call };
        let task = tokio::spawn(ending.answer(request, credits)).abort_handle();
        if let Some(running) = self.calls.lock().running.get_mut(&call) {
            running.task = Some(task);
        }
        Ok(())
    }

    fn cancel(&self, call: u64) {
        let task = self.calls.lock().running.get(&call).and_then(|running| running.task.clone());
        if let Some(task) = task {
            task.abort();
        }
    }

    fn credit(&self, call: u64, payload: &[u8]) -> Result<(), String> {
        let wrong = || format!("a credit of {payload:?} for call {call}");
        let count = u32::from_le_bytes(payload.try_into().map_err(|_| wrong())?) as usize;
        let credits = self.calls.lock().running.get(&call).map(|running| running.credits.clone());
        let Some(credits) = credits else { return Ok(()) };
        if count > WINDOW || credits.available_permits() + count > WINDOW {
            return Err(wrong());
        }
        credits.add_permits(count);
        Ok(())
    }

    /// Sends the answers of a call. Returns the frame that ends it.
    async fn answers_but_last(
        &self,
        call: u64,
        request: Bytes,
        credits: &Semaphore,
    ) -> Result<Frame, Closed> {
        let mut answers = guarded(&*self.service, self.from.clone(), request);
        let mut ahead = None;
        loop {
            credits.acquire().await.map_err(|_| Closed)?.forget();
            let answer = match ahead.take() {
                Some(answer) => answer,
                None => answers.next().await,
            };
            let payload = match answer {
                None => return Ok(Frame::bare(call, Kind::End)),
                Some(Err(reason)) => {
                    return Ok(Frame::text(call, Kind::Failed, shortened(&reason)));
                }
                Some(Ok(payload)) => payload,
            };
            if payload.len() <= SHORT_BYTES_MAX {
                ahead = answers.next().now_or_never();
            }
            if let Some(None) = ahead {
                return Ok(Frame { call, kind: Kind::LastAnswer, payload });
            }
            self.outgoing.push_when_room(Frame { call, kind: Kind::Answer, payload }).await?;
        }
    }
}

fn shortened(reason: &str) -> &str {
    &reason[..reason.floor_char_boundary(REASON_BYTES_MAX)]
}

/// A running call, which is unregistered on drop.
struct Ending {
    serving: Arc<Serving>,
    call: u64,
}

impl Ending {
    async fn answer(self, request: Bytes, credits: Arc<Semaphore>) {
        let last = self.serving.answers_but_last(self.call, request, &credits).await;
        if let Ok(last) = last {
            // If the connection accepts no more frames, the caller knows already.
            let _ = self.serving.outgoing.push_when_room(last).await;
        }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let mut calls = self.serving.calls.lock();
        calls.running.remove(&self.call);
        if calls.leaving && calls.running.is_empty() {
            self.serving.outgoing.finish();
        }
    }
}

/// Cancels the calls of a connection when it ends.
struct CancelAll(Arc<Serving>);

impl Drop for CancelAll {
    fn drop(&mut self) {
        self.0.outgoing.close();
        let running: Vec<_> = self.0.calls.lock().running.values().cloned().collect();
        for task in running.into_iter().filter_map(|running| running.task) {
            task.abort();
        }
    }
}

/// Receives frames, and passes the connection to the calls that it begins.
struct Answering(Arc<Serving>);

impl Receiver for Answering {
    fn receive(&self, frame: Frame) -> Result<(), String> {
        let Frame { call, kind, payload } = frame;
        match kind {
            Kind::Request => self.0.begin(call, payload, WINDOW),
            Kind::PulledRequest => self.0.begin(call, payload, 1),
            Kind::Credit => self.0.credit(call, &payload),
            Kind::Cancel => {
                self.0.cancel(call);
                Ok(())
            }
            Kind::Ping => {
                let pong = self.0.outgoing.push(Frame::bare(0, Kind::Pong));
                pong.map_err(|unread| unread.to_string())
            }
            Kind::Pong => Ok(()),
            Kind::Answer
            | Kind::LastAnswer
            | Kind::End
            | Kind::Failed
            | Kind::Declined
            | Kind::Goodbye => Err(format!("the caller sent a frame of a server: {kind:?}")),
        }
    }

    fn is_waiting(&self) -> bool {
        !self.0.calls.lock().running.is_empty()
    }

    fn probe(&self) {
        let _ = self.0.outgoing.push(Frame::bare(0, Kind::Ping));
    }
}
