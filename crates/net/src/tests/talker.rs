//! A service that follows the instructions in requests, and reports events to the test.

use crate::{Answers, Caller, MESSAGE_BYTES_MAX, NetError, Service};
use bytes::Bytes;
use futures::{StreamExt, stream};
use std::sync::Arc;
use tokio::sync::{Semaphore, mpsc};

/// An event of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    Began(String),
    /// An answer of `count` was produced.
    Made(usize),
    /// The answers of an endless call were dropped.
    Dropped,
}

#[derive(Debug)]
pub(super) struct Talker {
    pub(super) events: mpsc::UnboundedSender<Event>,
    /// The request `gate` waits for a permit.
    pub(super) gate: Arc<Semaphore>,
}

struct Tell(mpsc::UnboundedSender<Event>);

impl Drop for Tell {
    fn drop(&mut self) {
        let _ = self.0.send(Event::Dropped);
    }
}

/// An answer of `count`: a number and padding.
pub(super) fn numbered(number: usize, size: usize) -> String {
    format!("{number}{}", ".".repeat(size))
}

fn one(answer: impl Into<Bytes>) -> Answers {
    let answer = answer.into();
    stream::once(async { Ok(answer) }).boxed()
}

impl Service for Talker {
    fn serve(&self, from: Caller, request: Bytes) -> Answers {
        let text = String::from_utf8_lossy(&request).into_owned();
        let (what, rest) = text.split_once(' ').unwrap_or((&text, ""));
        let _ = self.events.send(Event::Began(what.to_owned()));
        let never = || {
            let tell = Tell(self.events.clone());
            let pending = async move {
                let _tell = tell;
                std::future::pending().await
            };
            stream::once(pending)
        };
        match what {
            "echo" => one(rest.to_owned()),
            "who" => one(from.address.to_string()),
            "nothing" => stream::empty().boxed(),
            "count" => {
                let (count, size) = rest.split_once(' ').expect("count and size");
                let size: usize = size.parse().expect("a size");
                let events = self.events.clone();
                stream::iter(0..count.parse().expect("a count"))
                    .map(move |number: usize| {
                        let _ = events.send(Event::Made(number));
                        Ok(Bytes::from(numbered(number, size)))
                    })
                    .boxed()
            }
            "never" => never().boxed(),
            "one-then-never" => one("one").chain(never()).boxed(),
            "gate" => {
                let gate = Arc::clone(&self.gate);
                let opened = async move { gate.acquire().await.map(|_| Bytes::from("opened")) };
                stream::once(opened)
                    .map(|opened| opened.map_err(|_| unreachable!("it is not closed")))
                    .boxed()
            }
            "panic" => panic!("at once"),
            "panic-late" => one("one").chain(stream::once(async { panic!("late") })).boxed(),
            "fail" => {
                let error = NetError::Unreachable { address: "c".into(), reason: "gone".into() };
                stream::once(async { Err(error) }).boxed()
            }
            "too-long" => one(vec![0; MESSAGE_BYTES_MAX + 1]),
            other => panic!("request {other}"),
        }
    }
}
