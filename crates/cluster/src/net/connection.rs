//! The calling side of a connection: many calls at once, each with its own window of answers.
//!
//! A call is entered under a number and its request is queued in one step, so that numbers go out in order. From
//! then on [`Receiver::receive`] passes its answers on, until the call ends there, is dropped here, or the connection
//! ends. Invariant: a call stands in `Calls::open` exactly as long as the server may still send for it and somebody
//! here still waits.

use super::answers::{Answer, by_deadline};
use super::frame::{Frame, Kind};
use super::incoming::{Receiver, read_from};
use super::outgoing::{NotTaken, Outgoing};
use super::transport::Transport;
use super::{Address, Answers, NetError, WINDOW};
use bytes::Bytes;
use futures::StreamExt;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::Delivery;
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Calls that may be open on one connection; more of them wait.
pub(super) const CALLS_MAX: usize = 4096;

/// Answers that are taken before the server hears that it may send as many more: half of the window, so that it
/// never has to stop for a reader that keeps up.
const CREDIT_EVERY: usize = WINDOW / 2;

/// A connection to a server, for calls to it.
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
    /// The server said goodbye, or the connection has ended: there are no new calls.
    leaving: bool,
}

/// The connection ends before the request is sent; here it is back.
pub(super) struct NotSent(pub(super) Bytes);

impl Connection {
    /// Takes over a connection after its first words.
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
                    Ok(()) => "it was closed here".to_owned(),
                    Err(error) => error.to_string(),
                },
                () = running.closed.cancelled() => "it was closed here".to_owned(),
            };
            running.end(&reason);
        });
        connection
    }

    /// Whether new calls can be made.
    pub(super) fn is_open(&self) -> bool {
        !self.calls.lock().leaving
    }

    /// Ends the connection, and all calls on it.
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
        // The window, and one place for the error that may end the call.
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

    /// Gives the call a number and queues its request; `None` if there is no room for it now.
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

    /// Ends every call: those that never left have certainly not arrived.
    fn end(&self, reason: &str) {
        let mut calls = self.calls.lock();
        calls.leaving = true;
        let open = std::mem::take(&mut calls.open);
        let unsent = self.outgoing.close();
        drop(calls);
        self.slots.close();
        for (call, sender) in open {
            let error = match unsent.contains(&call) {
                true => NetError::unreachable(&self.to, reason),
                false => NetError::lost(&self.to, reason),
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
        let sender = match ends {
            true => calls.open.remove(&call),
            false => calls.open.get(&call).cloned(),
        };
        drop(calls);
        // Who has cancelled the call no longer waits for what crossed the cancellation.
        let Some(sender) = sender else { return Ok(()) };
        match sender.try_send(answer) {
            Ok(()) | Err(TrySendError::Closed(_)) => Ok(()),
            Err(TrySendError::Full(_)) => {
                Err("it sent more answers than were asked for".to_owned())
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
                Err(format!("it sent a frame that only callers send: {kind:?}"))
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

/// A call whose answers somebody reads. Dropping it cancels the call, unless it has ended.
struct Open {
    connection: Arc<Connection>,
    call: u64,
    /// How the next answer comes.
    delivery: Delivery,
    /// Answers since the server last heard of it.
    taken: usize,
    _slot: OwnedSemaphorePermit,
}

impl Open {
    /// An answer has been taken, and the next one is waited for.
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

    /// Control frames of a call that the server has ended would be about nothing.
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
