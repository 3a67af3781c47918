//! What writes the buffer if nobody else does, and allocates segments: a thread, or the owner of the journal.

use crate::Error;
use crate::durability::Durability;
use crate::segment::SegmentNumber;
use crate::shared::{OpenSegment, SPARES, Shared, State};
use crate::writing::{StopOnPanic, Written};
use parking_lot::MutexGuard;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

/// What the flusher does next.
struct Work {
    /// Room that is needed, or that somebody waits for, in bytes. `None` if there is enough.
    wanted: Option<u64>,
}

/// Opens the segment to be continued, and allocates the first spare.
pub(crate) fn open(shared: &Shared, open: Option<SegmentNumber>) -> Result<(), Error> {
    if let Some(number) = open {
        let path = shared.directory.journal().join(number.file_name());
        let file = shared.directory.disk().open(&path);
        let file = file.map_err(|error| Error::io("open", &path, &error))?;
        shared.files.lock().insert(number, OpenSegment::new(file));
    }
    add_spares(shared, 0)
}

/// The owner of a journal as what writes: in two steps, between which a crash may leave a part.
#[derive(Debug, Default)]
pub(crate) struct Flusher {
    /// What is written, and not synced yet.
    written: Option<Written>,
}

impl Flusher {
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
        self.written = shared.write_unsynced()?;
        match work.wanted {
            Some(wanted) => add_spares(shared, wanted),
            None => Ok(()),
        }
    }

    /// Makes durable what is written, and tells those who wait. Returns whether there was anything.
    pub(crate) fn sync(&mut self, shared: &Shared) -> Result<bool, Error> {
        let Some(written) = self.written.take() else { return Ok(false) };
        shared.sync_written(written)?;
        Ok(true)
    }
}

/// Starts the thread that writes.
pub(crate) fn start(shared: Arc<Shared>) -> Result<JoinHandle<()>, Error> {
    let thread = std::thread::Builder::new().name("pando-journal".to_owned());
    let path = shared.directory.path().to_owned();
    let run = move || {
        let guard = StopOnPanic(&shared);
        let ended = run(&shared);
        std::mem::forget(guard);
        if let Err(error) = ended {
            shared.stop(&error.to_string());
        }
    };
    thread.spawn(run).map_err(|error| Error::io("start the thread for", &path, &error))
}

fn run(shared: &Shared) -> Result<(), Error> {
    while let Some(work) = next(shared) {
        shared.write_gathered()?;
        if let Some(wanted) = work.wanted {
            add_spares(shared, wanted)?;
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
        if !state.pending.is_empty() {
            delay(shared, &mut state);
        }
        if !state.pending.is_empty() || state.wants_room() {
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
    Work { wanted: (wanted > 0 || is_short).then_some(wanted) }
}

/// Allocates segments until the spares are complete and there is room for `wanted` bytes. A full disk
/// is noted, and is no error.
fn add_spares(shared: &Shared, wanted: u64) -> Result<(), Error> {
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
                // Opened before it is filled.
                shared.files.lock().insert(number, OpenSegment::new(file));
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
