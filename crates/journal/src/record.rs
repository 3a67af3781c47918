//! The form of a record: a header of 64 bytes, the body, and a filling to a multiple of eight.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 4 | CRC32C of the header from offset 4 on |
//! | 4 | 4 | CRC32C of the body |
//! | 8 | 4 | length of the body |
//! | 12 | 1 | format version |
//! | 13 | 1 | 1 if the next record continues the body, otherwise 0 |
//! | 14 | 2 | kind of the body; the writer's, not interpreted here |
//! | 16 | 8 | position in the journal |
//! | 24 | 8 | position that was durable when the record was appended |
//! | 32 | 8 | group |
//! | 40 | 8 | epoch |
//! | 48 | 8 | index in the log of the group |
//! | 56 | 8 | file set |
//!
//! Integers are little-endian. The filling is at least one byte and never zero, and neither is the
//! file set: the part of a record in any sector of the disk has a byte that is not zero, unless the
//! body has a whole sector of zeros. This tells a torn record from a damaged one ([`crate::scan`]).

use sdds::{Epoch, GroupId};
use std::fmt;

/// The newest format version that this program reads, and the one that it writes.
pub(crate) const FORMAT: u8 = 1;

/// Bytes of a header.
pub(crate) const HEADER_BYTES: usize = 64;

/// Records begin at multiples of this.
pub(crate) const ALIGNMENT: usize = 8;

/// What fills a record up.
const FILLING: u8 = 0xa5;

/// A position in the journal of a server: 1 for the first record, then consecutive. The records of
/// all groups of a server are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position(pub u64);

impl Position {
    /// Before the first record.
    pub const ZERO: Self = Self(0);

    /// The position after this one.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The identity of the files of one data directory. Not zero. A file that was copied from another
/// directory is recognised by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileSet(u64);

impl FileSet {
    /// Makes an identity of bits, which should be random. Zero becomes one.
    pub fn from_bits(bits: u64) -> Self {
        Self(bits.max(1))
    }

    /// Returns the bits.
    pub fn bits(self) -> u64 {
        self.0
    }
}

impl fmt::Display for FileSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Whose record it is: the place in the log of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The group.
    pub group: GroupId,
    /// The epoch of the group's configuration.
    pub epoch: Epoch,
    /// The index in the log of the group.
    pub index: u64,
}

/// The fields of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) body_crc: u32,
    pub(crate) body_bytes: u32,
    pub(crate) format: u8,
    pub(crate) continues: bool,
    pub(crate) kind: u16,
    pub(crate) position: Position,
    pub(crate) durable: Position,
    pub(crate) origin: Origin,
    pub(crate) set: FileSet,
}

impl Header {
    /// Returns the bytes of the record, filling included.
    pub(crate) fn record_bytes(&self) -> usize {
        record_bytes(self.body_bytes as usize)
    }

    pub(crate) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[4..8].copy_from_slice(&self.body_crc.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.body_bytes.to_le_bytes());
        bytes[12] = self.format;
        bytes[13] = u8::from(self.continues);
        bytes[14..16].copy_from_slice(&self.kind.to_le_bytes());
        let Origin { group, epoch, index } = self.origin;
        let words = [self.position.0, self.durable.0, group.0, epoch.0, index, self.set.bits()];
        for (at, word) in words.into_iter().enumerate() {
            bytes[16 + at * 8..24 + at * 8].copy_from_slice(&word.to_le_bytes());
        }
        let crc = crc32c::crc32c(&bytes[4..]);
        bytes[..4].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Decodes a header; `None` if there are too few bytes or the checksum does not fit.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; HEADER_BYTES] = bytes.first_chunk()?;
        if four(bytes, 0) != crc32c::crc32c(&bytes[4..]) {
            return None;
        }
        Some(Self {
            body_crc: four(bytes, 4),
            body_bytes: four(bytes, 8),
            format: bytes[12],
            continues: bytes[13] != 0,
            kind: u16::from_le_bytes([bytes[14], bytes[15]]),
            position: Position(eight(bytes, 16)),
            durable: Position(eight(bytes, 24)),
            origin: Origin {
                group: GroupId(eight(bytes, 32)),
                epoch: Epoch(eight(bytes, 40)),
                index: eight(bytes, 48),
            },
            set: FileSet::from_bits(eight(bytes, 56)),
        })
    }
}

fn four(bytes: &[u8; HEADER_BYTES], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

pub(crate) fn eight(bytes: &[u8; HEADER_BYTES], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// Returns the bytes of a record with a body of this length.
pub(crate) fn record_bytes(body_bytes: usize) -> usize {
    (HEADER_BYTES + body_bytes + 1).next_multiple_of(ALIGNMENT)
}

/// Appends a record: header, body in parts, filling.
pub(crate) fn write(header: &Header, body: &[&[u8]], out: &mut Vec<u8>) {
    let end = out.len() + header.record_bytes();
    out.extend_from_slice(&header.encode());
    body.iter().for_each(|part| out.extend_from_slice(part));
    assert!(out.len() < end, "the header states the length of the body");
    out.resize(end, FILLING);
}

/// Returns the checksum of a body in parts.
pub(crate) fn body_crc(parts: &[&[u8]]) -> u32 {
    parts.iter().fold(0, |crc, part| crc32c::crc32c_append(crc, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        let body = b"body of it";
        Header {
            body_crc: body_crc(&[body]),
            body_bytes: body.len() as u32,
            format: FORMAT,
            continues: false,
            kind: 0x0102,
            position: Position(7),
            durable: Position(5),
            origin: Origin { group: GroupId(3), epoch: Epoch(2), index: 6 },
            set: FileSet::from_bits(0x1122_3344_5566_7788),
        }
    }

    /// The bytes of format 1. They must not change: a new format gets a new version and a new test.
    #[test]
    fn a_record_has_the_bytes_of_its_format() {
        let mut bytes = Vec::new();
        write(&header(), &[b"body ", b"of it"], &mut bytes);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            hex,
            concat!(
                "b1124546796ce1f9",
                "0a0000000100",
                "0201",
                "0700000000000000",
                "0500000000000000",
                "0300000000000000",
                "0200000000000000",
                "0600000000000000",
                "8877665544332211",
                "626f6479206f66206974",
                "a5a5a5a5a5a5",
            )
        );
        assert_eq!(Header::decode(&bytes), Some(header()));
    }

    #[test]
    fn a_header_with_any_flipped_bit_is_refused() {
        let bytes = header().encode();
        for bit in 0..HEADER_BYTES * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::decode(&flipped), None, "bit {bit}");
        }
        (0..HEADER_BYTES).for_each(|length| assert_eq!(Header::decode(&bytes[..length]), None));
    }

    #[test]
    fn records_are_aligned_and_end_in_a_filling() {
        for length in 0..40 {
            let total = record_bytes(length);
            assert_eq!(total % ALIGNMENT, 0);
            assert!(total > HEADER_BYTES + length);
        }
    }
}
