//! Frames of windows: the rows of a partition that a row's window function sees.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, make_comparator};
use datafusion::arrow::compute::{SortOptions, partition};
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type, Int64Type};
use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;
use values::error::{Error, Result, SqlState};
use values::numbers::is_key_of_nan;

/// A frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Frame {
    /// ROWS, RANGE or GROUPS.
    pub units: Units,
    /// The first row.
    pub start: Bound,
    /// The last row.
    pub end: Bound,
    /// EXCLUDE.
    pub exclusion: Exclusion,
    /// Whether the key of RANGE is sorted downwards.
    pub descending: bool,
    /// Whether the NULLs of that key come first.
    pub nulls_first: bool,
}

/// The units of a frame's bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Units {
    /// Rows.
    Rows,
    /// Differences of the key.
    Range,
    /// Groups of equal rows.
    Groups,
}

/// A bound of a frame. Offsets are in columns: numbers of rows or groups, and for RANGE the key at the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bound {
    /// UNBOUNDED PRECEDING or UNBOUNDED FOLLOWING.
    Unbounded,
    /// CURRENT ROW.
    Current,
    /// PRECEDING, with an offset.
    Preceding,
    /// FOLLOWING, with an offset.
    Following,
}

impl Bound {
    /// Whether it has a column.
    pub(crate) fn has_offset(self) -> bool {
        matches!(self, Self::Preceding | Self::Following)
    }
}

/// The rows near a row that its frame leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exclusion {
    /// None.
    Nothing,
    /// The row itself.
    CurrentRow,
    /// The row and its equals.
    Group,
    /// The row's equals.
    Ties,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?} {:?}", self.units, self.start, self.end)?;
        match self.exclusion {
            Exclusion::Nothing => Ok(()),
            other => write!(f, " without {other:?}"),
        }
    }
}

/// The columns of a partition that decide about frames.
pub(crate) struct Columns<'a> {
    /// The keys of ORDER BY.
    pub(crate) keys: &'a [ArrayRef],
    /// The key of RANGE, as its bounds are compared with it.
    pub(crate) range_key: Option<&'a ArrayRef>,
    pub(crate) start: Option<&'a ArrayRef>,
    pub(crate) end: Option<&'a ArrayRef>,
}

/// The frames of the rows of a partition.
pub(crate) struct Frames {
    exclusion: Exclusion,
    /// The rows with the same keys.
    peers: Vec<Range<usize>>,
    /// The place of each row's peers.
    peers_of: Vec<usize>,
    /// The first and last rows of each row's frame, before any are left out.
    pub(crate) whole: Vec<Range<usize>>,
}

impl Frames {
    /// # Errors
    /// Offsets that are NULL or negative.
    pub(crate) fn of(frame: &Frame, columns: &Columns<'_>, rows: usize) -> Result<Self> {
        let peers = match columns.keys {
            [] => std::iter::once(0..rows).collect(),
            keys => partition(keys)?.ranges(),
        };
        let mut peers_of = vec![0; rows];
        for (place, peers) in peers.iter().enumerate() {
            peers_of[peers.clone()].fill(place);
        }
        let mut frames =
            Self { exclusion: frame.exclusion, peers, peers_of, whole: Vec::with_capacity(rows) };
        let (start, end) = match frame.units {
            Units::Range => {
                (frames.limits(frame, columns, true)?, frames.limits(frame, columns, false)?)
            }
            units => {
                let start = Offset { bound: frame.start, rows: number(columns.start, "starting")? };
                let end = Offset { bound: frame.end, rows: number(columns.end, "ending")? };
                let all = 0..rows;
                match units {
                    Units::Rows => (
                        all.clone().map(|row| start.first(row, rows)).collect(),
                        all.map(|row| end.last(row, rows)).collect(),
                    ),
                    _ => (
                        all.clone().map(|row| frames.first_of_group(row, start)).collect(),
                        all.map(|row| frames.last_of_group(row, end)).collect(),
                    ),
                }
            }
        };
        let whole =
            start.into_iter().zip(end).map(|(start, end): (usize, usize)| start..end.max(start));
        frames.whole = whole.collect();
        Ok(frames)
    }

    fn rows(&self) -> usize {
        self.peers_of.len()
    }

    fn first_of_group(&self, row: usize, offset: Offset) -> usize {
        let first = offset.first(self.peers_of[row], self.peers.len());
        self.peers.get(first).map_or(self.rows(), |peers| peers.start)
    }

    fn last_of_group(&self, row: usize, offset: Offset) -> usize {
        match offset.last(self.peers_of[row], self.peers.len()) {
            0 => 0,
            groups => self.peers[groups - 1].end,
        }
    }

