//! What callers and the flusher share: the buffer, and who waits for it.

use crate::directory::sync_directory;
use crate::disk::{DiskFile, is_full};
use crate::durability::Durability;
use crate::figures::Counts;
use crate::placing::Placing;
use crate::record::{self, FORMAT, Header, Origin, Position};
use crate::segment::{SegmentHeader, SegmentNumber, UNFINISHED};
use crate::waiting::Reached;
use crate::{Directory, Error};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Who writes what was appended.
#[derive(Clone, Default)]
pub enum Flushing {
    /// A thread of the journal, or callers in its place.
    #[default]
    Thread,
    /// The owner of the journal, with [`Journal::flush`](crate::Journal::flush): a simulation, in which a flush takes
    /// simulated time. The function is called when there is something to write; it may be called under
    /// locks. Functions that block the thread flush by themselves.
    Owner(Arc<dyn Fn() + Send + Sync>),
}

impl fmt::Debug for Flushing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Thread => "Thread",
            Self::Owner(_) => "Owner",
        })
    }
}

/// Allocated segments that are kept ready.
pub(crate) const SPARES: usize = 1;

/// The size of segments, unless tests choose another.
pub const SEGMENT_BYTES: u64 = 64 << 20;

/// How a journal works.
#[derive(Debug, Clone)]
pub struct Options {
    /// What a commit waits for. [`Durability::Memory`] needs no journal and is taken as `Async`.
    pub durability: Durability,
    /// The time between flushes of asynchronous commits.
    pub interval: Duration,
    /// The size of new segments in bytes; a multiple of 4096.
    pub segment_bytes: u64,
    /// Who writes what was appended.
    pub flushing: Flushing,
}

impl Default for Options {
    fn default() -> Self {
        let interval = Duration::from_millis(10);
        Self {
            durability: Durability::Sync,
            interval,
            segment_bytes: SEGMENT_BYTES,
            flushing: Flushing::Thread,
        }
    }
}

/// Is told, from the thread that has written them, that all commands up to a position are durable, before
/// anybody who waits for it is woken.
pub type Listener = Box<dyn Fn(Position) + Send + Sync>;

/// Open files of segments. Whoever has them writes; they are locked before the buffer is.
pub(crate) type Files = BTreeMap<SegmentNumber, OpenSegment>;

/// An open segment.
pub(crate) struct OpenSegment {
    pub(crate) file: Arc<dyn DiskFile>,
    /// Its bytes were written up to here, if only as zeros.
    pub(crate) written: u64,
}

impl OpenSegment {
    /// A segment of which nothing was written by this process.
    pub(crate) fn new(file: Arc<dyn DiskFile>) -> Self {
        Self { file, written: 0 }
    }
}

/// What callers and the flusher share.
pub(crate) struct Shared {
    pub(crate) directory: Arc<Directory>,
    pub(crate) options: Options,
    pub(crate) state: Mutex<State>,
    /// Locked by the thread that writes, and before `state`.
    pub(crate) files: Mutex<Files>,
    /// Signals the flusher.
    pub(crate) work: Condvar,
    /// Bytes that are not being written yet. Changed while `state` is locked.
    pub(crate) pending_bytes: AtomicU64,
    pub(crate) durable: Arc<Reached>,
    /// Counts attempts to allocate segments.
    pub(crate) attempts: Arc<Reached>,
    pub(crate) counts: Counts,
    pub(crate) listener: Listener,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// The buffer and what belongs to it.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) placing: Placing,
    /// What is not being written yet.
    pub(crate) pending: Vec<Write>,
    /// Whether the flusher was woken for what is pending.
    pub(crate) is_announced: bool,
    /// The position of the next record.
    pub(crate) next: Position,
    /// Segments with records, and their first positions.
    pub(crate) segments: VecDeque<(SegmentNumber, Position)>,
    /// The number of the next segment to be allocated.
    pub(crate) next_segment: SegmentNumber,
    /// Room that somebody waits for, in bytes.
    pub(crate) wanted: u64,
    /// Whether the last attempt to allocate a segment found the disk full.
    pub(crate) is_full: bool,
    /// Whether somebody waits for durability that commits do not wait for.
    pub(crate) is_urgent: bool,
    pub(crate) is_stopping: bool,
    pub(crate) stopped: Option<Error>,
}

