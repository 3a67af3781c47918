//! Aggregates with FILTER, DISTINCT and ORDER BY.

use super::Generator;
use super::forms::Form;
use super::frames::Frame;
use crate::tree::{Kind, Node, Type};

const fn form(text: &'static str, gives: Type, takes: &'static [Type]) -> Form {
    Form { text, gives, takes }
}

/// Aggregates; the first `{}` is for DISTINCT, the last for ORDER BY.
const AGGREGATES: &[Form] = &[
    form("count({}{}{})", Type::Bigint, &[Type::Text]),
    form("count({}{}{})", Type::Bigint, &[Type::Jsonb]),
    form("sum({}{}{})", Type::Bigint, &[Type::Int]),
    form("sum({}{}{})", Type::Numeric, &[Type::Numeric]),
    form("sum({}{}{})", Type::Interval, &[Type::Interval]),
    form("avg({}{}{})", Type::Numeric, &[Type::Bigint]),
    form("avg({}{}{})", Type::Double, &[Type::Double]),
    form("stddev({}{}{})", Type::Double, &[Type::Double]),
    form("var_pop({}{}{})", Type::Numeric, &[Type::Numeric]),
    form("string_agg({}{}, ','{})", Type::Text, &[Type::Text]),
    form("array_agg({}{}{})", Type::Ints, &[Type::Int]),
    form("array_agg({}{}{})", Type::Texts, &[Type::Text]),
    form("jsonb_agg({}{}{})", Type::Jsonb, &[Type::Date]),
    form("bool_and({}{}{})", Type::Bool, &[Type::Bool]),
    form("bool_or({}{}{})", Type::Bool, &[Type::Bool]),
    form("bit_xor({}{}{})", Type::Int, &[Type::Int]),
];

/// Aggregates of other forms.
const SPECIAL: &[Form] = &[
    form("count(*)", Type::Bigint, &[]),
    form("corr({}, {})", Type::Double, &[Type::Double, Type::Double]),
    form("regr_slope({}, {})", Type::Double, &[Type::Double, Type::Double]),
    form("percentile_cont(0.5) WITHIN GROUP (ORDER BY {})", Type::Double, &[Type::Double]),
    form("jsonb_object_agg(coalesce({}, ''), {})", Type::Jsonb, &[Type::Text, Type::Int]),
];

impl Generator {
    /// An aggregate over the rows of a group.
    pub(super) fn aggregate(&mut self, of: Type) -> Node {
        let inside = self.frames.inner().and_then(|frame| frame.grouped.clone());
        self.frames.enter(Frame { leaves: inside.unwrap_or_default(), grouped: None });
        let aggregate = self.aggregate_call(of);
        let filter = self
            .maybe(15, |make| Node::clause(" FILTER (WHERE {})", [make.expression(Type::Bool, 1)]));
        self.frames.leave();
        Node::form(Kind::Expression(of), "{}{}", [aggregate, filter])
    }

    fn aggregate_call(&mut self, of: Type) -> Node {
        let kind = Kind::Expression(of);
        let special: Vec<&Form> = SPECIAL.iter().filter(|form| form.gives == of).collect();
        if !special.is_empty() && self.random.percent(30) {
            let form = *self.random.pick(&special);
            let arguments: Vec<Node> =
                form.takes.iter().map(|takes| self.expression(*takes, 1)).collect();
            return Node::form(kind, form.text, arguments);
        }
        let forms: Vec<&Form> = AGGREGATES.iter().filter(|form| form.gives == of).collect();
        let (text, takes) = if forms.is_empty() || self.random.percent(30) {
            (*self.random.pick(&["min({}{}{})", "max({}{}{})"]), of)
        } else {
            let form = *self.random.pick(&forms);
            (form.text, form.takes[0])
        };
        let argument = self.expression(takes, 2);
        let distinct = self.maybe(15, |_| Node::clause("DISTINCT ", []));
        let order = self.maybe(15, |make| {
            let by = if distinct == Node::nothing() {
                make.expression(Type::Int, 1)
            } else {
                argument.clone()
            };
            let how = make.word(&["", " DESC", " DESC NULLS LAST"]);
            Node::clause(" ORDER BY {}{}", [by, how])
        });
        Node::form(kind, text, [distinct, argument, order])
    }

    /// A query that gives one row with an aggregate.
    pub(super) fn aggregated(&mut self, of: Type, depth: usize) -> Node {
        self.frames.enter(Frame::default());
        let relations = self.relations(depth);
        let restriction = self.restriction(depth);
        self.group_frame(&[]);
        let value = self.aggregate(of);
        self.frames.leave();
        Node::form(Kind::Query(1), "SELECT {} FROM {}{}", [value, relations, restriction])
    }

    /// From here on, columns are seen inside aggregates only, except what is grouped by.
    pub(super) fn group_frame(&mut self, by: &[(String, Type)]) {
        if let Some(frame) = self.frames.inner_mut() {
            let columns = std::mem::replace(&mut frame.leaves, by.to_vec());
            frame.grouped = Some(columns);
        }
    }
}
