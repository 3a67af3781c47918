//! Expressions of a given type.

use super::Generator;
use super::forms::{Form, LARGE, USUAL};
use crate::tree::{Kind, Node, Type};

impl Generator {
    /// An expression of a type, so deep at most.
    pub(super) fn expression(&mut self, of: Type, depth: usize) -> Node {
        if depth == 0 {
            return self.leaf(of);
        }
        match self.random.weighted(&[30, 45, 6, 4, 5, 4, 4]) {
            0 => self.leaf(of),
            1 => self.function(of, depth),
            2 => self.case(of, depth),
            3 => self.coalesce(of, depth),
            4 => self.scalar_subquery(of, depth),
            5 if of == Type::Bool => self.predicate(depth),
            5 => self.function(of, depth),
            _ if self.is_grouped() => self.aggregate(of),
            _ => self.member(of, depth),
        }
    }

    /// A condition.
    pub(super) fn condition(&mut self, depth: usize) -> Node {
        self.expression(Type::Bool, depth)
    }

    /// A column, an aggregate where columns are grouped, or a constant.
    fn leaf(&mut self, of: Type) -> Node {
        let correlated = self.random.percent(25);
        let leaves = self.frames.of_type(of, correlated);
        if !leaves.is_empty() && self.random.percent(80) {
            let leaf = Node::text(self.random.pick(&leaves).0.clone());
            return Node::group(Kind::Expression(of), vec![leaf]);
        }
        if self.is_grouped() && self.random.percent(60) {
            return self.aggregate(of);
        }
        self.literal(of)
    }

    fn function(&mut self, of: Type, depth: usize) -> Node {
        let forms = if self.large && self.random.percent(25) { LARGE } else { USUAL };
        let forms: Vec<&Form> = forms.iter().filter(|form| form.gives == of).collect();
        if forms.is_empty() {
            return self.leaf(of);
        }
        let form = *self.random.pick(&forms);
        let arguments: Vec<Node> =
            form.takes.iter().map(|takes| self.expression(*takes, depth - 1)).collect();
        Node::form(Kind::Expression(of), form.text, arguments)
    }

    fn case(&mut self, of: Type, depth: usize) -> Node {
        let kind = Kind::Expression(of);
        let operand = self.random.percent(30).then(|| self.any_type());
        let branches = (0..self.random.within(1..=3)).map(|_| {
            let when = self.expression(operand.unwrap_or(Type::Bool), depth - 1);
            let then = self.expression(of, depth - 1);
            Node::form(Kind::Fixed, "WHEN {} THEN {}", [when, then])
        });
        let branches = Node::List { parts: branches.collect(), separator: " ", least: 1 };
        let operand = match operand {
            Some(of) => self.expression(of, depth - 1),
            None => Node::nothing(),
        };
        let otherwise =
            self.maybe(70, |make| Node::clause(" ELSE {}", [make.expression(of, depth - 1)]));
        Node::form(kind, "(CASE {} {}{} END)", [operand, branches, otherwise])
    }

    fn coalesce(&mut self, of: Type, depth: usize) -> Node {
        let (first, second) = (self.expression(of, depth - 1), self.expression(of, depth - 1));
        let form = *self.random.pick(&["coalesce({}, {})", "nullif({}, {})", "greatest({}, {})"]);
        Node::form(Kind::Expression(of), form, [first, second])
    }

    /// For conditions IN and comparisons of any type; for others a cast there and back.
    fn member(&mut self, of: Type, depth: usize) -> Node {
        if of != Type::Bool {
            let argument = self.expression(of, depth - 1);
            let form = format!("({{}})::text::{}", of.sql());
            return Node::form(Kind::Expression(of), &form, [argument]);
        }
        let operand = self.any_type();
        let left = self.expression(operand, depth - 1);
        let list = (0..self.random.within(1..=4)).map(|_| self.expression(operand, depth - 1));
        let list = Node::commas(list.collect());
        let form =
            *self.random.pick(&["({} IN ({}))", "({} NOT IN ({}))", "({} = ANY (ARRAY[{}]))"]);
        Node::form(Kind::Expression(of), form, [left, list])
    }

    fn is_grouped(&self) -> bool {
        self.frames.inner().is_some_and(|frame| frame.grouped.is_some())
    }
}
