//! Reads the journal back when a server starts. Nothing is changed on the disk.
//!
//! Segments are read in order up to the first position of a later one; records after that are dead.
//! In the last segment, [`Scan::judge`] decides where the journal ends. A command whose last records
//! are missing there is cut off as a whole.
//!
//! What was read is not always on the disk: after a kill, or a sync that has failed, it may be in the
//! operating system's memory only. Records that no later one calls durable are written again before
//! the journal continues.

use crate::disk::Disk;
use crate::record::{FORMAT, FileSet, HEADER_BYTES, Header, Origin, Position};
use crate::scan::{Flaw, Scan, Tail, is_zero};
use crate::segment::{self, Beginning, SegmentHeader, SegmentNumber};
use crate::{Directory, Error};
use sdds::GroupId;
use std::path::{Path, PathBuf};

/// A command that was read back.
#[derive(Debug)]
pub struct Command<'a> {
    /// Its position: that of its last record.
    pub position: Position,
    /// Its place in the log of a group.
    pub origin: Origin,
    /// The kind, as it was appended.
    pub kind: u16,
    /// The body, as it was appended.
    pub body: &'a [u8],
    /// How much of the journal has been read with it, between 0 and 1.
    pub progress: f64,
    file: &'a Path,
    offset: u64,
}

impl Command<'_> {
    /// Returns the error of a body that cannot be decoded: its file and offset, and what is wrong.
    pub fn damaged(&self, flaw: impl Into<String>) -> Error {
        Error::damaged(self.file, self.offset, flaw)
    }

    /// Checks that it is the command at an index of the log of a group.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn expect(&self, group: GroupId, index: u64) -> Result<(), Error> {
        let Origin { group: found, index: at, .. } = self.origin;
        if (found, at) == (group, index) {
            return Ok(());
        }
        let flaw =
            format!("the command has index {at} of group {found} instead of {index} of {group}");
        Err(self.damaged(flaw))
    }
}

/// The journal as it was found, ready to be continued.
#[derive(Debug)]
pub struct Recovered {
    /// The position of the last command.
    pub last: Position,
    /// Commands that were handed out.
    pub commands: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Where a torn tail was cut off: file and offset. `None` if the journal ended cleanly.
    pub cut: Option<(PathBuf, u64)>,
    /// What may not be on the disk: the last segment, an offset and the bytes there.
    pub(crate) unsure: Option<(SegmentNumber, u64, Vec<u8>)>,
    /// The segment that can be continued, and the bytes in use.
    pub(crate) open: Option<(SegmentNumber, u64, u64)>,
    /// The segments with records and their first positions.
    pub(crate) segments: Vec<(SegmentNumber, Position)>,
    /// The number after all segments with records.
    pub(crate) next_segment: SegmentNumber,
}

