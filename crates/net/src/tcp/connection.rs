//! The calling side of a connection: many concurrent calls, each with its own window of answers.
//!
//! Registering a call and queueing its request is one step, so that numbers are sent in order. From
//! then on [`Receiver::receive`] forwards its answers until the server ends the call, the caller
//! drops it, or the connection ends. Invariant: `Calls::open` contains a call exactly as long as
//! the server may send for it and a reader waits.

use super::frame::{Frame, Kind};
use super::incoming::{Receiver, read_from};
use super::outgoing::{NotTaken, Outgoing};
use super::transport::Transport;
use crate::answers::{Answer, by_deadline};
use crate::{Address, Answers, Delivery, NetError, WINDOW};
use bytes::Bytes;
use futures::StreamExt;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Maximum number of open calls of one connection; further ones wait.
pub(super) const CALLS_MAX: usize = 4096;

/// Answers that are taken before credit is sent: half of the window, so that the server need not
/// pause for a reader that keeps up.
const CREDIT_EVERY: usize = WINDOW / 2;

/// A connection for calls to a server.
#[derive(Debug)]
pub(super) struct Connection {
    to: Address,
    outgoing: Outgoing,
    calls: Mutex<Calls>,
    slots: Arc<Semaphore>,
    closed: CancellationToken,
}

#[derive(Debug, Default)]
struct Calls {
    last: u64,
    open: HashMap<u64, mpsc::Sender<Answer>>,
    /// The server said goodbye, or the connection has ended: no new calls.
    leaving: bool,
}

/// The connection ended before the request was sent; returns the request.
pub(super) struct NotSent(pub(super) Bytes);

impl Connection {
    /// Runs a connection after its handshake.
    pub(super) fn open(to: Address, transport: Transport, keep_alive: Duration) -> Arc<Self> {
        let connection = Arc::new(Self {
            to,
            outgoing: Outgoing::default(),
            calls: Mutex::default(),
            slots: Arc::new(Semaphore::new(CALLS_MAX)),
            closed: CancellationToken::new(),
        });
        let running = Arc::clone(&connection);
        tokio::spawn(async move {
            let reason = tokio::select! {
                reason = read_from(transport.read, &*running, keep_alive) => reason,
                written = running.outgoing.write_to(transport.write) => match written {
                    Ok(()) => "this server closed the connection".to_owned(),
                    Err(error) => error.to_string(),
                },
                () = running.closed.cancelled() => "this server closed the connection".to_owned(),
            };
            running.end(&reason);
        });
        connection
    }

    /// Whether new calls are possible.
    pub(super) fn is_open(&self) -> bool {
        !self.calls.lock().leaving
    }

    /// Closes the connection and ends its calls.
    pub(super) fn close(&self) {
        self.closed.cancel();
    }

    /// Begins a call.
    pub(super) async fn call(
        self: &Arc<Self>,
        request: Bytes,
        since: Instant,
        deadline: Duration,
        delivery: Delivery,
    ) -> Result<Answers, NotSent> {
        let Ok(slot) = Arc::clone(&self.slots).acquire_owned().await else {
            return Err(NotSent(request));
        };
        // The window, and one slot for the error that may end the call.
        let (sender, receiver) = mpsc::channel(WINDOW + 1);
        let call = loop {
            if let Some(call) = self.enter(&request, delivery, &sender)? {
                break call;
            }
            self.outgoing.room().await;
        };
        drop(sender);
        let mut open = Open { connection: Arc::clone(self), call, delivery, taken: 0, _slot: slot };
        let wanted = move || open.wants_next();
        Ok(by_deadline(self.to.clone(), receiver, since, deadline, wanted).boxed())
    }

    /// Assigns a number to the call and queues its request; `None` if there is no room.
    fn enter(
        &self,
        request: &Bytes,
        delivery: Delivery,
        sender: &mpsc::Sender<Answer>,
    ) -> Result<Option<u64>, NotSent> {
        let mut calls = self.calls.lock();
        if calls.leaving {
            return Err(NotSent(request.clone()));
        }
        let call = calls.last + 1;
        let kind = match delivery {
            Delivery::Pushed => Kind::Request,
            Delivery::Pulled => Kind::PulledRequest,
        };
        let frame = Frame { call, kind, payload: request.clone() };
        match self.outgoing.offer(frame) {
            Err(NotTaken::Full(_)) => return Ok(None),
            Err(NotTaken::Closed) => return Err(NotSent(request.clone())),
            Ok(()) => (),
        }
        calls.last = call;
        calls.open.insert(call, sender.clone());
        Ok(Some(call))
    }

