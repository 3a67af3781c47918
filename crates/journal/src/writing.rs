//! Writes the buffer into segments and calls fsync: one thread at a time.

use crate::Error;
use crate::record::Position;
use crate::segment::SegmentNumber;
use crate::shared::{Files, OpenSegment, Shared, Write};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Zeros that are written behind the records. A file system notes for each block that was allocated and never written
/// when it is; a sync after each few records would do so block by block.
const AHEAD_BYTES: u64 = 1 << 20;

/// What has gathered in the buffer.
struct Gathered {
    writes: Vec<Write>,
    /// The position of the last record in `writes`.
    last: Position,
}

/// What is written, and not synced yet: the last segment, and the position of its last record.
#[derive(Debug)]
pub(crate) struct Written {
    segment: SegmentNumber,
    last: Position,
}

impl Shared {
    /// Writes what has gathered, and tells those who wait for it. Another thread may be writing: then it
    /// waits for that one first.
    ///
    /// # Errors
    /// Those of the disk. The journal has stopped then.
    pub(crate) fn write_gathered(&self) -> Result<(), Error> {
        let mut files = self.files.lock();
        let Some(Gathered { writes, last }) = self.gathered() else { return Ok(()) };
        let guard = StopOnPanic(self);
        self.stopping(flush(self, &mut files, writes))?;
        (self.listener)(last);
        self.durable.advance(last);
        std::mem::forget(guard);
        Ok(())
    }

    /// Stops the journal if the disk has failed. The files are locked still: whoever waits for them would write behind a
    /// gap, where no start looks for records, and tell that what it wrote is durable.
    fn stopping<T>(&self, written: Result<T, Error>) -> Result<T, Error> {
        written.inspect_err(|error| self.stop(&error.to_string()))
    }

    /// Writes what has gathered; [`Self::sync_written`] is to follow. `None` if there was nothing.
    ///
    /// # Errors
    /// As [`Self::write_gathered`].
    pub(crate) fn write_unsynced(&self) -> Result<Option<Written>, Error> {
        let mut files = self.files.lock();
        let Some(Gathered { writes, last }) = self.gathered() else { return Ok(None) };
        let segment = self.stopping(write(self, &mut files, &writes))?;
        Ok(segment.map(|segment| Written { segment, last }))
    }

    /// Makes durable what was written, and tells those who wait for it.
    ///
    /// # Errors
    /// As [`Self::write_gathered`].
    pub(crate) fn sync_written(&self, written: Written) -> Result<(), Error> {
        let mut files = self.files.lock();
        self.stopping(sync(self, &mut files, written.segment))?;
        (self.listener)(written.last);
        self.durable.advance(written.last);
        Ok(())
    }

    /// Takes what has gathered; `None` if there is nothing, or nothing is written any more.
    fn gathered(&self) -> Option<Gathered> {
        let mut state = self.state();
        if state.stopped.is_some() || state.pending.is_empty() {
            return None;
        }
        self.pending_bytes.store(0, Ordering::Relaxed);
        state.is_announced = false;
        let writes = std::mem::take(&mut state.pending);
        Some(Gathered { writes, last: Position(state.next.0 - 1) })
    }

    /// Writes a record that may still be in the buffer, in the thread that has appended it. Stops the
    /// journal if the disk fails.
    pub(crate) fn write_until(&self, position: Position) {
        if self.durable.position() >= position {
            return;
        }
        // An error has stopped the journal, which those who wait are told.
        let _ = self.write_gathered();
        // The flusher allocates segments, and ends when the journal has stopped.
        if self.state().wants_flusher() {
            self.signal();
        }
    }
}

impl OpenSegment {
    /// Writes zeros behind records that end beyond what was written, up to the end of the segment at most. No record is
    /// there yet.
    fn write_ahead(&mut self, end: u64, segment_bytes: u64) {
        if end <= self.written {
            return;
        }
        let ahead = (segment_bytes - end).min(AHEAD_BYTES);
        self.written = end + ahead;
        // They are zeros already. If the disk fails, the records will meet that.
        let _ = self.file.write_at(&vec![0; ahead as usize], end);
    }
}

/// Stops the journal when a thread that writes ends unexpectedly.
pub(crate) struct StopOnPanic<'a>(pub(crate) &'a Shared);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        self.0.stop("the thread of the log has failed");
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
        let segment = files.get_mut(&number).expect("a segment is opened before it is filled");
        for Write { offset, bytes, .. } in same {
            let written = segment.file.write_at(bytes, *offset);
            written.map_err(|error| Error::io("write", &path, &error))?;
            segment.write_ahead(offset + bytes.len() as u64, shared.options.segment_bytes);
        }
        last = Some(number);
    }
    Ok(last)
}

/// Syncs a segment; those before it are not written to any more.
fn sync(shared: &Shared, files: &mut Files, number: SegmentNumber) -> Result<(), Error> {
    let path = shared.directory.journal().join(number.file_name());
    let segment = files.get(&number).expect("a segment is opened before it is filled");
    segment.file.sync().map_err(|error| Error::io("sync", &path, &error))?;
    shared.counts.syncs.fetch_add(1, Ordering::Relaxed);
    files.retain(|of, _| *of >= number);
    Ok(())
}
