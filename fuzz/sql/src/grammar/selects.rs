//! SELECT: plain, with groups, and with windows.

use super::Generator;
use super::frames::{Frame, Leaf};
use crate::tree::{Kind, Node, Type};

impl Generator {
    /// A SELECT with columns of these types.
    pub(super) fn select(&mut self, types: &[Type], depth: usize) -> Node {
        self.frames.enter(Frame::default());
        let from = if self.random.percent(5) {
            Node::nothing()
        } else {
            Node::form(Kind::Fixed, " FROM {}", [self.relations(depth)])
        };
        let restriction = self.restriction(depth);
        let kind = Kind::Query(types.len());
        let query = if self.random.percent(25) {
            let (group, having) = self.groups(depth);
            let items = self.items(types, depth);
            Node::form(kind, "SELECT {}{}{}{}{}", [items, from, restriction, group, having])
        } else {
            let distinct = self.maybe(10, |_| Node::clause("DISTINCT ", []));
            let items = self.items(types, depth);
            Node::form(kind, "SELECT {}{}{}{}", [distinct, items, from, restriction])
        };
        self.frames.leave();
        query
    }

    /// WHERE, or nothing.
    pub(super) fn restriction(&mut self, depth: usize) -> Node {
        self.maybe(55, |make| Node::clause(" WHERE {}", [make.condition(depth.clamp(1, 3))]))
    }

    fn items(&mut self, types: &[Type], depth: usize) -> Node {
        let items = types.iter().map(|of| {
            if self.random.percent(10) {
                self.window(*of)
            } else {
                self.expression(*of, depth.min(3))
            }
        });
        Node::commas(items.collect())
    }

    /// GROUP BY and HAVING.
    fn groups(&mut self, depth: usize) -> (Node, Node) {
        let mut columns: Vec<Leaf> =
            self.frames.inner().map(|frame| frame.leaves.clone()).unwrap_or_default();
        let mut by = Vec::new();
        for _ in 0..self.random.below(4).min(columns.len()) {
            by.push(columns.swap_remove(self.random.below(columns.len())));
        }
        let keys = || by.iter().map(|(name, _)| Node::text(name.as_str())).collect();
        let group = match self.random.below(6) {
            _ if by.is_empty() => Node::nothing(),
            0 => Node::clause(" GROUP BY ROLLUP ({})", [Node::commas(keys())]),
            1 => Node::clause(" GROUP BY CUBE ({})", [Node::commas(keys())]),
            2 => {
                let sets = keys().into_iter().map(|key| Node::form(Kind::Fixed, "({})", [key]));
                let sets = sets.chain([Node::text("()")]).collect();
                Node::clause(" GROUP BY GROUPING SETS ({})", [Node::commas(sets)])
            }
            _ => Node::clause(" GROUP BY {}", [Node::commas(keys())]),
        };
        self.group_frame(&by);
        let having =
            self.maybe(25, |make| Node::clause(" HAVING {}", [make.condition(depth.clamp(1, 2))]));
        (group, having)
    }
}
