//! Queries: SELECT, VALUES, set operations, WITH, and what follows them.

use super::Generator;
use super::frames::Frame;
use crate::tree::{Kind, Node, Type};

const SETS: [&str; 6] = ["UNION ALL", "UNION ALL", "UNION", "UNION", "INTERSECT", "EXCEPT"];

impl Generator {
    /// A query with columns of these types, so deep at most.
    pub(super) fn query(&mut self, types: &[Type], depth: usize) -> Node {
        let kind = Kind::Query(types.len());
        let body = match self.random.weighted(&[72, 9, 5, 8, 6]) {
            1 if depth > 0 => self.set_operation(types, depth),
            2 => self.values(types, depth.min(2)),
            3 if depth > 0 => self.with(types, depth),
            4 if depth > 0 => self.recursive(types),
            _ => self.select(types, depth),
        };
        let order = self.maybe(35, |make| {
            let column = make.random.within(1..=types.len());
            let how = make.word(&["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]);
            Node::clause(&format!(" ORDER BY {column}{{}}"), [how])
        });
        let limit = self.maybe(20, |make| {
            let limit = make.word(&["0", "1", "10", "NULL", "9223372036854775807", "1 + 1"]);
            Node::clause(" LIMIT {}", [limit])
        });
        let offset = self.maybe(8, |make| {
            let offset = make.word(&["0", "1", "100", "9223372036854775807"]);
            Node::clause(" OFFSET {}", [offset])
        });
        let form = if self.random.percent(5) { "({}){}{}{}" } else { "{}{}{}{}" };
        Node::form(kind, form, [body, order, limit, offset])
    }

    fn set_operation(&mut self, types: &[Type], depth: usize) -> Node {
        let operation = *self.random.pick(&SETS);
        let (left, right) = (self.query(types, depth - 1), self.query(types, depth - 1));
        Node::form(Kind::Query(types.len()), &format!("({{}}) {operation} ({{}})"), [left, right])
    }

    /// VALUES with rows of these types.
    pub(super) fn values(&mut self, types: &[Type], depth: usize) -> Node {
        let rows = (0..self.random.within(1..=4)).map(|_| {
            let row = types.iter().map(|of| self.expression(*of, depth)).collect();
            Node::form(Kind::Fixed, "({})", [Node::commas(row)])
        });
        Node::form(Kind::Query(types.len()), "VALUES {}", [Node::commas(rows.collect())])
    }

    fn with(&mut self, types: &[Type], depth: usize) -> Node {
        let inner = self.types(1..=3);
        let definition = self.query(&inner, depth - 1);
        let how = self.word(&["", "MATERIALIZED ", "NOT MATERIALIZED "]);
        self.frames.enter(Frame::default());
        let named = self.named(&inner);
        let name = named.split(' ').next().unwrap_or_default().to_owned();
        let again = self.maybe(30, |make| {
            let alias = make.name("w");
            let on = make.condition(1);
            Node::clause(&format!(" JOIN {name} AS {alias} ON {{}}"), [on])
        });
        let restriction = self.restriction(depth - 1);
        let items = types.iter().map(|of| self.expression(*of, 2)).collect();
        self.frames.leave();
        Node::form(
            Kind::Query(types.len()),
            &format!("WITH {named} AS {{}}({{}}) SELECT {{}} FROM {name}{{}}{{}}"),
            [how, definition, Node::commas(items), again, restriction],
        )
    }

    /// A recursive query: with an end, without one, or of a form that is refused.
    fn recursive(&mut self, types: &[Type]) -> Node {
        let name = self.name("r");
        let all = if self.random.percent(70) { "UNION ALL" } else { "UNION" };
        let step = *self.random.pick(&[
            "SELECT n + 1 FROM # WHERE n < 20",
            "SELECT n + 1 FROM # WHERE n < 3000",
            "SELECT n + 1 FROM #",
            "SELECT n FROM #",
            "SELECT a.n + 1 FROM # AS a JOIN generate_series(1, 3) AS g (x) ON a.n < 8",
            "SELECT a.n + 1 FROM # AS a, LATERAL (SELECT a.n AS m) AS b WHERE b.m < 9",
            "SELECT (n * 2) % 1000 FROM # WHERE EXISTS (SELECT 1 WHERE n < 100)",
            "SELECT n + 1 FROM # WHERE n < (SELECT count(*) FROM pg_class)",
            "SELECT max(n) + 1 FROM #",
            "SELECT a.n + b.n FROM # AS a JOIN # AS b ON a.n = b.n",
            "SELECT n FROM # ORDER BY n LIMIT 3",
            "(SELECT n + 1 FROM # WHERE n < 5 UNION ALL SELECT n + 2 FROM # WHERE n < 5)",
        ]);
        let step = step.replace('#', &name);
        self.frames.enter(Frame::default());
        self.see([(format!("{name}.n"), Type::Int)]);
        let items = types.iter().map(|of| self.expression(*of, 2)).collect();
        let restriction = self.restriction(1);
        self.frames.leave();
        Node::form(
            Kind::Query(types.len()),
            &format!(
                "WITH RECURSIVE {name} (n) AS (SELECT 1 {all} {step}) SELECT {{}} FROM {name}{{}}"
            ),
            [Node::commas(items), restriction],
        )
    }
}