/// Reads the commands after a position in order, and hands them to `take`.
///
/// # Errors
/// [`Error::Damaged`] for everything that is neither valid nor a torn tail; [`Error::Newer`]; those
/// of `take`, after which reading ends.
pub fn recover(
    directory: &Directory,
    after: Position,
    mut take: impl FnMut(Command<'_>) -> Result<(), Error>,
) -> Result<Recovered, Error> {
    let files = Files::find(directory)?.whole()?;
    let begin = files.begin(after)?;
    let mut reader = Reader::new(directory.set(), after, files.total(begin));
    for at in begin..files.used.len() {
        let (path, header) = (&files.used[at].0, files.used[at].1);
        let end = files.end(at);
        if header.first >= end {
            continue;
        }
        let bytes = read(&**directory.disk(), path)?;
        if bytes.len() as u64 != header.bytes {
            let flaw = format!("the file has {} bytes instead of {}", bytes.len(), header.bytes);
            return Err(Error::damaged(path, bytes.len() as u64, flaw));
        }
        let is_last = at + 1 == files.used.len();
        if is_last {
            reader.ends_in(&bytes);
        }
        let mut scan = Scan::new(&bytes, directory.set(), header.first);
        let flaw = reader.read(path, &mut scan, end, &mut take)?;
        reader.bytes += header.bytes;
        if let Some(flaw) = flaw {
            let spares = if is_last { files.read_spares(directory)? } else { Vec::new() };
            let spares: Vec<&[u8]> = spares.iter().map(Vec::as_slice).collect();
            let judged = if is_last { scan.judge(flaw, &spares) } else { Err(flaw) };
            let tail = judged.map_err(|flaw| refuse(path, scan.at, flaw))?;
            let from = scan.first_after(reader.marked, header.first);
            let unsure = (header.number, from as u64, bytes[from..scan.at].to_vec());
            let recovered = reader.finish(&files, path, &scan, tail)?;
            return Ok(Recovered { unsure: Some(unsure), ..recovered });
        }
    }
    files.refuse_lost_segments(directory)?;
    Ok(Recovered {
        last: Position::ZERO,
        commands: 0,
        bytes: 0,
        cut: None,
        unsure: None,
        open: None,
        segments: Vec::new(),
        next_segment: files.first_spare,
    })
}

/// Returns the error of a flaw.
pub(crate) fn refuse(path: &Path, at: usize, flaw: Flaw) -> Error {
    match flaw {
        Flaw::Newer(found) => {
            Error::Newer { path: path.to_owned(), found: found.into(), known: FORMAT.into() }
        }
        flaw => Error::damaged(path, at as u64, flaw.describe()),
    }
}

/// Reads a file.
pub(crate) fn read(disk: &dyn Disk, path: &Path) -> Result<Vec<u8>, Error> {
    disk.read(path).map_err(|error| Error::io("read", path, &error))
}

/// Estimates from samples how many bytes of a segment are in use.
fn filled(bytes: &[u8]) -> u64 {
    const BLOCK: usize = 4096;
    const SAMPLE: usize = 64;
    let is_used = |block: &[u8]| !is_zero(&block[..block.len().min(SAMPLE)]);
    let last = bytes.chunks(BLOCK).rposition(is_used);
    last.map_or(0, |last| (last as u64 + 1) * BLOCK as u64)
}

/// The error of a journal that lacks what a checkpoint contains.
pub(crate) fn ends_early(path: &Path, at: usize, last: Position, checkpoint: Position) -> Error {
    let flaw = format!("the log ends at position {last}, before the checkpoint at {checkpoint}");
    Error::damaged(path, at as u64, flaw)
}

/// The files of the journal.
pub(crate) struct Files {
    pub(crate) numbers: Vec<SegmentNumber>,
    /// Segments with records, and their headers.
    pub(crate) used: Vec<(PathBuf, SegmentHeader)>,
    pub(crate) spares: Vec<PathBuf>,
    first_spare: SegmentNumber,
    pub(crate) directory: PathBuf,
    /// What is wrong with files, in their order.
    pub(crate) flaws: Vec<Error>,
}

impl Files {
    /// Finds the segments of a directory and reads their headers.
    pub(crate) fn find(directory: &Directory) -> Result<Self, Error> {
        let (disk, journal) = (&**directory.disk(), directory.journal());
        let names = disk.list(&journal).map_err(|error| Error::io("list", &journal, &error))?;
        let numbers: Vec<SegmentNumber> =
            names.iter().filter_map(|name| SegmentNumber::of_file_name(name)).collect();
        let first = numbers.first().copied().unwrap_or(SegmentNumber(1));
        let mut files = Self {
            numbers,
            used: Vec::new(),
            spares: Vec::new(),
            first_spare: first,
            directory: journal,
            flaws: Vec::new(),
        };
        let mut expected = first;
        for number in files.numbers.clone() {
            if number != expected {
                let path = files.directory.join(expected.file_name());
                files.flaws.push(Error::damaged(&path, 0, "the file is missing"));
            }
            expected = number.next();
            files.add(disk, number, directory.set());
        }
        Ok(files)
    }

    fn add(&mut self, disk: &dyn Disk, number: SegmentNumber, set: FileSet) {
        let path = self.directory.join(number.file_name());
        let start = match disk.read_start(&path, HEADER_BYTES) {
            Ok(start) => start,
            Err(error) => return self.flaws.push(Error::io("read", &path, &error)),
        };
        let flaw = match SegmentHeader::decode(&start) {
            Beginning::Spare => return self.spares.push(path),
            Beginning::Newer(found) => Error::Newer { path, found, known: segment::FORMAT },
            Beginning::Damaged => Error::damaged(&path, 0, "its header is damaged"),
            Beginning::Header(header) if header.set != set => {
                Error::damaged(&path, 0, "it belongs to another data directory")
            }
            Beginning::Header(header) if header.number != number => {
                let flaw = format!("it was segment {} and was renamed", header.number.0);
                Error::damaged(&path, 0, flaw)
            }
            Beginning::Header(header) => {
                let lost = self.spares.drain(..);
                let lost = lost.map(|spare| Error::damaged(&spare, 0, "its header is missing"));
                self.flaws.extend(lost);
                self.first_spare = number.next();
                return self.used.push((path, header));
            }
        };
        self.flaws.push(flaw);
    }

    /// Returns the files if nothing is wrong with them.
    fn whole(mut self) -> Result<Self, Error> {
        if self.flaws.is_empty() { Ok(self) } else { Err(self.flaws.swap_remove(0)) }
    }

    /// The position at which the records of a segment end, because a later segment begins with it.
    pub(crate) fn end(&self, at: usize) -> Position {
        let later = self.used[at + 1..].iter().map(|(_, header)| header.first);
        later.min().unwrap_or(Position(u64::MAX))
    }

    /// The segment with the first record after a position.
    pub(crate) fn begin(&self, after: Position) -> Result<usize, Error> {
        let holds = |at: &usize| self.used[*at].1.first <= after.next();
        match (0..self.used.len()).rev().find(holds) {
            Some(at) => Ok(at),
            None if self.used.is_empty() && after == Position::ZERO => Ok(0),
            None => {
                let flaw = format!("the records after position {after} are missing");
                Err(Error::damaged(&self.directory, 0, flaw))
            }
        }
    }

    /// Refuses spares whose records are called durable: the header of the first segment is lost.
    pub(crate) fn refuse_lost_segments(&self, directory: &Directory) -> Result<(), Error> {
        let spares = self.read_spares(directory)?;
        let spares: Vec<&[u8]> = spares.iter().map(Vec::as_slice).collect();
        let nothing = Scan::new(&[], directory.set(), Position::ZERO.next());
        match (nothing.judge(Flaw::Missing, &spares), self.spares.first()) {
            (Err(_), Some(path)) => Err(Error::damaged(path, 0, "its header is missing")),
            _ => Ok(()),
        }
    }

    /// The bytes of the segments from one on.
    pub(crate) fn total(&self, begin: usize) -> u64 {
        self.used.iter().skip(begin).map(|(_, header)| header.bytes).sum()
    }

    pub(crate) fn read_spares(&self, directory: &Directory) -> Result<Vec<Vec<u8>>, Error> {
        self.spares.iter().map(|path| read(&**directory.disk(), path)).collect()
    }
}

/// Puts the records of commands together.
pub(crate) struct Reader {
    after: Position,
    set: FileSet,
    total: u64,
    pub(crate) bytes: u64,
    commands: u64,
    /// Records that were read.
    pub(crate) records: u64,
    last: Position,
    /// The greatest position that a record calls durable.
    pub(crate) marked: Position,
    /// The beginning of a command: its first record and the bodies so far.
    pub(crate) begun: Option<(Header, Vec<u8>)>,
}

impl Reader {
    pub(crate) fn new(set: FileSet, after: Position, total: u64) -> Self {
        let (last, marked) = (Position::ZERO, Position::ZERO);
        Self { after, set, total, bytes: 0, commands: 0, records: 0, last, marked, begun: None }
    }

    /// Notes the contents of the last segment, which is rarely full, to tell how much has been read.
    pub(crate) fn ends_in(&mut self, bytes: &[u8]) {
        self.total = self.bytes + filled(bytes);
    }

    /// Reads a segment up to a position; returns the flaw that is there instead.
    pub(crate) fn read(
        &mut self,
        path: &Path,
        scan: &mut Scan<'_>,
        end: Position,
        take: &mut impl FnMut(Command<'_>) -> Result<(), Error>,
    ) -> Result<Option<Flaw>, Error> {
        while scan.next < end {
            let offset = scan.at as u64;
            let (header, body) = match scan.read() {
                Ok(record) => record,
                Err(flaw) => return Ok(Some(flaw)),
            };
            debug_assert_eq!(header.set, self.set);
            self.marked = self.marked.max(header.durable);
            self.records += 1;
            if header.continues || self.begun.is_some() {
                let (_, bytes) = self.begun.get_or_insert_with(|| (header, Vec::new()));
                bytes.extend_from_slice(body);
            }
            if header.continues {
                continue;
            }
            let begun = self.begun.take();
            let (origin, kind, body) = match &begun {
                Some((first, bytes)) => (first.origin, first.kind, bytes.as_slice()),
                None => (header.origin, header.kind, body),
            };
            self.last = header.position;
            if header.position > self.after {
                self.commands += 1;
                let read = (self.bytes + scan.at as u64) as f64;
                let progress = (read / self.total.max(1) as f64).min(1.0);
                let position = header.position;
                take(Command { position, origin, kind, body, progress, file: path, offset })?;
            }
        }
        Ok(None)
    }

    fn finish(
        self,
        files: &Files,
        path: &Path,
        scan: &Scan<'_>,
        tail: Tail,
    ) -> Result<Recovered, Error> {
        let first_cut = self.begun.as_ref().map_or(scan.next, |(header, _)| header.position);
        let last = Position(first_cut.0 - 1);
        if last < self.after {
            return Err(ends_early(path, scan.at, last, self.after));
        }
        let is_clean = tail == Tail::Clean && self.begun.is_none();
        let open = files.used.last().map(|(_, h)| (h.number, scan.at as u64, h.bytes));
        Ok(Recovered {
            last,
            commands: self.commands,
            bytes: self.bytes,
            unsure: None,
            cut: (!is_clean).then(|| (path.to_owned(), scan.at as u64)),
            open: open.filter(|_| is_clean),
            segments: files.used.iter().map(|(_, h)| (h.number, h.first)).collect(),
            next_segment: files.first_spare,
        })
    }
}
