//! The form of a segment: a file of fixed size that begins with a header of 64 bytes, followed by
//! records and zeros.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 4 | CRC32C of the header from offset 4 on |
//! | 4 | 4 | format version |
//! | 8 | 8 | `PANDOJNL` |
//! | 16 | 8 | number of the segment |
//! | 24 | 8 | size of the file |
//! | 32 | 8 | position of the first record |
//! | 40 | 16 | zeros |
//! | 56 | 8 | file set |
//!
//! A segment whose header is zero is a spare: it is allocated, and has no records yet. Segments are
//! numbered consecutively. Records of a segment from the first position of the next one on are dead:
//! a recovery has cut them off, and nobody was told that they were committed.

use crate::record::{FileSet, HEADER_BYTES, Position, eight};

/// The newest format version that this program reads, and the one that it writes.
pub(crate) const FORMAT: u32 = 1;

const MAGIC: &[u8; 8] = b"PANDOJNL";

/// The ending of the names of segments.
const ENDING: &str = ".log";
/// The ending of the name of a segment that is being created.
pub(crate) const UNFINISHED: &str = ".new";

/// The number of a segment: 1 for the first, then consecutive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SegmentNumber(pub(crate) u64);

impl SegmentNumber {
    pub(crate) fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The name of the file.
    pub(crate) fn file_name(self) -> String {
        format!("{:010}{ENDING}", self.0)
    }

    /// The number in the name of a file; `None` if it is not that of a segment.
    pub(crate) fn of_file_name(name: &str) -> Option<Self> {
        let number = Self(name.strip_suffix(ENDING)?.parse().ok()?);
        (number.file_name() == name).then_some(number)
    }
}

/// The fields of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub(crate) number: SegmentNumber,
    pub(crate) bytes: u64,
    pub(crate) first: Position,
    pub(crate) set: FileSet,
}

/// What a segment begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// Zeros: a spare.
    Spare,
    Header(SegmentHeader),
    /// A header of this newer format version.
    Newer(u32),
    Damaged,
}

impl SegmentHeader {
    pub(crate) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[4..8].copy_from_slice(&FORMAT.to_le_bytes());
        bytes[8..16].copy_from_slice(MAGIC);
        bytes[16..24].copy_from_slice(&self.number.0.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.bytes.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.first.0.to_le_bytes());
        bytes[56..64].copy_from_slice(&self.set.bits().to_le_bytes());
        let crc = crc32c::crc32c(&bytes[4..]);
        bytes[..4].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Decodes the beginning of a file.
    pub(crate) fn decode(bytes: &[u8]) -> Beginning {
        let Some(bytes) = bytes.first_chunk::<HEADER_BYTES>() else { return Beginning::Damaged };
        if bytes.iter().all(|byte| *byte == 0) {
            return Beginning::Spare;
        }
        let four = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        if four(0) != crc32c::crc32c(&bytes[4..]) || bytes[8..16] != *MAGIC {
            return Beginning::Damaged;
        }
        if four(4) > FORMAT {
            return Beginning::Newer(four(4));
        }
        Beginning::Header(Self {
            number: SegmentNumber(eight(bytes, 16)),
            bytes: eight(bytes, 24),
            first: Position(eight(bytes, 32)),
            set: FileSet::from_bits(eight(bytes, 56)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> SegmentHeader {
        SegmentHeader {
            number: SegmentNumber(12),
            bytes: 64 << 20,
            first: Position(345),
            set: FileSet::from_bits(0x1122_3344_5566_7788),
        }
    }

    /// The bytes of format 1. They must not change.
    #[test]
    fn a_header_has_the_bytes_of_its_format() {
        let hex: String = header().encode().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            hex,
            concat!(
                "facb26a5",
                "01000000",
                "50414e444f4a4e4c",
                "0c00000000000000",
                "0000000400000000",
                "5901000000000000",
                "00000000000000000000000000000000",
                "8877665544332211",
            )
        );
        assert_eq!(SegmentHeader::decode(&header().encode()), Beginning::Header(header()));
    }

    #[test]
    fn a_header_with_any_flipped_bit_is_refused_and_zeros_are_a_spare() {
        let bytes = header().encode();
        for bit in 0..HEADER_BYTES * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(SegmentHeader::decode(&flipped), Beginning::Damaged, "bit {bit}");
        }
        assert_eq!(SegmentHeader::decode(&[0; 100]), Beginning::Spare);
        assert_eq!(SegmentHeader::decode(&[0; 10]), Beginning::Damaged);
    }

    #[test]
    fn names_are_numbers_and_other_names_are_not() {
        let number = SegmentNumber(42);
        assert_eq!(number.file_name(), "0000000042.log");
        assert_eq!(SegmentNumber::of_file_name("0000000042.log"), Some(number));
        for name in ["42.log", "0000000042.log.new", "x.log", "0000000042"] {
            assert_eq!(SegmentNumber::of_file_name(name), None, "{name}");
        }
    }
}
