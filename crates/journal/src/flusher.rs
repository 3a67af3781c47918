//! What writes the buffer, calls fsync, and allocates segments: a thread, or the owner of the journal.

use crate::Error;
use crate::disk::DiskFile;
use crate::durability::Durability;
use crate::record::Position;
use crate::segment::SegmentNumber;
use crate::shared::{Shared, State, Write};
use parking_lot::MutexGuard;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Instant;

/// Allocated segments that are kept ready.
const SPARES: usize = 1;

/// Open files of segments.
type Files = BTreeMap<SegmentNumber, Arc<dyn DiskFile>>;

/// What the flusher does next.
struct Work {
    writes: Vec<Write>,
    /// The position of the last record in `writes`.
    last: Position,
    /// Room that is needed, or that somebody waits for, in bytes. `None` if there is enough.
    wanted: Option<u64>,
}

/// What writes, with the files that it writes to.
#[derive(Debug)]
pub(crate) struct Flusher {
    files: Files,
    /// What is written, and not synced yet: the last segment, and the position of its last record.
    written: Option<(SegmentNumber, Position)>,
}

impl Flusher {
    /// Opens the segment to be continued, and allocates the first spare.
    pub(crate) fn open(shared: &Shared, open: Option<SegmentNumber>) -> Result<Self, Error> {
        let mut files = Files::new();
        if let Some(number) = open {
            let path = shared.directory.journal().join(number.file_name());
            let file = shared.directory.disk().open(&path);
            files.insert(number, file.map_err(|error| Error::io("open", &path, &error))?);
        }
        add_spares(shared, &mut files, 0)?;
        Ok(Self { files, written: None })
    }

    /// Writes what was appended; [`Self::sync`] is to follow.
    pub(crate) fn write(&mut self, shared: &Shared) -> Result<(), Error> {
        assert!(self.written.is_none(), "what is written is synced before more is written");
        let work = {
            let mut state = shared.state();
            let is_asked = state.wanted > 0 || state.placing.spares() < SPARES;
            if state.stopped.is_some() || (state.pending.is_empty() && !is_asked) {
                return Ok(());
            }
            take(&mut state)
        };
        if let Some(segment) = write(shared, &mut self.files, &work.writes)? {
            self.written = Some((segment, work.last));
        }
        match work.wanted {
            Some(wanted) => add_spares(shared, &mut self.files, wanted),
            None => Ok(()),
        }
    }

    /// Makes durable what is written, and tells those who wait. Returns whether there was anything.
    pub(crate) fn sync(&mut self, shared: &Shared) -> Result<bool, Error> {
        let Some((segment, last)) = self.written.take() else { return Ok(false) };
        sync(shared, &mut self.files, segment)?;
        (shared.listener)(last);
        shared.durable.advance(last);
        Ok(true)
    }
}

/// Starts the thread that writes.
pub(crate) fn start(shared: Arc<Shared>, flusher: Flusher) -> Result<JoinHandle<()>, Error> {
    let Flusher { files, .. } = flusher;
    let thread = std::thread::Builder::new().name("pando-journal".to_owned());
    let path = shared.directory.path().to_owned();
    let run = move || {
        let guard = StopOnPanic(&shared);
        let ended = run(&shared, files);
        std::mem::forget(guard);
        if let Err(error) = ended {
            shared.stop(&error.to_string());
        }
    };
    thread.spawn(run).map_err(|error| Error::io("start the thread for", &path, &error))
}

/// Stops the journal when the thread ends unexpectedly.
struct StopOnPanic<'a>(&'a Shared);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        self.0.stop("the thread of the log has failed");
    }
}

fn run(shared: &Shared, mut files: Files) -> Result<(), Error> {
    while let Some(work) = next(shared) {
        if !work.writes.is_empty() {
            flush(shared, &mut files, work.writes)?;
            (shared.listener)(work.last);
            shared.durable.advance(work.last);
        }
        if let Some(wanted) = work.wanted {
            add_spares(shared, &mut files, wanted)?;
        }
    }
    Ok(())
}

