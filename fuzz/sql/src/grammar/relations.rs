//! FROM: tables, subqueries, functions, and joins of all kinds.

use super::Generator;
use super::frames::{Frame, Leaf};
use crate::tree::{Kind, Node, Type};

const OUTER: [&str; 4] = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"];

impl Generator {
    /// What a query reads. Its columns are added to the innermost frame.
    pub(super) fn relations(&mut self, depth: usize) -> Node {
        let mut relations = vec![self.joined(depth)];
        if self.random.percent(12) {
            relations.push(self.joined(depth));
        }
        Node::commas(relations)
    }

    fn joined(&mut self, depth: usize) -> Node {
        let mut relation = self.relation(depth);
        let mut joins = 0;
        while joins < 3 && self.random.percent(30) {
            joins += 1;
            let before = self.seen();
            let right = self.relation(depth);
            relation = self.join(relation, right, &before, depth);
        }
        relation
    }

    fn join(&mut self, left: Node, right: Node, before: &[Leaf], depth: usize) -> Node {
        if self.random.percent(7) {
            let form = *self.random.pick(&["{} CROSS JOIN {}", "{} NATURAL JOIN {}"]);
            return Node::form(Kind::Relation, form, [left, right]);
        }
        let after = self.seen();
        let pairs: Vec<(&Leaf, &Leaf)> = before
            .iter()
            .flat_map(|old| after[before.len()..].iter().map(move |new| (old, new)))
            .filter(|(old, new)| old.1 == new.1)
            .collect();
        let on = if !pairs.is_empty() && self.random.percent(75) {
            let (old, new) = *self.random.pick(&pairs);
            let more = self.maybe(25, |make| Node::clause(" AND {}", [make.condition(1)]));
            Node::form(Kind::Expression(Type::Bool), &format!("{} = {}{{}}", old.0, new.0), [more])
        } else {
            self.condition(depth.min(2))
        };
        let join = *self.random.pick(&OUTER);
        Node::form(Kind::Relation, &format!("{{}} {join} {{}} ON {{}}"), [left, right, on])
    }

    fn relation(&mut self, depth: usize) -> Node {
        match self.random.weighted(&[60, 12, 8, 8, 6, 4]) {
            1 if depth > 0 => self.derived(depth, false),
            2 if depth > 0 => self.derived(depth, true),
            3 => self.series(),
            4 => self.function_rows(),
            5 => self.values_rows(),
            _ => self.table(),
        }
    }

    fn table(&mut self) -> Node {
        let table = self.readable();
        let alias = self.name("t");
        self.see(table.columns.iter().map(|(name, of)| (format!("{alias}.{name}"), *of)));
        Node::form(Kind::Relation, &format!("{} AS {alias}", table.name), [])
    }

    /// A subquery in FROM, which sees its siblings if it is LATERAL.
    fn derived(&mut self, depth: usize, lateral: bool) -> Node {
        let types = self.types(1..=3);
        let siblings = (!lateral).then(|| self.frames.leave());
        let query = self.query(&types, depth - 1);
        if let Some(siblings) = siblings {
            self.frames.enter(siblings);
        }
        let form = if lateral { "LATERAL ({}) AS " } else { "({}) AS " };
        let named = self.named(&types);
        Node::form(Kind::Relation, &format!("{form}{named}"), [query])
    }

    fn series(&mut self) -> Node {
        let bounds: &[&str] = if self.large {
            &["1, 1000000", "1, 1000000000", "1, 9223372036854775807", "-5, 100000, 3"]
        } else {
            &["1, 5", "1, 0", "10, 1, -2", "0, 100", "1, 1000", "2147483645, 2147483647"]
        };
        let bounds = *self.random.pick(bounds);
        let alias = self.name("g");
        self.see([(format!("{alias}.x"), Type::Int)]);
        Node::form(Kind::Relation, &format!("generate_series({bounds}) AS {alias} (x)"), [])
    }

    fn function_rows(&mut self) -> Node {
        let (form, takes, gives) = *self.random.pick(&[
            ("unnest({})", Type::Ints, Type::Int),
            ("unnest({})", Type::Texts, Type::Text),
            ("jsonb_array_elements({})", Type::Jsonb, Type::Jsonb),
            ("jsonb_object_keys({})", Type::Jsonb, Type::Text),
            ("generate_series({}, '2020-03-09', '1 day')", Type::Timestamp, Type::Timestamp),
        ]);
        let argument = self.expression(takes, 1);
        let alias = self.name("f");
        let ordinal = self.random.percent(20);
        let columns = if ordinal { "x, o" } else { "x" };
        let with = if ordinal { " WITH ORDINALITY" } else { "" };
        self.see([(format!("{alias}.x"), gives)]);
        Node::form(Kind::Relation, &format!("{form}{with} AS {alias} ({columns})"), [argument])
    }

    fn values_rows(&mut self) -> Node {
        let types = self.types(1..=3);
        let values = self.values(&types, 1);
        let named = self.named(&types);
        Node::form(Kind::Relation, &format!("({{}}) AS {named}"), [values])
    }

    /// A new alias with column names, whose columns are seen from here on.
    pub(super) fn named(&mut self, types: &[Type]) -> String {
        let alias = self.name("s");
        let columns: Vec<String> = (0..types.len()).map(|number| format!("x{number}")).collect();
        self.see(columns.iter().zip(types).map(|(name, of)| (format!("{alias}.{name}"), *of)));
        format!("{alias} ({})", columns.join(", "))
    }

    /// Adds columns to the innermost frame.
    pub(super) fn see(&mut self, columns: impl IntoIterator<Item = Leaf>) {
        if let Some(frame) = self.frames.inner_mut() {
            frame.leaves.extend(columns);
        }
    }

    fn seen(&self) -> Vec<Leaf> {
        self.frames.inner().map(|frame: &Frame| frame.leaves.clone()).unwrap_or_default()
    }
}
