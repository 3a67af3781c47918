//! Rows in key order, or against it, read in pieces as small as the reader needs.

use super::TableView;
use crate::Error;
use bucket::{End, Morsel, Source};
use catalog::Table;
use sdds::KeyRange;
use std::collections::VecDeque;
use std::sync::Arc;

/// The rows of a range on the way from one of its ends to the other.
#[derive(Debug)]
pub struct Walk {
    table: Arc<Table>,
    from: End,
    /// The buckets ahead, in key order.
    sources: VecDeque<(KeyRange, Source)>,
    /// The morsels of the present bucket that are ahead, in key order.
    morsels: VecDeque<Morsel>,
}

impl TableView {
    /// Begins to read a range at one of its ends.
    ///
    /// # Errors
    /// [`Error::NotOwned`] if part of the range is not owned here.
    pub fn walk(&self, range: &KeyRange, from: End) -> Result<Walk, Error> {
        let (table, sources) = (Arc::clone(self.table()), self.sources(range)?.into());
        Ok(Walk { table, from, sources, morsels: VecDeque::new() })
    }
}

impl Walk {
    /// Returns about as many of the next rows, by [`Morsel::cut`]; `None` at the end. The rows of a
    /// morsel are in key order.
    pub fn next_rows(&mut self, rows: usize) -> Option<Morsel> {
        loop {
            if let Some(morsel) = pop(&mut self.morsels, self.from) {
                let (ours, rest) = morsel.cut(self.from, rows);
                match self.from {
                    End::First => rest.into_iter().for_each(|rest| self.morsels.push_front(rest)),
                    End::Last => self.morsels.extend(rest),
                }
                return Some(ours);
            }
            let (range, source) = pop(&mut self.sources, self.from)?;
            let mut morsels = Vec::new();
            source.morsels(&self.table, &range, &mut morsels);
            self.morsels = morsels.into();
        }
    }
}

fn pop<T>(items: &mut VecDeque<T>, end: End) -> Option<T> {
    match end {
        End::First => items.pop_front(),
        End::Last => items.pop_back(),
    }
}
