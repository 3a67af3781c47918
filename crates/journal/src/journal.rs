//! The journal of a server that is running: commands are appended in order, and become durable
//! together.
//!
//! ```text
//! caller:   room ---> lock of the machine ---> append, apply ---> unlock ---> committed ... answer
//! flusher:                                        +--> write, fsync --> published, committed
//! ```
//!
//! A caller whose thread may wait for the disk writes in the flusher's place ([`Journal::write_here`]).
//!
//! The caller asks for room before it decides a command ([`Journal::room`]), so that a full disk
//! refuses it and changes nothing. [`Journal::append`] copies the command into a buffer and never
//! waits. One thread at a time writes the buffer, calls fsync, and tells first the owner ([`Listener`]) and then
//! those who wait. The first error of the disk stops the journal for good: nobody is told that
//! anything is durable any more.

use crate::directory::sync_directory;
use crate::durability::Durability;
use crate::figures::{Counts, Figures};
use crate::flusher::{self, Flusher};
use crate::placing::{self, Placing};
use crate::record::{self, Origin, Position};
use crate::recovery::Recovered;
use crate::segment::{SegmentNumber, UNFINISHED};
use crate::shared::{Flushing, Listener, Options, Shared, State};
use crate::waiting::{Reached, Wait};
use crate::{Directory, Error};
use parking_lot::{Condvar, Mutex};
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

/// The length of the longest command in bytes.
pub const COMMAND_BYTES_MAX: u64 = 1 << 30;

/// Asynchronous commits wait once this much is not written yet, in bytes.
const BACKLOG_BYTES_MAX: u64 = 64 << 20;

/// The journal of a server. Dropping it writes what was appended.
#[derive(Debug)]
pub struct Journal {
    shared: Arc<Shared>,
    flusher: Mutex<Flushes>,
}

/// Who writes.
#[derive(Debug)]
enum Flushes {
    /// A thread; `None` once it has ended.
    Thread(Option<JoinHandle<()>>),
    /// The owner.
    Owner(Flusher),
}

/// The body of a command, and its checksum.
#[derive(Debug, Clone)]
pub struct Body {
    bytes: Vec<u8>,
    crc: u32,
}

impl Body {
    /// Computes the checksum: to be called outside of locks.
    pub fn new(bytes: Vec<u8>) -> Self {
        let crc = record::body_crc(&[&bytes]);
        Self { bytes, crc }
    }

    /// Returns its length in bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// Room on the disk for one command. Dropping it gives it back.
#[derive(Debug)]
#[must_use = "room is given back when it is dropped"]
pub struct Room {
    shared: Arc<Shared>,
    bytes: u64,
    /// Whether the flusher is woken for the command.
    wakes: bool,
}

impl Room {
    /// The same room, for a command that the caller writes by [`Journal::write_here`] after appending it:
    /// the flusher is not woken for it. Where commits do not wait, it is.
    pub fn written_here(mut self) -> Self {
        self.wakes = self.shared.options.durability != Durability::Sync;
        self
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.shared.state.lock().placing.release(self.bytes);
        }
    }
}

/// The outcome of asking for room.
enum Asked {
    Granted(Room),
    /// Ask again after this attempt to allocate a segment.
    Later(Position),
}

