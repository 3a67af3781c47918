//! The frames that wait to be written to a connection: many tasks put them in, one writes them in batches.
//!
//! Whatever has gathered while the last batch was written goes out with one system call, so that many small calls
//! share the cost. Requests and answers wait for room ([`Outgoing::room`]); small control frames do not, and a
//! connection whose other side makes us send them but reads none is given up.

use super::MESSAGE_BYTES_MAX;
use super::frame::{Frame, HEADER_BYTES, Kind};
use bytes::{BufMut, BytesMut};
use parking_lot::Mutex;
use std::collections::{HashSet, VecDeque};
use std::io;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;

/// Bytes that wait, beyond which requests and answers wait for room.
const ROOM_BYTES: usize = 1 << 20;

/// Bytes that wait, beyond which the other side is taken for one that does not read.
const WAITING_BYTES_MAX: usize = MESSAGE_BYTES_MAX + (16 << 20);

const _: () = assert!(ROOM_BYTES + MESSAGE_BYTES_MAX + HEADER_BYTES < WAITING_BYTES_MAX);

/// Payloads up to here are copied into the batch; longer ones are written from where they are.
const COPIED_BYTES_MAX: usize = 16 << 10;

/// Bytes that are gathered before they are written.
const BATCH_BYTES: usize = 64 << 10;

/// The connection takes no more frames; this one will not be sent.
#[derive(Debug)]
pub(super) struct Closed;

/// The other side makes us say more and more, and reads none of it.
#[derive(Debug, thiserror::Error)]
#[error("it does not read what is sent to it")]
pub(super) struct Unread;

/// Why a request or an answer was not taken.
#[derive(Debug)]
pub(super) enum NotTaken {
    /// There is no room; here it is back.
    Full(Frame),
    /// As [`Closed`].
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
    /// What waits is still written.
    Finishing,
    /// Nothing is written any more.
    Closed,
}

impl Outgoing {
    /// Puts a control frame in, however many wait. Where frames are no longer taken, nobody needs it any more.
    pub(super) fn push(&self, frame: Frame) -> Result<(), Unread> {
        match self.put(frame, WAITING_BYTES_MAX) {
            Ok(()) | Err(NotTaken::Closed) => Ok(()),
            Err(NotTaken::Full(_)) => Err(Unread),
        }
    }

    /// Puts a request or an answer in, if there is room.
    pub(super) fn offer(&self, frame: Frame) -> Result<(), NotTaken> {
        self.put(frame, ROOM_BYTES)
    }

    /// Puts an answer in as soon as there is room.
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

    /// Waits until there seems to be room for requests and answers, or none will be taken any more.
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

    /// Takes no more frames; those that are there are still written.
    pub(super) fn finish(&self) {
        let mut queue = self.queue.lock();
        if queue.phase == Phase::Open {
            queue.phase = Phase::Finishing;
        }
        drop(queue);
        self.filled.notify_one();
        self.emptied.notify_waiters();
    }

    /// Takes no more frames and forgets those that are there: which calls were certainly never sent.
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

    /// Writes frames as they come, until [`Outgoing::finish`] or [`Outgoing::close`].
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

    /// Moves all that waits into `frames`.
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
    match batch.len() >= BATCH_BYTES {
        true => flush(batch, to).await,
        false => Ok(()),
    }
}

async fn flush(batch: &mut BytesMut, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    to.write_all(batch).await?;
    batch.clear();
    Ok(())
}
