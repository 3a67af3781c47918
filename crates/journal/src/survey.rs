//! Reads a journal to say what is in it and whether it is sound. Nothing is changed on the disk.
//!
//! The rules are those of [`crate::recover`], and so is the code that reads records. But damage does
//! not end the reading: it goes on at the next record.

use crate::recovery::{self, Command, Files, Reader};
use crate::scan::{Flaw, Scan, Tail};
use crate::segment::SegmentNumber;
use crate::{Directory, Error, Position};
use std::path::{Path, PathBuf};

/// What is in the segments of a journal.
#[derive(Debug, Default)]
pub struct Survey {
    /// The segments in order.
    pub segments: Vec<Segment>,
    /// The position of the last valid record; zero without any.
    pub last: Position,
    /// The greatest position that a record calls durable.
    pub durable: Position,
    /// Where a torn tail begins, which a recovery cuts off: file and offset. It is no damage.
    pub torn: Option<(PathBuf, u64)>,
    /// Files in the directory of the journal that are no segments, such as unfinished ones.
    pub others: Vec<PathBuf>,
    /// What a recovery refuses, in the order of the files.
    pub damages: Vec<Error>,
}

/// A file of the journal.
#[derive(Debug)]
pub struct Segment {
    /// Its path.
    pub file: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// What it is used for.
    pub state: SegmentState,
    /// The number of its valid records.
    pub records: u64,
    /// The positions of its first and its last valid record; `None` without any.
    pub positions: Option<(Position, Position)>,
}

/// What a segment is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentState {
    /// It has records.
    Used,
    /// A later segment begins with its first position: a recovery has cut off all of its records.
    Dead,
    /// It is allocated, and has no records yet.
    Spare,
    /// It cannot be read, because its header is damaged.
    Unreadable,
}

/// Reads a journal, and hands its commands to `take`, with whether records before it are missing: the
/// command may lack its beginning then. An error of `take` is noted as damage. `checkpoints` are the
/// positions of the checkpoints that the journal continues.
///
/// # Errors
/// Those of the disk, if the files cannot be listed.
pub fn survey(
    directory: &Directory,
    checkpoints: &[Position],
    mut take: impl FnMut(&Command<'_>, bool) -> Result<(), Error>,
) -> Result<Survey, Error> {
    let files = Files::find(directory)?;
    let survey = Survey { damages: files.flaws.clone(), ..Survey::default() };
    let reader = Reader::new(directory.set(), Position::ZERO, files.total(0));
    let mut surveyor =
        Surveyor { directory, files, reader, survey, lacks_records: false, end: None };
    for at in 0..surveyor.files.used.len() {
        surveyor.read(at, &mut take);
    }
    surveyor.compare(checkpoints);
    surveyor.list_rest()?;
    Ok(surveyor.survey)
}

struct Surveyor<'a> {
    directory: &'a Directory,
    files: Files,
    reader: Reader,
    survey: Survey,
    /// Whether records before the next command are missing.
    lacks_records: bool,
    /// Where the last segment ends: file, offset and the position of its last record.
    end: Option<(PathBuf, usize, Position)>,
}

