//! The ends of morsels: a reader that needs a few rows in key order, or against it, cuts them off.

use crate::morsel::Morsel;
use crate::source::{Part, Source};
use sdds::{Bound, Key, KeyRange};

/// An end of a range of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The least keys.
    First,
    /// The greatest keys.
    Last,
}

impl End {
    /// Returns the boundary that cuts off the fewest rows.
    fn nearest(self, boundaries: impl Iterator<Item = Key>) -> Option<Key> {
        match self {
            Self::First => boundaries.min(),
            Self::Last => boundaries.max(),
        }
    }
}

impl Morsel {
    /// Cuts about `rows` rows off at an end: at most as many from each part and from the changes,
    /// some of which may be deletions. Returns them, and the rest unless nothing remains.
    pub fn cut(self, end: End, rows: usize) -> (Self, Option<Self>) {
        let rows = rows.max(1);
        let in_parts = self.parts.iter().filter_map(|part| part.boundary(end, rows));
        let in_changes = self.source.boundaries(&self.range, end, rows);
        let Some(boundary) = end.nearest(in_parts.chain(in_changes)) else { return (self, None) };
        let KeyRange { low, high } = self.range.clone();
        let below = KeyRange { low, high: Bound::At(boundary.clone()) };
        let above = KeyRange { low: Bound::At(boundary), high };
        let (ours, rest) = match end {
            End::First => (below, above),
            End::Last => (above, below),
        };
        let changed = self.changed && self.source.has_changes(&ours);
        (self.within(ours, changed), Some(self.within(rest, self.changed)))
    }

    /// The part of the morsel in a range.
    fn within(&self, range: KeyRange, changed: bool) -> Self {
        let cut =
            |part: &Part| Part { chunk: part.chunk.clone(), rows: part.chunk.rows_in(&range) };
        let parts = self.parts.iter().map(cut).filter(|part| !part.rows.is_empty()).collect();
        let (source, table) = (self.source.clone(), self.table.clone());
        Self { source, table, range, parts, changed }
    }
}

impl Part {
    /// Returns the key that separates `rows` rows at an end from the others; `None` without others.
    fn boundary(&self, end: End, rows: usize) -> Option<Key> {
        if self.rows.len() <= rows {
            return None;
        }
        let row = match end {
            End::First => self.rows.start + rows,
            End::Last => self.rows.end - rows,
        };
        Some(self.chunk.keys().key(row))
    }
}

impl Source {
    /// Returns the keys that separate `rows` changes at an end of a range from the others: one for
    /// the delta, and one for the reader's own writes.
    fn boundaries(&self, range: &KeyRange, end: End, rows: usize) -> impl Iterator<Item = Key> {
        let state = self.state.as_ref();
        let of_state = state.and_then(|state| {
            boundary(state.delta.range(range).map(|(key, _)| key), end, rows).cloned()
        });
        let writes = self.writes.as_ref();
        let of_writes = writes.and_then(|writes| {
            boundary(writes.changes_in(range).map(|(key, _)| key), end, rows).cloned()
        });
        [of_state, of_writes].into_iter().flatten()
    }
}

/// Returns the key that separates `rows` keys at an end from the others; `None` without others.
fn boundary<'a>(
    mut keys: impl DoubleEndedIterator<Item = &'a Key>,
    end: End,
    rows: usize,
) -> Option<&'a Key> {
    match end {
        End::First => keys.nth(rows),
        End::Last => {
            let boundary = keys.nth_back(rows - 1)?;
            keys.next_back().map(|_| boundary)
        }
    }
}
