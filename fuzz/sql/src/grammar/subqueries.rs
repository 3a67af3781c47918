//! Subqueries in expressions.

use super::Generator;
use crate::tree::{Kind, Node, Type};

impl Generator {
    /// A subquery that gives one value, mostly correlated.
    pub(super) fn scalar_subquery(&mut self, of: Type, depth: usize) -> Node {
        let query = if self.random.percent(50) {
            self.aggregated(of, depth - 1)
        } else {
            let query = self.query(&[of], depth - 1);
            Node::form(Kind::Query(1), "SELECT x FROM ({}) AS s (x) LIMIT 1", [query])
        };
        Node::form(Kind::Expression(of), "({})", [query])
    }

    /// EXISTS, IN, ANY or ALL with a subquery.
    pub(super) fn predicate(&mut self, depth: usize) -> Node {
        let kind = Kind::Expression(Type::Bool);
        let of = self.any_type();
        let query = self.query(&[of], depth - 1);
        match self.random.below(3) {
            0 => {
                let form = *self.random.pick(&["EXISTS ({})", "(NOT EXISTS ({}))"]);
                Node::form(kind, form, [query])
            }
            1 => {
                let form = *self.random.pick(&["({} IN ({}))", "({} NOT IN ({}))"]);
                let left = self.expression(of, depth - 1);
                Node::form(kind, form, [left, query])
            }
            _ => {
                let operator = *self.random.pick(&["=", "<", ">=", "<>"]);
                let quantifier = *self.random.pick(&["ANY", "ALL", "SOME"]);
                let left = self.expression(of, depth - 1);
                Node::form(kind, &format!("({{}} {operator} {quantifier} ({{}}))"), [left, query])
            }
        }
    }
}
