//! Window functions with frames.

use super::Generator;
use super::forms::Form;
use crate::tree::{Kind, Node, Type};

const fn form(text: &'static str, gives: Type, takes: &'static [Type]) -> Form {
    Form { text, gives, takes }
}

const FUNCTIONS: &[Form] = &[
    form("row_number()", Type::Bigint, &[]),
    form("rank()", Type::Bigint, &[]),
    form("dense_rank()", Type::Bigint, &[]),
    form("ntile(3)", Type::Int, &[]),
    form("percent_rank()", Type::Double, &[]),
    form("cume_dist()", Type::Double, &[]),
    form("count(*)", Type::Bigint, &[]),
    form("sum({})", Type::Bigint, &[Type::Int]),
    form("sum({})", Type::Numeric, &[Type::Numeric]),
    form("avg({})", Type::Double, &[Type::Double]),
    form("array_agg({})", Type::Ints, &[Type::Int]),
    form("string_agg({}, ',')", Type::Text, &[Type::Text]),
    form("bool_or({})", Type::Bool, &[Type::Bool]),
];

/// Functions of any type.
const ANY: [&str; 7] = [
    "lag({})",
    "lead({}, 2)",
    "first_value({})",
    "last_value({})",
    "nth_value({}, 2)",
    "min({})",
    "max({})",
];

const BOUNDS: [(&str, &str); 6] = [
    ("UNBOUNDED PRECEDING", "CURRENT ROW"),
    ("UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING"),
    ("1 PRECEDING", "1 FOLLOWING"),
    ("CURRENT ROW", "2147483647 FOLLOWING"),
    ("5 PRECEDING", "2 PRECEDING"),
    ("9223372036854775807 PRECEDING", "0 FOLLOWING"),
];

impl Generator {
    /// A window function over the rows of the query.
    pub(super) fn window(&mut self, of: Type) -> Node {
        let forms: Vec<&Form> = FUNCTIONS.iter().filter(|form| form.gives == of).collect();
        let (text, takes) = if forms.is_empty() || self.random.percent(50) {
            (*self.random.pick(&ANY), &[of][..])
        } else {
            let form = *self.random.pick(&forms);
            (form.text, form.takes)
        };
        let arguments: Vec<Node> = takes.iter().map(|takes| self.expression(*takes, 1)).collect();
        let call = Node::form(Kind::Fixed, text, arguments);
        let partition = self.maybe(50, |make| {
            let of = make.any_type();
            Node::clause("PARTITION BY {} ", [make.expression(of, 1)])
        });
        let order = self.maybe(70, |make| {
            let of = make.any_type();
            let by = make.expression(of, 1);
            let how = make.word(&["", " DESC", " NULLS FIRST"]);
            Node::clause("ORDER BY {}{} ", [by, how])
        });
        let frame = self.maybe(40, |make| {
            let (start, end) = *make.random.pick(&BOUNDS);
            let unit = *make.random.pick(&["ROWS", "ROWS", "RANGE", "GROUPS"]);
            Node::clause(&format!("{unit} BETWEEN {start} AND {end}"), [])
        });
        Node::form(Kind::Expression(of), "{} OVER ({}{}{})", [call, partition, order, frame])
    }
}