/// Bytes to be written into a segment.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) segment: SegmentNumber,
    pub(crate) offset: u64,
    pub(crate) bytes: Vec<u8>,
}

impl State {
    /// Whether a segment has to be allocated.
    pub(crate) fn wants_room(&self) -> bool {
        self.wanted > 0 || (self.placing.spares() < SPARES && !self.is_full)
    }

    /// Whether the flusher has something to do, even if others write.
    pub(crate) fn wants_flusher(&self) -> bool {
        self.wants_room() || self.stopped.is_some()
    }
}

impl Shared {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Signals that there is work.
    pub(crate) fn signal(&self) {
        match &self.options.flushing {
            Flushing::Thread => drop(self.work.notify_one()),
            Flushing::Owner(signal) => signal(),
        }
    }

    /// Puts a record into the buffer.
    pub(crate) fn write(
        &self,
        state: &mut State,
        (origin, kind): (Origin, u16),
        continues: bool,
        body_crc: u32,
        body: &[&[u8]],
    ) {
        let header = Header {
            body_crc,
            body_bytes: body.iter().map(|part| part.len() as u32).sum(),
            format: FORMAT,
            continues,
            kind,
            position: state.next,
            durable: self.durable.position(),
            origin,
            set: self.directory.set(),
        };
        let length = header.record_bytes() as u64;
        let place = state.placing.place(length);
        if place.opens {
            let (number, bytes) = (place.segment, state.placing.segment_bytes());
            let first = state.next;
            let opening = SegmentHeader { number, bytes, first, set: self.directory.set() };
            state.segments.push_back((number, first));
            let bytes = opening.encode().to_vec();
            state.pending.push(Write { segment: number, offset: 0, bytes });
        }
        let write = match state.pending.last_mut() {
            Some(write) if write.segment == place.segment => write,
            _ => {
                let (segment, offset) = (place.segment, place.offset);
                state.pending.push(Write { segment, offset, bytes: Vec::new() });
                // Pushed in the line above.
                let Some(write) = state.pending.last_mut() else { return };
                write
            }
        };
        debug_assert_eq!(write.offset + write.bytes.len() as u64, place.offset);
        record::write(&header, body, &mut write.bytes);
        state.next = state.next.next();
        self.pending_bytes.fetch_add(length, Ordering::Relaxed);
        self.counts.bytes.fetch_add(length, Ordering::Relaxed);
    }

    /// Ends the journal, and everybody's waiting with an error.
    pub(crate) fn stop(&self, reason: &str) {
        let stopped = Error::Stopped { reason: reason.to_owned() };
        self.state().stopped.get_or_insert_with(|| stopped.clone());
        self.durable.stop(&stopped);
        self.attempts.stop(&stopped);
    }

    /// Allocates a segment; returns its file.
    ///
    /// # Errors
    /// [`Error::Full`]; those of the disk.
    pub(crate) fn allocate(&self, number: SegmentNumber) -> Result<Arc<dyn DiskFile>, Error> {
        let (disk, directory) = (self.directory.disk(), self.directory.journal());
        let path = directory.join(number.file_name());
        let unfinished = directory.join(number.file_name() + UNFINISHED);
        let bytes = self.options.segment_bytes;
        let file = match disk.create(&unfinished, bytes) {
            Ok(file) => file,
            Err(error) => {
                let _ = disk.remove(&unfinished);
                return Err(match is_full(&error) {
                    true => Error::Full { path: directory, bytes },
                    false => Error::io("create", &path, &error),
                });
            }
        };
        file.sync().map_err(|error| Error::io("sync", &unfinished, &error))?;
        let renamed = disk.rename(&unfinished, &path);
        renamed.map_err(|error| Error::io("rename", &unfinished, &error))?;
        sync_directory(&**disk, &directory)?;
        self.counts.segments.fetch_add(1, Ordering::Relaxed);
        Ok(file)
    }
}
