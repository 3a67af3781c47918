//! The parts of a store's state that are numbers.

use catalog::Sequence;

/// State of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceState {
    /// The last value, or the first one.
    pub last: i64,
    /// False until `last` has been returned to a client.
    pub called: bool,
}

impl SequenceState {
    /// Returns the state of a new sequence.
    pub fn new(sequence: &Sequence) -> Self {
        Self { last: sequence.start, called: false }
    }
}

/// The next ids. They are part of the state: what was allocated before a restart is not allocated
/// again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdCounters {
    /// The id of the next bucket.
    pub bucket: u64,
    /// The id of the next bucket of a temporary table. These begin at [`TEMPORARY_BUCKETS`].
    pub temporary_bucket: u64,
    /// The id after the greatest relation of this group; 0 without any.
    pub relation: u32,
    /// Row ids below this number may have been given to rows.
    pub row: i64,
}

/// Bucket ids from this number on are those of temporary tables, which the log does not contain.
pub const TEMPORARY_BUCKETS: u64 = 1 << 63;

impl Default for IdCounters {
    fn default() -> Self {
        Self { bucket: 1, temporary_bucket: TEMPORARY_BUCKETS, relation: 0, row: 1 }
    }
}