/// Waits for work; `None` at the end.
fn next(shared: &Shared) -> Option<Work> {
    let mut state = shared.state();
    loop {
        if state.stopped.is_some() {
            return None;
        }
        let is_asked = state.wanted > 0;
        let is_short = state.placing.spares() < SPARES && !state.is_full;
        if !state.pending.is_empty() {
            delay(shared, &mut state);
        }
        if !state.pending.is_empty() || is_asked || is_short {
            return Some(take(&mut state));
        }
        if state.is_stopping {
            return None;
        }
        shared.work.wait(&mut state);
    }
}

/// Lets asynchronous commits gather.
fn delay(shared: &Shared, state: &mut MutexGuard<'_, State>) {
    if shared.options.durability == Durability::Sync {
        return;
    }
    let end = Instant::now() + shared.options.interval;
    while !state.is_urgent && !state.is_stopping && state.wanted == 0 {
        if shared.work.wait_until(state, end).timed_out() {
            return;
        }
    }
}

fn take(state: &mut State) -> Work {
    let wanted = std::mem::take(&mut state.wanted);
    let is_short = state.placing.spares() < SPARES;
    state.is_urgent = false;
    state.pending_bytes = 0;
    Work {
        writes: std::mem::take(&mut state.pending),
        last: Position(state.next.0 - 1),
        wanted: (wanted > 0 || is_short).then_some(wanted),
    }
}

/// Writes and syncs one segment after the other.
fn flush(shared: &Shared, files: &mut Files, writes: Vec<Write>) -> Result<(), Error> {
    let begin = Instant::now();
    if let Some(last) = write(shared, files, &writes)? {
        sync(shared, files, last)?;
    }
    shared.counts.count_flush(begin.elapsed());
    Ok(())
}

/// Writes, and syncs all segments but the last, whose number is returned: a segment that has records
/// shows that everything before it is durable.
fn write(
    shared: &Shared,
    files: &mut Files,
    writes: &[Write],
) -> Result<Option<SegmentNumber>, Error> {
    let journal = shared.directory.journal();
    let mut last = None;
    for same in writes.chunk_by(|one, next| one.segment == next.segment) {
        if let Some(before) = last {
            sync(shared, files, before)?;
        }
        let number = same[0].segment;
        let path = journal.join(number.file_name());
        let file = files.get(&number).expect("a segment is opened before it is filled");
        for Write { offset, bytes, .. } in same {
            file.write_at(bytes, *offset).map_err(|error| Error::io("write", &path, &error))?;
        }
        last = Some(number);
    }
    Ok(last)
}

/// Syncs a segment; those before it are not written to any more.
fn sync(shared: &Shared, files: &mut Files, number: SegmentNumber) -> Result<(), Error> {
    let path = shared.directory.journal().join(number.file_name());
    let file = files.get(&number).expect("a segment is opened before it is filled");
    file.sync().map_err(|error| Error::io("sync", &path, &error))?;
    shared.counts.syncs.fetch_add(1, Ordering::Relaxed);
    files.retain(|of, _| *of >= number);
    Ok(())
}

/// Allocates segments until the spares are complete and there is room for `wanted` bytes. A full disk
/// is noted, and is no error.
fn add_spares(shared: &Shared, files: &mut Files, wanted: u64) -> Result<(), Error> {
    loop {
        let number = {
            let mut state = shared.state();
            state.is_full = false;
            if state.placing.spares() >= SPARES && state.placing.has_room(wanted) {
                break;
            }
            state.next_segment
        };
        match shared.allocate(number) {
            Ok(file) => {
                files.insert(number, file);
                let mut state = shared.state();
                state.placing.add_spare(number);
                state.next_segment = number.next();
            }
            Err(Error::Full { .. }) => {
                shared.state().is_full = true;
                break;
            }
            Err(error) => return Err(error),
        }
    }
    shared.attempts.advance(shared.attempts.position().next());
    Ok(())
}
