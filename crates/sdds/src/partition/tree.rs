//! A persistent tree of bounds with values. A clone shares everything, and a change copies only the
//! pages on its path that are shared.
//!
//! It is a B+ tree for tilings. There is always an item at -inf, so that each bound has an item at
//! or before it. A lookup also returns the next item's bound without another page access, because
//! each branch stores the first bound below each of its children.

use super::page::Page;
use crate::Bound;
use std::sync::Arc;

/// A non-empty map from bounds to values.
#[derive(Debug, Clone)]
pub(super) struct Tree<T> {
    root: Node<T>,
    len: usize,
}

#[derive(Debug, Clone)]
enum Node<T> {
    Leaf(Arc<Page<T>>),
    /// The bound of a child is the first one below it.
    Branch(Arc<Page<Node<T>>>),
}

/// An item with the next item's bound.
pub(crate) struct Item<'a, T> {
    pub(crate) low: &'a Bound,
    pub(crate) high: &'a Bound,
    pub(crate) value: &'a T,
}

/// The end of the last item.
static END: Bound = Bound::PosInf;

impl<T: Clone> Tree<T> {
    /// One item, at -inf.
    pub(super) fn new(value: T) -> Self {
        let page = Page::of(vec![(Bound::NegInf, value)]);
        Self { root: Node::Leaf(Arc::new(page)), len: 1 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bytes of the items in full leaves.
    pub(super) fn bytes(&self) -> usize {
        self.len * Page::<T>::ITEM_BYTES
    }

    /// The items from the last one at or before a bound.
    pub(super) fn from(&self, place: &Bound) -> Items<'_, T> {
        let (mut node, mut end) = (&self.root, &END);
        loop {
            match node {
                Node::Branch(page) => {
                    let at = page.at_or_before(place);
                    end = page.get(at + 1).map_or(end, |(next, _)| next);
                    node = page.value(at);
                }
                Node::Leaf(page) => {
                    return Items { tree: self, page, at: page.at_or_before(place), end };
                }
            }
        }
    }

    /// The last item at or before a bound.
    pub(super) fn find(&self, place: &Bound) -> Item<'_, T> {
        let found = self.from(place).next();
        found.unwrap_or_else(|| unreachable!("there is an item at -inf"))
    }

    /// The last item before a bound.
    pub(super) fn before(&self, place: &Bound) -> Option<Item<'_, T>> {
        let (mut node, mut high) = (&self.root, &END);
        loop {
            let at = match node {
                Node::Branch(page) => page.search(place),
                Node::Leaf(page) => page.search(place),
            };
            let (Ok(after) | Err(after)) = at;
            let at = after.checked_sub(1)?;
            match node {
                Node::Branch(page) => {
                    high = page.get(after).map_or(high, |(next, _)| next);
                    node = page.value(at);
                }
                Node::Leaf(page) => {
                    let high = page.get(after).map_or(high, |(next, _)| next);
                    return page.get(at).map(|(low, value)| Item { low, high, value });
                }
            }
        }
    }

    /// Inserts or replaces the item at a bound.
    pub(super) fn insert(&mut self, place: Bound, value: T) {
        let (is_new, upper) = self.root.insert(place, value);
        self.len += usize::from(is_new);
        if let Some((place, upper)) = upper {
            let lower = self.root.clone();
            let page = Page::of(vec![(Bound::NegInf, lower), (place, upper)]);
            self.root = Node::Branch(Arc::new(page));
        }
    }

    /// Removes the item at a bound other than -inf.
    pub(super) fn remove(&mut self, place: &Bound) -> Option<T> {
        if *place == Bound::NegInf {
            return None;
        }
        let removed = self.root.remove(place)?;
        self.len -= 1;
        while let Node::Branch(page) = &self.root
            && page.len() == 1
        {
            self.root = page.value(0).clone();
        }
        Some(removed)
    }
}

impl<T: Clone> Node<T> {
    fn first(&self) -> Option<&Bound> {
        match self {
            Self::Leaf(page) => page.first(),
            Self::Branch(page) => page.first(),
        }
    }

    /// Returns whether the item is new, and the upper half of a node that has become too large.
    fn insert(&mut self, place: Bound, value: T) -> (bool, Option<(Bound, Self)>) {
        match self {
            Self::Leaf(page) => {
                let page = Arc::make_mut(page);
                match page.search(&place) {
                    Ok(at) => {
                        *page.value_mut(at) = value;
                        (false, None)
                    }
                    Err(at) => {
                        page.insert(at, place, value);
                        (true, upper_half(page, Self::Leaf))
                    }
                }
            }
            Self::Branch(page) => {
                let page = Arc::make_mut(page);
                let at = page.at_or_before(&place);
                let (is_new, upper) = page.value_mut(at).insert(place, value);
                let Some((place, upper)) = upper else { return (is_new, None) };
                page.insert(at + 1, place, upper);
                (is_new, upper_half(page, Self::Branch))
            }
        }
    }

    fn remove(&mut self, place: &Bound) -> Option<T> {
        match self {
            Self::Leaf(page) => {
                let at = page.search(place).ok()?;
                Some(Arc::make_mut(page).remove(at))
            }
            Self::Branch(page) => {
                let page = Arc::make_mut(page);
                let at = page.at_or_before(place);
                let child = page.value_mut(at);
                let removed = child.remove(place)?;
                let first = child.first().cloned();
                match first {
                    Some(first) => page.rename(at, &first),
                    None => drop(page.remove(at)),
                }
                join(page, at);
                Some(removed)
            }
        }
    }

    fn is_small(&self) -> bool {
        match self {
            Self::Leaf(page) => page.is_small(),
            Self::Branch(page) => page.is_small(),
        }
    }