impl Surveyor<'_> {
    /// Reads a segment with records.
    fn read(&mut self, at: usize, take: &mut impl FnMut(&Command<'_>, bool) -> Result<(), Error>) {
        let ((path, header), end) = (self.files.used[at].clone(), self.files.end(at));
        if at > 0 && !self.follows(self.files.used[at - 1].1.number, at) {
            self.lose_records();
        }
        let mut segment = Segment {
            file: path.clone(),
            bytes: header.bytes,
            state: SegmentState::Used,
            records: 0,
            positions: None,
        };
        match recovery::read(&**self.directory.disk(), &path) {
            Ok(bytes) => {
                segment.bytes = bytes.len() as u64;
                if header.first >= end {
                    segment.state = SegmentState::Dead;
                } else {
                    if at + 1 == self.files.used.len() {
                        self.reader.ends_in(&bytes);
                    }
                    let before = self.reader.records;
                    let scan = Scan::new(&bytes, self.directory.set(), header.first);
                    segment.positions = self.scan(at, scan, segment.bytes != header.bytes, take);
                    segment.records = self.reader.records - before;
                    self.reader.bytes += header.bytes;
                }
            }
            Err(error) => {
                segment.state = SegmentState::Unreadable;
                self.survey.damages.push(error);
                self.lose_records();
            }
        }
        self.survey.segments.push(segment);
    }

    /// Reads the records of a segment; returns the positions of the first and the last one.
    fn scan(
        &mut self,
        at: usize,
        mut scan: Scan<'_>,
        has_other_size: bool,
        take: &mut impl FnMut(&Command<'_>, bool) -> Result<(), Error>,
    ) -> Option<(Position, Position)> {
        let ((path, header), end) = (self.files.used[at].clone(), self.files.end(at));
        if has_other_size {
            let bytes = scan.bytes();
            let flaw = format!("the file has {bytes} bytes instead of {}", header.bytes);
            self.survey.damages.push(Error::damaged(&path, bytes, flaw));
        }
        let (mut first, mut last) = (None, None);
        loop {
            let (begin, before) = (scan.next, self.reader.records);
            let flaw = self.read_on(&path, &mut scan, end, take);
            if self.reader.records > before {
                first.get_or_insert(begin);
                last = Some(Position(scan.next.0 - 1));
            }
            let Some(flaw) = flaw else { break };
            if self.accepts(at, &path, &scan, flaw) {
                break;
            }
            let place = scan.at;
            let is_resumed = scan.resume(flaw, end);
            if is_resumed || !has_other_size {
                self.survey.damages.push(recovery::refuse(&path, place, flaw));
            }
            self.lose_records();
            if !is_resumed {
                break;
            }
        }
        self.survey.last = self.survey.last.max(last.unwrap_or_default());
        self.survey.durable = self.reader.marked;
        self.end = Some((path, scan.at, Position(scan.next.0 - 1)));
        first.zip(last)
    }

    /// Reads records up to a flaw.
    fn read_on(
        &mut self,
        path: &Path,
        scan: &mut Scan<'_>,
        end: Position,
        take: &mut impl FnMut(&Command<'_>, bool) -> Result<(), Error>,
    ) -> Option<Flaw> {
        let (damages, lacks_records) = (&mut self.survey.damages, &mut self.lacks_records);
        let mut collect = |command: Command<'_>| {
            let taken = take(&command, std::mem::take(lacks_records));
            damages.extend(taken.err());
            Ok(())
        };
        match self.reader.read(path, scan, end, &mut collect) {
            Ok(flaw) => flaw,
            // `collect` returns none.
            Err(error) => {
                self.survey.damages.push(error);
                None
            }
        }
    }

    /// Whether a flaw is the end of the journal, or that of a segment whose successor is missing, which
    /// has been noted.
    fn accepts(&mut self, at: usize, path: &Path, scan: &Scan<'_>, flaw: Flaw) -> bool {
        if at + 1 < self.files.used.len() {
            let number = self.files.used[at].1.number;
            return scan.is_at_end() && !self.follows(number, at + 1);
        }
        // A spare that cannot be read is noted when it is listed.
        let spares = self.files.read_spares(self.directory).unwrap_or_default();
        let spares: Vec<&[u8]> = spares.iter().map(Vec::as_slice).collect();
        let Ok(tail) = scan.judge(flaw, &spares) else { return false };
        if tail == Tail::Torn || self.reader.begun.is_some() {
            self.survey.torn = Some((path.to_owned(), scan.at as u64));
        }
        true
    }

    /// Whether the segment at a place is the one after a number.
    fn follows(&self, number: SegmentNumber, at: usize) -> bool {
        self.files.used[at].1.number == number.next()
    }

    fn lose_records(&mut self) {
        self.reader.begun = None;
        self.lacks_records = true;
    }

    /// Notes what checkpoints need and the journal lacks.
    fn compare(&mut self, checkpoints: &[Position]) {
        let oldest = checkpoints.iter().min().copied().unwrap_or_default();
        let newest = checkpoints.iter().max().copied().unwrap_or_default();
        if self.files.flaws.is_empty() {
            // Otherwise it is known which file is missing.
            self.survey.damages.extend(self.files.begin(oldest).err());
        }
        if let Some((path, at, last)) = &self.end
            && *last < newest
            && !self.lacks_records
        {
            self.survey.damages.push(recovery::ends_early(path, *at, *last, newest));
        }
        if self.files.used.is_empty() {
            let lost = self.files.refuse_lost_segments(self.directory);
            self.survey.damages.extend(lost.err());
        }
    }

    /// Lists the files without records.
    fn list_rest(&mut self) -> Result<(), Error> {
        let (disk, journal) = (self.directory.disk(), &self.files.directory);
        for number in &self.files.numbers {
            let file = journal.join(number.file_name());
            if self.survey.segments.iter().any(|segment| segment.file == file) {
                continue;
            }
            let (bytes, is_read) = match disk.map(&file) {
                Ok(contents) => (contents.bytes().len() as u64, true),
                Err(error) => {
                    self.survey.damages.push(Error::io("read", &file, &error));
                    (0, false)
                }
            };
            let state = match is_read && self.files.spares.contains(&file) {
                true => SegmentState::Spare,
                false => SegmentState::Unreadable,
            };
            self.survey.segments.push(Segment { file, bytes, state, records: 0, positions: None });
        }
        self.survey.segments.sort_by(|one, other| one.file.cmp(&other.file));
        let names = disk.list(journal).map_err(|error| Error::io("list", journal, &error))?;
        let others = names.iter().filter(|name| SegmentNumber::of_file_name(name).is_none());
        self.survey.others = others.map(|name| journal.join(name)).collect();
        Ok(())
    }
}
