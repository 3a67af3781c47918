//! A node of the tree: sorted bounds, each with a value.

use crate::Bound;

/// Maximum number of items of a page.
const ITEMS_MAX: usize = 128;

/// A page with fewer items is joined with a neighbor if both have few enough.
const ITEMS_MIN: usize = ITEMS_MAX / 4;

/// Maximum number of items of a joined page, so that it does not split again soon.
const JOINED_MAX: usize = ITEMS_MAX / 4 * 3;

/// Bounds in ascending order, with values.
#[derive(Debug, Clone)]
pub(super) struct Page<V> {
    /// The first bytes of the bounds. A search reads these few cache lines, and the bounds only
    /// where they are equal.
    heads: Vec<u64>,
    items: Vec<(Bound, V)>,
}

impl<V> Page<V> {
    /// Bytes of an item.
    pub(super) const ITEM_BYTES: usize = size_of::<u64>() + size_of::<(Bound, V)>();

    pub(super) fn of(items: Vec<(Bound, V)>) -> Self {
        Self { heads: items.iter().map(|(place, _)| head(place)).collect(), items }
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<&(Bound, V)> {
        self.items.get(at)
    }

    /// The first bound; `None` for an empty page.
    pub(super) fn first(&self) -> Option<&Bound> {
        self.items.first().map(|(place, _)| place)
    }

    pub(super) fn value(&self, at: usize) -> &V {
        &self.items[at].1
    }

    pub(super) fn value_mut(&mut self, at: usize) -> &mut V {
        &mut self.items[at].1
    }

    /// The index of a bound, or where it would be inserted.
    pub(super) fn search(&self, place: &Bound) -> Result<usize, usize> {
        let head = head(place);
        let from = self.heads.partition_point(|other| *other < head);
        let alike = self.heads[from..].partition_point(|other| *other == head);
        let found = self.items[from..from + alike].binary_search_by(|(other, _)| other.cmp(place));
        found.map(|at| from + at).map_err(|at| from + at)
    }

    /// The last item at or before a bound, or the first one.
    pub(super) fn at_or_before(&self, place: &Bound) -> usize {
        self.search(place).unwrap_or_else(|at| at.saturating_sub(1))
    }

    pub(super) fn insert(&mut self, at: usize, place: Bound, value: V) {
        self.heads.insert(at, head(&place));
        self.items.insert(at, (place, value));
    }

    pub(super) fn remove(&mut self, at: usize) -> V {
        self.heads.remove(at);
        self.items.remove(at).1
    }

    /// Changes the bound of an item, between the same neighbors.
    pub(super) fn rename(&mut self, at: usize, place: &Bound) {
        if self.items[at].0 != *place {
            self.heads[at] = head(place);
            self.items[at].0 = place.clone();
        }
    }

    /// Removes and returns the upper half if the page is too large.
    pub(super) fn divided(&mut self) -> Option<Self> {
        let half = self.len() / 2;
        (self.len() > ITEMS_MAX)
            .then(|| Self { heads: self.heads.split_off(half), items: self.items.split_off(half) })
    }

    pub(super) fn is_small(&self) -> bool {
        self.len() < ITEMS_MIN
    }

    /// Whether this page can be joined with the next one, which has `others` items.
    pub(super) fn has_room_for(&self, others: usize) -> bool {
        self.len() + others <= JOINED_MAX
    }

    /// Appends the items of the next page.
    pub(super) fn append(&mut self, mut next: Self) {
        self.heads.append(&mut next.heads);
        self.items.append(&mut next.items);
    }
}

/// The first eight bytes of a key as a number. Bounds in ascending order never have descending
/// heads.
fn head(place: &Bound) -> u64 {
    match place {
        Bound::NegInf => 0,
        Bound::At(key) => {
            let bytes = key.as_bytes();
            match bytes.first_chunk() {
                Some(head) => u64::from_be_bytes(*head),
                None => {
                    let mut head = [0; 8];
                    head[..bytes.len()].copy_from_slice(bytes);
                    u64::from_be_bytes(head)
                }
            }
        }
        Bound::PosInf => u64::MAX,
    }
}