    /// The bounds of RANGE: the first rows of the frames, or the rows behind the last ones.
    fn limits(&self, frame: &Frame, columns: &Columns<'_>, is_start: bool) -> Result<Vec<usize>> {
        let (bound, limits) = match is_start {
            true => (frame.start, columns.start),
            false => (frame.end, columns.end),
        };
        let own = |row: usize| &self.peers[self.peers_of[row]];
        let at_peers = |row| if is_start { own(row).start } else { own(row).end };
        let (Some(limits), Some(key)) = (limits, columns.range_key) else {
            return Ok((0..self.rows())
                .map(|row| match bound {
                    Bound::Current => at_peers(row),
                    _ if is_start => 0,
                    _ => self.rows(),
                })
                .collect());
        };
        let known = match frame.nulls_first {
            true => key.null_count()..self.rows(),
            false => 0..self.rows() - key.null_count(),
        };
        let options = SortOptions { descending: frame.descending, nulls_first: frame.nulls_first };
        let compare = make_comparator(limits, key, options)?;
        // Rows without a key are in the frames of each other alone.
        let limit = |row: usize| match key.is_null(row) {
            true => at_peers(row),
            // An infinity less itself: all numbers are within it, but not NaN, which comes last, or first downwards.
            false if is_nan(limits, row) && !is_nan(key, row) => match is_start == frame.descending
            {
                false if is_start => known.start,
                false => known.end,
                true => {
                    let is_before = |at: usize| is_nan(key, known.start + at) == is_start;
                    known.start + partition_point(known.len(), is_before)
                }
            },
            false => {
                let is_before = |at: usize| match compare(row, at) {
                    Ordering::Greater => true,
                    Ordering::Equal => !is_start,
                    Ordering::Less => false,
                };
                known.start + partition_point(known.len(), |at| is_before(known.start + at))
            }
        };
        Ok((0..self.rows()).map(limit).collect())
    }

    /// The parts of a row's frame.
    pub(crate) fn parts(&self, row: usize) -> [Range<usize>; 3] {
        let whole = self.whole[row].clone();
        let peers = self.peers[self.peers_of[row]].clone();
        let within = |part: Range<usize>| {
            let start = part.start.max(whole.start);
            start..part.end.min(whole.end).max(start)
        };
        match self.exclusion {
            Exclusion::Nothing => [whole, 0..0, 0..0],
            Exclusion::CurrentRow => [within(0..row), within(row + 1..usize::MAX), 0..0],
            Exclusion::Group => [within(0..peers.start), within(peers.end..usize::MAX), 0..0],
            Exclusion::Ties => {
                [within(0..peers.start), within(row..row + 1), within(peers.end..usize::MAX)]
            }
        }
    }

    /// Whether frames leave rows out.
    pub(crate) fn have_parts(&self) -> bool {
        self.exclusion != Exclusion::Nothing
    }
}

/// Whether a key, or one at a bound, is NaN.
fn is_nan(keys: &ArrayRef, row: usize) -> bool {
    match keys.data_type() {
        DataType::Float32 => keys.as_primitive::<Float32Type>().value(row).is_nan(),
        DataType::Float64 => keys.as_primitive::<Float64Type>().value(row).is_nan(),
        DataType::BinaryView => is_key_of_nan(keys.as_binary_view().value(row)),
        _ => false,
    }
}

/// A bound in rows or groups, of which each is a step.
#[derive(Clone, Copy)]
struct Offset {
    bound: Bound,
    rows: usize,
}

impl Offset {
    /// The first step of a frame.
    fn first(self, at: usize, count: usize) -> usize {
        match self.bound {
            Bound::Unbounded => 0,
            Bound::Current => at,
            Bound::Preceding => at.saturating_sub(self.rows),
            Bound::Following => at.saturating_add(self.rows).min(count),
        }
    }

    /// The step behind the last one of a frame.
    fn last(self, at: usize, count: usize) -> usize {
        match self.bound {
            Bound::Unbounded => count,
            Bound::Current => at + 1,
            Bound::Preceding => (at + 1).saturating_sub(self.rows),
            Bound::Following => (at + 1).saturating_add(self.rows).min(count),
        }
    }
}

/// The number of rows in a column, which is the same in all rows.
fn number(column: Option<&ArrayRef>, which: &str) -> Result<usize> {
    let Some(column) = column.filter(|column| !column.is_empty()) else { return Ok(0) };
    if column.is_null(0) {
        let message = format!("frame {which} offset must not be null");
        return Err(Error::new(SqlState::NullValueNotAllowed, message));
    }
    let rows = column.as_primitive::<Int64Type>().value(0);
    usize::try_from(rows).map_err(|_| {
        let message = format!("frame {which} offset must not be negative");
        Error::new(SqlState::InvalidPrecedingOrFollowingSize, message)
    })
}

/// The first of numbers below `count` that do not fulfil a condition, which those before it do.
fn partition_point(count: usize, condition: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        match condition(middle) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}
