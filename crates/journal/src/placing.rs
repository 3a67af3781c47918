//! Decides where records go: which segment, which offset, and whether there is room. Pure.
//!
//! Room is promised before a command is decided, and taken when its records are appended, so that a
//! full disk refuses a command and never half of it. A record has at most an eighth of a segment's
//! size, and a segment is left for the next when a record does not fit any more. Counting an eighth
//! of each segment as lost, promises can be kept in any order.

use crate::record::{HEADER_BYTES, record_bytes};
use crate::segment::SegmentNumber;
use std::collections::VecDeque;

/// A record has at most this part of a segment's size.
const RECORD_PART: u64 = 8;

/// Where a record goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) segment: SegmentNumber,
    pub(crate) offset: u64,
    /// Whether it is the first record of the segment.
    pub(crate) opens: bool,
}

/// The free space of the journal.
#[derive(Debug)]
pub(crate) struct Placing {
    segment_bytes: u64,
    /// The segment that is being filled, and the bytes in use. `None` before the first.
    open: Option<(SegmentNumber, u64)>,
    spares: VecDeque<SegmentNumber>,
    promised: u64,
}

impl Placing {
    pub(crate) fn new(segment_bytes: u64, open: Option<(SegmentNumber, u64)>) -> Self {
        Self { segment_bytes, open, spares: VecDeque::new(), promised: 0 }
    }

    /// The size of segments.
    pub(crate) fn segment_bytes(&self) -> u64 {
        self.segment_bytes
    }

    /// The maximum length of the body of one record.
    pub(crate) fn part_bytes(&self) -> usize {
        part_bytes(self.segment_bytes)
    }

    /// Adds an allocated segment.
    pub(crate) fn add_spare(&mut self, number: SegmentNumber) {
        self.spares.push_back(number);
    }

    /// The number of allocated segments without records.
    pub(crate) fn spares(&self) -> usize {
        self.spares.len()
    }

    /// The bytes that can still be promised.
    pub(crate) fn room(&self) -> u64 {
        let lost = self.segment_bytes / RECORD_PART;
        let spare = self.segment_bytes - lost - HEADER_BYTES as u64;
        let open = self.open.map_or(0, |(_, used)| self.segment_bytes - used);
        let all = self.spares.len() as u64 * spare + open.saturating_sub(lost);
        all.saturating_sub(self.promised)
    }

    /// Whether `bytes` could be promised.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        self.room() >= bytes
    }

    /// Promises room; returns false if there is not enough.
    pub(crate) fn promise(&mut self, bytes: u64) -> bool {
        let granted = self.has_room(bytes);
        self.promised += if granted { bytes } else { 0 };
        granted
    }

    /// Takes back a promise that is not needed, or that [`Self::place`] is about to use.
    pub(crate) fn release(&mut self, bytes: u64) {
        assert!(bytes <= self.promised, "room is released once");
        self.promised -= bytes;
    }

    /// Places a record for which room was promised.
    pub(crate) fn place(&mut self, bytes: u64) -> Place {
        assert!(bytes <= self.segment_bytes / RECORD_PART, "a record is a small part of a segment");
        if let Some((segment, used)) = &mut self.open
            && *used + bytes <= self.segment_bytes
        {
            let place = Place { segment: *segment, offset: *used, opens: false };
            *used += bytes;
            return place;
        }
        let segment = self.spares.pop_front().expect("room was promised");
        let offset = HEADER_BYTES as u64;
        self.open = Some((segment, offset + bytes));
        Place { segment, offset, opens: true }
    }
}

/// Returns the maximum length of the body of one record in segments of a size.
pub(crate) fn part_bytes(segment_bytes: u64) -> usize {
    let record = (segment_bytes / RECORD_PART) as usize;
    record - record_bytes(0)
}

/// Returns the bytes of the records that hold a body.
pub(crate) fn command_bytes(body: usize, part_bytes: usize) -> u64 {
    let (whole, rest) = (body / part_bytes, body % part_bytes);
    let last = if rest > 0 || whole == 0 { record_bytes(rest) } else { 0 };
    (whole * record_bytes(part_bytes) + last) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SEGMENT: u64 = 4096;

    proptest! {
        /// Whatever was promised can be placed, in any order, and nothing overlaps.
        #[test]
        fn promises_are_kept(sizes in prop::collection::vec((1u64..64, any::<bool>()), 1..200)) {
            let mut placing = Placing::new(SEGMENT, None);
            placing.add_spare(SegmentNumber(1));
            let mut number = 1;
            let mut held: Vec<u64> = Vec::new();
            let mut end = (SegmentNumber(0), SEGMENT);
            for (eighths, keep) in sizes {
                let bytes = eighths * 8;
                while !placing.promise(bytes) {
                    number += 1;
                    placing.add_spare(SegmentNumber(number));
                }
                held.push(bytes);
                while !keep && let Some(bytes) = held.pop() {
                    placing.release(bytes);
                    let place = placing.place(bytes);
                    let begins = if place.opens {
                        (end.0.next(), HEADER_BYTES as u64)
                    } else {
                        end
                    };
                    prop_assert_eq!((place.segment, place.offset), begins);
                    end = (place.segment, place.offset + bytes);
                    prop_assert!(end.1 <= SEGMENT);
                }
            }
        }
    }

    #[test]
    fn a_long_body_is_counted_in_parts() {
        assert_eq!(command_bytes(0, 100), record_bytes(0) as u64);
        assert_eq!(command_bytes(100, 100), record_bytes(100) as u64);
        assert_eq!(command_bytes(101, 100), (record_bytes(100) + record_bytes(1)) as u64);
        assert_eq!(record_bytes(part_bytes(SEGMENT)) as u64, SEGMENT / 8);
    }
}
