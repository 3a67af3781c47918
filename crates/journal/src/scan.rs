//! Reads the records of a segment, and tells a torn tail from damage. Pure.
//!
//! A power cut during a flush leaves some of its sectors written and others as they were: zero. The
//! rest of the last segment is *torn* if that explains it, and is cut off then: nobody was told that
//! these records are durable. Everything else is *damage*, and is refused:
//!
//! - a record of which no sector is missing, and that is wrong nevertheless;
//! - a missing or wrong record that a later one calls durable.
//!
//! What remains undetected is a sector of the last flush that turns to zeros after it was durable.

use crate::record::{ALIGNMENT, FORMAT, FileSet, HEADER_BYTES, Header, Position, body_crc};

/// What a disk writes as a whole, in bytes.
const SECTOR: usize = 512;

/// What is wrong with the bytes at which a record should begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// The segment ends here.
    End,
    /// There are only zeros.
    Missing,
    /// The checksum of the header does not fit.
    Header,
    /// The checksum of the body does not fit.
    Body,
    /// The record belongs to another data directory.
    Foreign,
    /// It has another position than the one after the previous record.
    Order(Position),
    /// The record is longer than the segment.
    Length,
    /// It has this newer format version.
    Newer(u8),
}

impl Flaw {
    /// Completes the sentence "The file is damaged: ...".
    pub(crate) fn describe(self) -> String {
        match self {
            Self::End => "it ends before its last record".to_owned(),
            Self::Missing => "a record is missing".to_owned(),
            Self::Header => "the checksum of a record's header does not fit".to_owned(),
            Self::Body => "the checksum of a record's body does not fit".to_owned(),
            Self::Foreign => "a record belongs to another data directory".to_owned(),
            Self::Order(found) => format!("the record at position {found} is out of order"),
            Self::Length => "a record is longer than the file".to_owned(),
            Self::Newer(format) => format!("a record has the newer format {format}"),
        }
    }
}

/// A place in a segment from which records are read.
#[derive(Debug, Clone)]
pub(crate) struct Scan<'a> {
    bytes: &'a [u8],
    set: FileSet,
    /// Where the next record begins.
    pub(crate) at: usize,
    /// The position of the next record.
    pub(crate) next: Position,
}

/// The state of the journal after its last valid record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    /// There is nothing.
    Clean,
    /// There are parts of records that never were durable.
    Torn,
}

impl<'a> Scan<'a> {
    /// Begins after the header of a segment whose first record has this position.
    pub(crate) fn new(bytes: &'a [u8], set: FileSet, first: Position) -> Self {
        Self { bytes, set, at: HEADER_BYTES, next: first }
    }

    /// Reads the next record. After a flaw, the place is where the flawed record begins.
    pub(crate) fn read(&mut self) -> Result<(Header, &'a [u8]), Flaw> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(head) = rest.get(..HEADER_BYTES) else {
            return Err(if is_zero(rest) { Flaw::End } else { Flaw::Header });
        };
        if is_zero(head) {
            return Err(Flaw::Missing);
        }
        let header = Header::decode(head).ok_or(Flaw::Header)?;
        if header.set != self.set {
            return Err(Flaw::Foreign);
        }
        if header.format > FORMAT {
            return Err(Flaw::Newer(header.format));
        }
        if header.position != self.next {
            return Err(Flaw::Order(header.position));
        }
        let record = rest.get(..header.record_bytes()).ok_or(Flaw::Length)?;
        let body = &record[HEADER_BYTES..HEADER_BYTES + header.body_bytes as usize];
        if body_crc(&[body]) != header.body_crc {
            return Err(Flaw::Body);
        }
        self.at += record.len();
        self.next = self.next.next();
        Ok((header, body))
    }

    /// Returns where the first record after a position begins, or the place of the scan if there is none
    /// before it. `first` is the position of the first record; if that is after the position, so is
    /// the header of the segment.
    pub(crate) fn first_after(&self, position: Position, first: Position) -> usize {
        let mut scan = Self::new(self.bytes, self.set, first);
        if first > position {
            return 0;
        }
        while scan.next <= position && scan.at < self.at && scan.read().is_ok() {}
        scan.at
    }

    /// Goes on after a flaw: behind the record if only its body is wrong, otherwise at the next valid
    /// header of a record before a position. Returns whether there is one.
    pub(crate) fn resume(&mut self, flaw: Flaw, end: Position) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if let (Flaw::Body, Some(header)) = (flaw, Header::decode(rest)) {
            (self.at, self.next) = (self.at + header.record_bytes(), self.next.next());
            return true;
        }
        let is_next = |(at, header): &(usize, Header)| {
            let fits = rest.len() - at >= header.record_bytes() && header.format <= FORMAT;
            fits && self.next <= header.position && header.position < end
        };
        let Some((at, header)) = headers(rest, self.set).find(is_next) else { return false };
        (self.at, self.next) = (self.at + at, header.position);
        true
    }

    /// The size of the segment in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Whether nothing but zeros follows.
    pub(crate) fn is_at_end(&self) -> bool {
        is_zero(self.bytes.get(self.at..).unwrap_or_default())
    }

    /// Judges what follows the last valid record of the last segment, where `flaw` was found.
    /// `spares` are the contents of the files after it.
    ///
    /// # Errors
    /// The flaw, if it is damage.
    pub(crate) fn judge(&self, flaw: Flaw, spares: &[&[u8]]) -> Result<Tail, Flaw> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let files = || [rest].into_iter().chain(spares.iter().copied());
        if files().all(is_zero) {
            return Ok(Tail::Clean);
        }
        let calls_it_durable = |header: &Header| header.durable >= self.next;
        let calls = |bytes| headers(bytes, self.set).any(|(_, header)| calls_it_durable(&header));
        if files().any(calls) {
            return Err(flaw);
        }
        match flaw {
            Flaw::End | Flaw::Missing => Ok(Tail::Torn),
            Flaw::Header if self.lacks_sector(HEADER_BYTES) => Ok(Tail::Torn),
            Flaw::Body => {
                let header = Header::decode(rest);
                let length = header.map_or(HEADER_BYTES, |header| header.record_bytes());
                if self.lacks_sector(length) { Ok(Tail::Torn) } else { Err(flaw) }
            }
            Flaw::Header | Flaw::Foreign | Flaw::Order(_) | Flaw::Length | Flaw::Newer(_) => {
                Err(flaw)
            }
        }
    }

    /// Whether the part of the next `length` bytes in some sector is zero.
    fn lacks_sector(&self, length: usize) -> bool {
        let end = (self.at + length).min(self.bytes.len());
        let mut from = self.at;
        while from < end {
            let to = (from / SECTOR * SECTOR + SECTOR).min(end);
            if is_zero(&self.bytes[from..to]) {
                return true;
            }
            from = to;
        }
        false
    }
}

/// Finds the valid headers of records of a file set, wherever they begin, and their places.
fn headers(bytes: &[u8], set: FileSet) -> impl Iterator<Item = (usize, Header)> {
    let places = (0..bytes.len().saturating_sub(HEADER_BYTES - 1)).step_by(ALIGNMENT);
    let mark = set.bits().to_le_bytes();
    places
        .map(move |at| (at, &bytes[at..at + HEADER_BYTES]))
        .filter(move |(_, bytes)| bytes[HEADER_BYTES - 8..] == mark)
        .filter_map(|(at, bytes)| Some((at, Header::decode(bytes)?)))
}

/// Whether all bytes are zero.
pub(crate) fn is_zero(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().all(|word| *word == [0; 8]) && rest.iter().all(|byte| *byte == 0)
}