impl Journal {
    /// Continues a journal after its recovery, and starts the flusher.
    ///
    /// # Errors
    /// Those of the disk. A full disk is none: commands are refused until there is room.
    pub fn start(
        directory: Arc<Directory>,
        recovered: &Recovered,
        options: Options,
        listener: Listener,
    ) -> Result<Self, Error> {
        assert!(
            options.segment_bytes >= 4096 && options.segment_bytes.is_multiple_of(4096),
            "segments are multiples of 4096 bytes"
        );
        remove_leftovers(&directory, recovered)?;
        write_again(&directory, recovered)?;
        let same_size = |(_, _, bytes): &(_, _, u64)| *bytes == options.segment_bytes;
        let open = recovered.open.filter(same_size).map(|(number, used, _)| (number, used));
        let state = State {
            placing: Placing::new(options.segment_bytes, open),
            pending: Vec::new(),
            is_announced: false,
            next: recovered.last.next(),
            segments: recovered.segments.iter().copied().collect(),
            next_segment: recovered.next_segment,
            wanted: 0,
            is_full: false,
            is_urgent: false,
            is_stopping: false,
            stopped: None,
        };
        let shared = Arc::new(Shared {
            directory,
            options,
            state: Mutex::new(state),
            files: Mutex::default(),
            work: Condvar::new(),
            pending_bytes: AtomicU64::new(0),
            durable: Arc::new(Reached::new(recovered.last)),
            attempts: Arc::default(),
            counts: Counts::default(),
            listener,
        });
        flusher::open(&shared, open.map(|(number, _)| number))?;
        let flushes = match &shared.options.flushing {
            Flushing::Thread => Flushes::Thread(Some(flusher::start(Arc::clone(&shared))?)),
            Flushing::Owner(_) => Flushes::Owner(Flusher::default()),
        };
        Ok(Self { shared, flusher: Mutex::new(flushes) })
    }

    /// Writes what was appended, for a journal that its owner flushes ([`Flushing::Owner`]).
    /// [`Self::sync`] is to follow; a crash between the two may leave a part. An error stops the journal.
    pub fn write(&self) {
        self.flush_with(|flusher, shared| flusher.write(shared).map(|()| false));
    }

    /// Makes durable what [`Self::write`] has written, and tells those who wait. Returns whether there was anything.
    pub fn sync(&self) -> bool {
        self.flush_with(Flusher::sync)
    }

    /// Writes what was appended, and makes it durable.
    pub fn flush(&self) {
        self.sync();
        self.write();
        self.sync();
    }

    fn flush_with(&self, work: impl FnOnce(&mut Flusher, &Shared) -> Result<bool, Error>) -> bool {
        let mut flusher = self.flusher.lock();
        let Flushes::Owner(flusher) = &mut *flusher else { return false };
        if self.stopped().is_some() {
            return false;
        }
        work(flusher, &self.shared).unwrap_or_else(|error| {
            self.shared.stop(&error.to_string());
            false
        })
    }

    /// Asks for room for a command with a body of this length, suffix included. Waits until a segment
    /// is allocated, which is rare.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::TooLong`], [`Error::Stopped`].
    pub async fn room(&self, body: usize) -> Result<Room, Error> {
        let mut has_waited = false;
        loop {
            match self.ask(body, has_waited)? {
                Asked::Granted(room) => return Ok(room),
                Asked::Later(attempt) => self.shared.attempts.future(attempt).await?,
            }
            has_waited = true;
        }
    }

    /// As [`Self::room`], and blocks the thread.
    ///
    /// # Errors
    /// As [`Self::room`].
    pub fn room_blocking(&self, body: usize) -> Result<Room, Error> {
        let mut has_waited = false;
        loop {
            match self.ask(body, has_waited)? {
                Asked::Granted(room) => return Ok(room),
                Asked::Later(attempt) => {
                    self.flush();
                    self.shared.attempts.wait(attempt)?;
                }
            }
            has_waited = true;
        }
    }

    /// Returns room if there is some at once.
    pub fn try_room(&self, body: usize) -> Option<Room> {
        match self.ask(body, false) {
            Ok(Asked::Granted(room)) => Some(room),
            Ok(Asked::Later(_)) | Err(_) => None,
        }
    }

    fn ask(&self, body: usize, has_waited: bool) -> Result<Asked, Error> {
        if body as u64 > COMMAND_BYTES_MAX {
            return Err(Error::TooLong { bytes: body as u64, limit: COMMAND_BYTES_MAX });
        }
        let mut state = self.shared.state();
        if let Some(stopped) = &state.stopped {
            return Err(stopped.clone());
        }
        let bytes = placing::command_bytes(body, state.placing.part_bytes());
        if state.placing.promise(bytes) {
            drop(state);
            let shared = Arc::clone(&self.shared);
            return Ok(Asked::Granted(Room { shared, bytes, wakes: true }));
        }
        if has_waited && state.is_full {
            self.shared.counts.refused.fetch_add(1, Ordering::Relaxed);
            return Err(Error::Full { path: self.shared.directory.path().to_owned(), bytes });
        }
        state.wanted = state.wanted.max(bytes);
        let next = self.shared.attempts.position().next();
        self.shared.signal();
        Ok(Asked::Later(next))
    }

