//! The queue of frames to be written to a connection. Many tasks append to it; one task writes it
//! in batches.
//!
//! Frames that arrive while a batch is written go out together with one system call. Requests and
//! answers wait for room ([`Outgoing::room`]). Control frames do not wait; a connection whose other
//! side triggers control frames but does not read them is closed.

use super::frame::{Frame, HEADER_BYTES, Kind};
use crate::MESSAGE_BYTES_MAX;
use bytes::{BufMut, BytesMut};
use parking_lot::Mutex;
use std::collections::{HashSet, VecDeque};
use std::io;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;

/// Queued bytes above which requests and answers wait for room.
const ROOM_BYTES: usize = 1 << 20;

/// Queued bytes above which the other side is considered not to read.
const WAITING_BYTES_MAX: usize = MESSAGE_BYTES_MAX + (16 << 20);

const _: () = assert!(ROOM_BYTES + MESSAGE_BYTES_MAX + HEADER_BYTES < WAITING_BYTES_MAX);

/// Payloads up to this length are copied into the batch; longer ones are written directly.
const COPIED_BYTES_MAX: usize = 16 << 10;

/// Length of a batch that is written at once.
const BATCH_BYTES: usize = 64 << 10;

/// The connection accepts no more frames; this one is not sent.
#[derive(Debug)]
pub(super) struct Closed;

/// The other side triggers control frames but does not read them.
#[derive(Debug, thiserror::Error)]
#[error("the other side does not read what is sent to it")]
pub(super) struct Unread;

/// Why a request or an answer was not queued.
#[derive(Debug)]
pub(super) enum NotTaken {
    /// There is no room; returns the frame.
    Full(Frame),
    /// The connection accepts no more frames.
    Closed,
}

#[derive(Debug, Default)]
pub(super) struct Outgoing {
    queue: Mutex<Queue>,
    filled: Notify,
    emptied: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    frames: VecDeque<Frame>,
    bytes: usize,
    phase: Phase,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    /// Queued frames are still written; no new ones are accepted.
    Finishing,
    /// Nothing is written.
    Closed,
}

impl Outgoing {
    /// Queues a control frame regardless of room. Does nothing if the connection is closed.
    pub(super) fn push(&self, frame: Frame) -> Result<(), Unread> {
        match self.put(frame, WAITING_BYTES_MAX) {
            Ok(()) | Err(NotTaken::Closed) => Ok(()),
            Err(NotTaken::Full(_)) => Err(Unread),
        }
    }

    /// Queues a request or an answer if there is room.
    pub(super) fn offer(&self, frame: Frame) -> Result<(), NotTaken> {
        self.put(frame, ROOM_BYTES)
    }

    /// Queues an answer as soon as there is room.
    pub(super) async fn push_when_room(&self, mut frame: Frame) -> Result<(), Closed> {
        loop {
            match self.offer(frame) {
                Ok(()) => return Ok(()),
                Err(NotTaken::Closed) => return Err(Closed),
                Err(NotTaken::Full(back)) => frame = back,
            }
            self.room().await;
        }
    }

    fn put(&self, frame: Frame, bytes_max: usize) -> Result<(), NotTaken> {
        let mut queue = self.queue.lock();
        if queue.phase != Phase::Open {
            return Err(NotTaken::Closed);
        }
        if queue.bytes >= bytes_max {
            return Err(NotTaken::Full(frame));
        }
        queue.bytes += HEADER_BYTES + frame.payload.len();
        queue.frames.push_back(frame);
        drop(queue);
        self.filled.notify_one();
        Ok(())
    }

    /// Waits until there may be room for requests and answers, or the connection accepts no more.
    pub(super) async fn room(&self) {
        loop {
            let emptied = self.emptied.notified();
            {
                let queue = self.queue.lock();
                if queue.bytes < ROOM_BYTES || queue.phase != Phase::Open {
                    return;
                }
            }
            emptied.await;
        }
    }

    /// Accepts no more frames. Queued frames are still written.
    pub(super) fn finish(&self) {
        let mut queue = self.queue.lock();
        if queue.phase == Phase::Open {
            queue.phase = Phase::Finishing;
        }
        drop(queue);
        self.filled.notify_one();
        self.emptied.notify_waiters();
    }

    /// Accepts no more frames and discards queued ones. Returns the calls whose requests were never
    /// sent.
    pub(super) fn close(&self) -> HashSet<u64> {
        let mut queue = self.queue.lock();
        queue.phase = Phase::Closed;
        queue.bytes = 0;
        let frames = std::mem::take(&mut queue.frames);
        drop(queue);
        self.filled.notify_one();
        self.emptied.notify_waiters();
        frames.iter().filter(|frame| frame.kind == Kind::Request).map(|frame| frame.call).collect()
    }

    /// Writes frames as they are queued, until [`Outgoing::finish`] or [`Outgoing::close`].
    pub(super) async fn write_to(&self, mut to: impl AsyncWrite + Unpin) -> io::Result<()> {
        let mut batch = BytesMut::with_capacity(BATCH_BYTES);
        let mut frames = VecDeque::new();
        loop {
            let phase = self.take(&mut frames);
            if frames.is_empty() {
                match phase {
                    Phase::Open => self.filled.notified().await,
                    Phase::Finishing => return to.shutdown().await,
                    Phase::Closed => return Ok(()),
                }
                continue;
            }
            for frame in frames.drain(..) {
                write(frame, &mut batch, &mut to).await?;
            }
            flush(&mut batch, &mut to).await?;
            to.flush().await?;
        }
    }

    /// Moves all queued frames into `frames`.
    fn take(&self, frames: &mut VecDeque<Frame>) -> Phase {
        let mut queue = self.queue.lock();
        std::mem::swap(&mut queue.frames, frames);
        let waited = std::mem::take(&mut queue.bytes);
        let phase = queue.phase;
        drop(queue);
        if waited >= ROOM_BYTES {
            self.emptied.notify_waiters();
        }
        phase
    }
}

async fn write(
    frame: Frame,
    batch: &mut BytesMut,
    to: &mut (impl AsyncWrite + Unpin),
) -> io::Result<()> {
    batch.put_slice(&frame.header());
    if frame.payload.len() > COPIED_BYTES_MAX {
        flush(batch, to).await?;
        return to.write_all(&frame.payload).await;
    }
    batch.put_slice(&frame.payload);
    if batch.len() >= BATCH_BYTES { flush(batch, to).await } else { Ok(()) }
}

async fn flush(batch: &mut BytesMut, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    to.write_all(batch).await?;
    batch.clear();
    Ok(())
}
