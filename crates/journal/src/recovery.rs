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
use crate::scan::{Flaw, Scan, Tail};
use crate::segment::{self, Beginning, SegmentHeader, SegmentNumber};
use crate::{Directory, Error};
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
    let files = Files::find(directory)?;
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
        let mut scan = Scan::new(&bytes, directory.set(), header.first);
        let flaw = reader.read(path, &mut scan, end, &mut take)?;
        reader.bytes += header.bytes;
        if let Some(flaw) = flaw {
            let is_last = at + 1 == files.used.len();
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

fn refuse(path: &Path, at: usize, flaw: Flaw) -> Error {
    match flaw {
        Flaw::Newer(found) => {
            Error::Newer { path: path.to_owned(), found: found.into(), known: FORMAT.into() }
        }
        flaw => Error::damaged(path, at as u64, flaw.describe()),
    }
}

fn read(disk: &dyn Disk, path: &Path) -> Result<Vec<u8>, Error> {
    disk.read(path).map_err(|error| Error::io("read", path, &error))
}

/// The files of the journal.
struct Files {
    used: Vec<(PathBuf, SegmentHeader)>,
    spares: Vec<PathBuf>,
    first_spare: SegmentNumber,
    directory: PathBuf,
}

impl Files {
    fn find(directory: &Directory) -> Result<Self, Error> {
        let (disk, journal) = (&**directory.disk(), directory.journal());
        let names = disk.list(&journal).map_err(|error| Error::io("list", &journal, &error))?;
        let numbers: Vec<SegmentNumber> =
            names.iter().filter_map(|name| SegmentNumber::of_file_name(name)).collect();
        let first = numbers.first().copied().unwrap_or(SegmentNumber(1));
        let mut files =
            Self { used: Vec::new(), spares: Vec::new(), first_spare: first, directory: journal };
        let mut expected = first;
        for number in numbers {
            if number != expected {
                let path = files.directory.join(expected.file_name());
                return Err(Error::damaged(&path, 0, "the file is missing"));
            }
            expected = number.next();
            files.add(disk, number, directory.set())?;
        }
        Ok(files)
    }

    fn add(&mut self, disk: &dyn Disk, number: SegmentNumber, set: FileSet) -> Result<(), Error> {
        let path = self.directory.join(number.file_name());
        let start = disk.read_start(&path, HEADER_BYTES);
        let start = start.map_err(|error| Error::io("read", &path, &error))?;
        match SegmentHeader::decode(&start) {
            Beginning::Spare => self.spares.push(path),
            Beginning::Newer(found) => {
                return Err(Error::Newer { path, found, known: segment::FORMAT });
            }
            Beginning::Damaged => {
                return Err(Error::damaged(&path, 0, "its header is damaged"));
            }
            Beginning::Header(header) if header.set != set => {
                return Err(Error::damaged(&path, 0, "it belongs to another data directory"));
            }
            Beginning::Header(header) if header.number != number => {
                let flaw = format!("it was segment {} and was renamed", header.number.0);
                return Err(Error::damaged(&path, 0, flaw));
            }
            Beginning::Header(header) => {
                if let Some(spare) = self.spares.first() {
                    return Err(Error::damaged(spare, 0, "its header is missing"));
                }
                self.first_spare = number.next();
                self.used.push((path, header));
            }
        }
        Ok(())
    }

    /// The position at which the records of a segment end, because a later segment begins with it.
    fn end(&self, at: usize) -> Position {
        let later = self.used[at + 1..].iter().map(|(_, header)| header.first);
        later.min().unwrap_or(Position(u64::MAX))
    }

    /// The segment with the first record after a position.
    fn begin(&self, after: Position) -> Result<usize, Error> {
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
    fn refuse_lost_segments(&self, directory: &Directory) -> Result<(), Error> {
        let spares = self.read_spares(directory)?;
        let spares: Vec<&[u8]> = spares.iter().map(Vec::as_slice).collect();
        let nothing = Scan::new(&[], directory.set(), Position::ZERO.next());
        match (nothing.judge(Flaw::Missing, &spares), self.spares.first()) {
            (Err(_), Some(path)) => Err(Error::damaged(path, 0, "its header is missing")),
            _ => Ok(()),
        }
    }

    fn total(&self, begin: usize) -> u64 {
        self.used.iter().skip(begin).map(|(_, header)| header.bytes).sum()
    }

    fn read_spares(&self, directory: &Directory) -> Result<Vec<Vec<u8>>, Error> {
        self.spares.iter().map(|path| read(&**directory.disk(), path)).collect()
    }
}

/// Puts the records of commands together.
struct Reader {
    after: Position,
    set: FileSet,
    total: u64,
    bytes: u64,
    commands: u64,
    last: Position,
    /// The greatest position that a record calls durable.
    marked: Position,
    /// The beginning of a command: its first record and the bodies so far.
    begun: Option<(Header, Vec<u8>)>,
}

impl Reader {
    fn new(set: FileSet, after: Position, total: u64) -> Self {
        let (last, marked) = (Position::ZERO, Position::ZERO);
        Self { after, set, total, bytes: 0, commands: 0, last, marked, begun: None }
    }

    /// Reads a segment up to a position; returns the flaw that is there instead.
    fn read(
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
                let progress = read / self.total.max(1) as f64;
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
            let flaw =
                format!("the log ends at position {last}, before the checkpoint at {}", self.after);
            return Err(Error::damaged(path, scan.at as u64, flaw));
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