    /// Appends the items of the next node, which has the same height, if there is room.
    fn join(&mut self, next: &Self) -> bool {
        match (self, next) {
            (Self::Leaf(page), Self::Leaf(next)) if page.has_room_for(next.len()) => {
                Arc::make_mut(page).append(Page::clone(next));
                true
            }
            (Self::Branch(page), Self::Branch(next)) if page.has_room_for(next.len()) => {
                Arc::make_mut(page).append(Page::clone(next));
                true
            }
            _ => false,
        }
    }
}

/// The upper half of a page that has become too large, with its first bound.
fn upper_half<V, N>(page: &mut Page<V>, node: impl Fn(Arc<Page<V>>) -> N) -> Option<(Bound, N)> {
    let upper = page.divided()?;
    let place = upper.first()?.clone();
    Some((place, node(Arc::new(upper))))
}

/// Joins a child that has become small with a neighbor.
fn join<T: Clone>(page: &mut Page<Node<T>>, at: usize) {
    if !page.get(at).is_some_and(|(_, child)| child.is_small()) {
        return;
    }
    for lower in [Some(at), at.checked_sub(1)].into_iter().flatten() {
        let Some((_, next)) = page.get(lower + 1) else { continue };
        let next = next.clone();
        if page.value_mut(lower).join(&next) {
            page.remove(lower + 1);
            return;
        }
    }
}

/// Items in order.
pub(super) struct Items<'a, T> {
    tree: &'a Tree<T>,
    page: &'a Page<T>,
    at: usize,
    /// The first bound after the page.
    end: &'a Bound,
}

impl<'a, T: Clone> Iterator for Items<'a, T> {
    type Item = Item<'a, T>;

    fn next(&mut self) -> Option<Item<'a, T>> {
        if self.at == self.page.len() {
            if *self.end == Bound::PosInf {
                return None;
            }
            *self = self.tree.from(self.end);
        }
        let (low, value) = self.page.get(self.at)?;
        self.at += 1;
        let high = self.page.get(self.at).map_or(self.end, |(next, _)| next);
        Some(Item { low, high, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Keys with common prefixes, some of which are prefixes of others.
    fn place(number: u16) -> Bound {
        let (group, length) = (number % 50, number % 3);
        let text = format!("{group:02}prefix{:05}", number / 3);
        Bound::At(Key::from(&text.as_bytes()[..text.len() - 2 * usize::from(length)]))
    }

    /// Compares all operations of a tree with those of a plain map.
    fn check(tree: &Tree<u32>, model: &BTreeMap<Bound, u32>) {
        assert_eq!(tree.len(), model.len());
        let lows: Vec<&Bound> = model.keys().collect();
        let mut items = tree.from(&Bound::NegInf);
        for (at, (low, value)) in model.iter().enumerate() {
            let high = lows.get(at + 1).copied().unwrap_or(&END);
            let item = items.next().expect("as many as in the map");
            assert_eq!((item.low, item.high, item.value), (low, high, value));
            let before = tree.before(low).map(|item| (item.low, item.high, *item.value));
            let expected = at.checked_sub(1).map(|at| (lows[at], low, model[lows[at]]));
            assert_eq!(before, expected);
        }
        assert!(items.next().is_none());
    }

    #[derive(Debug, Clone)]
    enum Step {
        Insert(u16),
        Remove(u16),
        Find(u16),
        Clone,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            10 => (0..2000_u16).prop_map(Step::Insert),
            6 => (0..2000_u16).prop_map(Step::Remove),
            4 => (0..2000_u16).prop_map(Step::Find),
            1 => Just(Step::Clone),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn a_tree_is_a_map_and_its_clones_stay_as_they_were(
            steps in proptest::collection::vec(step(), 0..2000),
        ) {
            let mut tree = Tree::new(0);
            let mut model = BTreeMap::from([(Bound::NegInf, 0)]);
            let mut clones = Vec::new();
            for (value, step) in (1..).zip(steps) {
                match step {
                    Step::Insert(number) => {
                        tree.insert(place(number), value);
                        model.insert(place(number), value);
                    }
                    Step::Remove(number) => {
                        prop_assert_eq!(tree.remove(&place(number)), model.remove(&place(number)));
                    }
                    Step::Find(number) => {
                        let found = tree.find(&place(number));
                        let expected = model.range(..=place(number)).next_back();
                        prop_assert_eq!(Some((found.low, found.value)), expected);
                    }
                    Step::Clone => clones.push((tree.clone(), model.clone())),
                }
            }
            clones.push((tree, model));
            clones.iter().for_each(|(tree, model)| check(tree, model));
        }
    }

    #[test]
    fn a_tall_tree_grows_and_shrinks() {
        let number = |n: u32| Bound::At(Key::from(&n.wrapping_mul(0x9E37_79B1).to_be_bytes()[..]));
        let mut tree = Tree::new(0);
        let mut model = BTreeMap::from([(Bound::NegInf, 0)]);
        for n in 1..20_000 {
            tree.insert(number(n), n);
            model.insert(number(n), n);
        }
        check(&tree, &model);
        let whole = tree.clone();
        for n in (1..20_000).filter(|n| n % 17 != 0) {
            assert_eq!(tree.remove(&number(n)), model.remove(&number(n)));
        }
        check(&tree, &model);
        for n in 1..20_000 {
            assert_eq!(tree.remove(&number(n)), model.remove(&number(n)));
        }
        check(&tree, &model);
        assert!(matches!(tree.root, Node::Leaf(_)), "one item needs no branches");
        assert_eq!(tree.remove(&Bound::NegInf), None);
        assert_eq!(whole.len(), 20_000);
    }
}