    /// Ends all calls. Those whose requests were never sent are undelivered.
    fn end(&self, reason: &str) {
        let mut calls = self.calls.lock();
        calls.leaving = true;
        let open = std::mem::take(&mut calls.open);
        let unsent = self.outgoing.close();
        drop(calls);
        self.slots.close();
        for (call, sender) in open {
            let error = if unsent.contains(&call) {
                NetError::unreachable(&self.to, reason)
            } else {
                NetError::lost(&self.to, reason)
            };
            let _ = sender.try_send(Err(error));
        }
    }

    fn say_goodbye(&self, last: u64) {
        let mut calls = self.calls.lock();
        calls.leaving = true;
        let declined: Vec<u64> = calls.open.keys().copied().filter(|call| *call > last).collect();
        for call in declined {
            if let Some(sender) = calls.open.remove(&call) {
                let _ =
                    sender.try_send(Err(NetError::unreachable(&self.to, "it is shutting down")));
            }
        }
        drop(calls);
        self.slots.close();
    }

    fn pass_on(&self, call: u64, answer: Answer, ends: bool) -> Result<(), String> {
        let mut calls = self.calls.lock();
        let sender = if ends { calls.open.remove(&call) } else { calls.open.get(&call).cloned() };
        drop(calls);
        // A cancelled call may still receive answers that were in flight.
        let Some(sender) = sender else { return Ok(()) };
        match sender.try_send(answer) {
            Ok(()) | Err(TrySendError::Closed(_)) => Ok(()),
            Err(TrySendError::Full(_)) => {
                Err("the server sent more answers than requested".to_owned())
            }
        }
    }
}

impl Receiver for Connection {
    fn receive(&self, frame: Frame) -> Result<(), String> {
        let Frame { call, kind, payload } = frame;
        let text = || String::from_utf8_lossy(&payload);
        match kind {
            Kind::Answer => self.pass_on(call, Ok(payload), false),
            Kind::LastAnswer => self.pass_on(call, Ok(payload), true),
            Kind::Failed => self.pass_on(call, Err(NetError::failed(&self.to, text())), true),
            Kind::Declined => {
                self.pass_on(call, Err(NetError::unreachable(&self.to, text())), true)
            }
            Kind::End => {
                self.calls.lock().open.remove(&call);
                Ok(())
            }
            Kind::Goodbye => {
                self.say_goodbye(call);
                Ok(())
            }
            Kind::Ping => {
                let pong = self.outgoing.push(Frame::bare(0, Kind::Pong));
                pong.map_err(|unread| unread.to_string())
            }
            Kind::Pong => Ok(()),
            Kind::Request | Kind::PulledRequest | Kind::Cancel | Kind::Credit => {
                Err(format!("the server sent a frame of a caller: {kind:?}"))
            }
        }
    }

    fn is_waiting(&self) -> bool {
        !self.calls.lock().open.is_empty()
    }

    fn probe(&self) {
        let _ = self.outgoing.push(Frame::bare(0, Kind::Ping));
    }
}

/// A call with a reader. Dropping it cancels the call unless it has ended.
struct Open {
    connection: Arc<Connection>,
    call: u64,
    /// Delivery of the next answer.
    delivery: Delivery,
    /// Answers that were taken since the last credit.
    taken: usize,
    _slot: OwnedSemaphorePermit,
}

impl Open {
    /// The reader has taken an answer and waits for the next.
    fn wants_next(&mut self) {
        if std::mem::take(&mut self.delivery) == Delivery::Pulled {
            return self.give_credit(WINDOW);
        }
        self.taken += 1;
        if self.taken == CREDIT_EVERY {
            let taken = std::mem::take(&mut self.taken);
            self.give_credit(taken);
        }
    }

    fn give_credit(&self, count: usize) {
        let payload = Bytes::copy_from_slice(&(count as u32).to_le_bytes());
        self.tell(Frame { call: self.call, kind: Kind::Credit, payload });
    }

    /// Sends a control frame unless the server has ended the call.
    fn tell(&self, frame: Frame) {
        if self.connection.calls.lock().open.contains_key(&self.call) {
            let _ = self.connection.outgoing.push(frame);
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.tell(Frame::bare(self.call, Kind::Cancel));
        self.connection.calls.lock().open.remove(&self.call);
    }
}