    /// Appends a command: its body, followed by a suffix that is known only now. To be called in the
    /// order in which commands are applied. Never waits.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn append(
        &self,
        mut room: Room,
        origin: Origin,
        kind: u16,
        body: &Body,
        suffix: &[u8],
    ) -> Result<Position, Error> {
        let mut state = self.shared.state();
        if let Some(stopped) = state.stopped.clone() {
            drop(state);
            return Err(stopped);
        }
        let part_bytes = state.placing.part_bytes();
        let length = body.len() + suffix.len();
        let bytes = placing::command_bytes(length, part_bytes);
        assert!(bytes <= room.bytes, "a command is not longer than the room for it");
        state.placing.release(std::mem::take(&mut room.bytes));
        if length <= part_bytes {
            let crc = crc32c::crc32c_append(body.crc, suffix);
            self.shared.write(&mut state, (origin, kind), false, crc, &[&body.bytes, suffix]);
        } else {
            let whole = [&body.bytes, suffix].concat();
            let mut parts = whole.chunks(part_bytes).peekable();
            while let Some(part) = parts.next() {
                let (continues, crc) = (parts.peek().is_some(), record::body_crc(&[part]));
                self.shared.write(&mut state, (origin, kind), continues, crc, &[part]);
            }
        }
        self.shared.counts.commands.fetch_add(1, Ordering::Relaxed);
        let position = Position(state.next.0 - 1);
        let wakes = room.wakes && !std::mem::replace(&mut state.is_announced, room.wakes);
        drop(state);
        if wakes {
            self.shared.signal();
        }
        Ok(position)
    }

    /// Writes what commits wait for in this thread, up to a position at least. Afterwards
    /// [`Self::committed`] has ended for it. Nothing is done if commits do not wait.
    pub fn write_here(&self, position: Position) {
        match &self.shared.options.flushing {
            Flushing::Thread if self.is_synchronous() => self.shared.write_until(position),
            Flushing::Thread => {}
            Flushing::Owner(signal) => signal(),
        }
    }

    /// Returns what a commit at a position waits for before it is acknowledged.
    ///
    /// # Errors
    /// The future ends with [`Error::Stopped`]; it is not known then whether the commit is durable.
    pub fn committed(&self, position: Position) -> Wait {
        self.shared.durable.future(self.awaited(position))
    }

    /// As [`Self::committed`], and blocks the thread.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn wait_committed(&self, position: Position) -> Result<(), Error> {
        let awaited = self.awaited(position);
        if self.durable_position() < awaited {
            self.flush();
        }
        self.shared.durable.wait(awaited)
    }

    /// The position that a commit waits for.
    fn awaited(&self, position: Position) -> Position {
        if self.shared.options.durability == Durability::Sync {
            return position;
        }
        let pending = self.shared.pending_bytes.load(Ordering::Relaxed);
        if pending > BACKLOG_BYTES_MAX { position } else { Position::ZERO }
    }

    /// Returns what waits until a command is on the disk, whatever commits wait for, and has it
    /// written at once.
    pub fn durable(&self, position: Position) -> Wait {
        self.hurry(position);
        self.shared.durable.future(position)
    }

    /// As [`Self::durable`], and blocks the thread.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn wait_durable(&self, position: Position) -> Result<(), Error> {
        self.hurry(position);
        if self.durable_position() < position {
            self.flush();
        }
        self.shared.durable.wait(position)
    }

    fn hurry(&self, position: Position) {
        if self.shared.durable.position() < position {
            self.shared.state().is_urgent = true;
            self.shared.signal();
        }
    }

    /// Returns the position up to which everything is durable.
    pub fn durable_position(&self) -> Position {
        self.shared.durable.position()
    }

    /// Returns the position of the last command that was appended.
    pub fn position(&self) -> Position {
        Position(self.shared.state().next.0 - 1)
    }

    /// Returns what commits wait for.
    pub fn durability(&self) -> Durability {
        self.shared.options.durability
    }

    /// Whether commits wait for the disk.
    pub fn is_synchronous(&self) -> bool {
        self.durability() == Durability::Sync
    }

    /// Returns the error that has stopped the journal. The server must end then.
    pub fn stopped(&self) -> Option<Error> {
        self.shared.durable.stopped()
    }

    /// Stops the journal: what was appended last was not carried out. Nothing is written any more.
    pub fn fail(&self, reason: &str) {
        self.shared.stop(reason);
        self.shared.signal();
    }

    /// Ends with an error when the journal stops.
    pub fn until_stopped(&self) -> Wait {
        self.shared.durable.future(Position(u64::MAX))
    }

    /// Removes the segments that have only records up to a position, because a durable checkpoint
    /// contains them.
    ///
    /// # Errors
    /// Those of the disk. What remains is removed by the next call.
    pub fn retire(&self, through: Position) -> Result<(), Error> {
        let directory = &self.shared.directory;
        loop {
            // A segment that is not known to be on the disk does not replace the one before.
            let durable = self.shared.durable.position();
            let is_enough = |first: Position| first <= through.next() && first <= durable;
            let number = {
                let state = self.shared.state();
                let next = state.segments.get(1).filter(|(_, first)| is_enough(*first));
                match (state.segments.front(), next) {
                    (Some((number, _)), Some(_)) => *number,
                    _ => return Ok(()),
                }
            };
            remove(directory, &number.file_name())?;
            self.shared.state().segments.retain(|(of, _)| *of != number);
        }
    }

    /// Returns the number of segments with records.
    pub fn segments(&self) -> usize {
        self.shared.state().segments.len()
    }

    /// Returns the bytes that commands can have before another segment has to be allocated.
    pub fn free_bytes(&self) -> u64 {
        self.shared.state().placing.room()
    }

    /// Returns the figures since the start.
    pub fn figures(&self) -> Figures {
        self.shared.counts.figures()
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.shared.state().is_stopping = true;
        self.shared.signal();
        let Flushes::Thread(thread) = self.flusher.get_mut() else { return };
        // The listener may drop the last owner of the journal, in the flusher's thread.
        if let Some(thread) = thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

/// Makes durable what the recovery has read and that may not be on the disk. A sync alone does not: one
/// that has failed before may have left pages that are taken for written.
fn write_again(directory: &Directory, recovered: &Recovered) -> Result<(), Error> {
    let Some((number, offset, bytes)) = &recovered.unsure else { return Ok(()) };
    let path = directory.journal().join(number.file_name());
    let file = directory.disk().open(&path).map_err(|error| Error::io("open", &path, &error))?;
    file.write_at(bytes, *offset).map_err(|error| Error::io("write", &path, &error))?;
    file.sync().map_err(|error| Error::io("sync", &path, &error))
}

/// Removes spares and unfinished segments of the previous run.
fn remove_leftovers(directory: &Directory, recovered: &Recovered) -> Result<(), Error> {
    let (disk, journal) = (directory.disk(), directory.journal());
    let names = disk.list(&journal).map_err(|error| Error::io("list", &journal, &error))?;
    let is_spare = |name: &str| {
        SegmentNumber::of_file_name(name).is_some_and(|number| number >= recovered.next_segment)
    };
    let leftovers = names.iter().rev().filter(|n| n.ends_with(UNFINISHED) || is_spare(n));
    leftovers.into_iter().try_for_each(|name| remove(directory, name))
}

/// Removes a file of the journal durably. The first or the last segment is removed before the next
/// one, so that a crash leaves no gap.
fn remove(directory: &Directory, name: &str) -> Result<(), Error> {
    let (disk, journal) = (directory.disk(), directory.journal());
    let path = journal.join(name);
    match disk.remove(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Error::io("remove", &path, &error))
        }
        _ => sync_directory(&**disk, &journal),
    }
}
