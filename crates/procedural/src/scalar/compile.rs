//! Typed trees to expressions of plain values.

use super::calls::Found;
use super::constants::constant;
use super::conversion::Conversion;
use super::datum::{Datum, is_plain};
use super::integers::{Arithmetic, Size};
use super::moments::Part;
use super::operation::Operation;
use super::texts::{BYTES_MAX, Function, VALUE_BYTES_MAX};
use super::{Node, Root, Scalar};
use planner::NamedParameter;
use std::cmp::Ordering;
use store::catalog::SqlType;
use system_catalog::{Oid, functions};
use typed_tree::{
    Body, Call, Cast, Conversion as How, Executed, Expr, FieldValue, Kind, Literal, Output, Query,
    TruthTest,
};

impl Scalar {
    /// The expression that a query without FROM consists of, over parameters of these names. `None` for other queries.
    pub fn of(query: &Query, names: &[NamedParameter]) -> Option<Self> {
        Self::calling(query, names, &|_| false)
    }

    /// As [`Self::of`]. It may also call the functions of users that `may_call` allows.
    pub fn calling(
        query: &Query,
        names: &[NamedParameter],
        may_call: &dyn Fn(&Executed) -> bool,
    ) -> Option<Self> {
        let mut columns = Self::columns(query, names, may_call)?;
        columns.pop().filter(|_| columns.is_empty())
    }

    /// As [`Self::calling`], of a query with any number of columns.
    pub fn columns(
        query: &Query,
        names: &[NamedParameter],
        may_call: &dyn Fn(&Executed) -> bool,
    ) -> Option<Vec<Self>> {
        let Body::Select(select) = &query.body else { return None };
        let is_alone = query.with.is_empty()
            && query.order_by.is_empty()
            && query.limit == typed_tree::Limit::default()
            && select.from.is_empty()
            && select.filter.is_none()
            && !select.is_grouped
            && select.windows.is_empty()
            && select.sets.is_empty()
            && select.distinct.is_none();
        if !is_alone {
            return None;
        }
        let column = |output: &Output| {
            let scalar = Self::of_expression(&output.expr, names, may_call)?;
            Some(Self { name: output.name.clone(), ..scalar })
        };
        select.output.iter().map(column).collect()
    }

    /// As [`Self::calling`], of an expression.
    pub(super) fn of_expression(
        expr: &Expr,
        names: &[NamedParameter],
        may_call: &dyn Fn(&Executed) -> bool,
    ) -> Option<Self> {
        let scalar =
            |joined_max| Compile { names, found: Found::new(may_call), joined_max }.scalar(expr);
        let usual = scalar(BYTES_MAX)?;
        // The engine would call its functions again.
        if usual.has_calls() { scalar(VALUE_BYTES_MAX) } else { Some(usual) }
    }
}

/// The plain type of an expression; `None` for other types.
fn held(expr: &Expr) -> Option<SqlType> {
    if expr.sql_type.modifier >= 0 {
        return None;
    }
    Some(match expr.sql_type.oid {
        Oid::INT2 => SqlType::SmallInt,
        Oid::INT4 => SqlType::Integer,
        Oid::INT8 => SqlType::BigInt,
        Oid::BOOL => SqlType::Boolean,
        Oid::FLOAT8 => SqlType::Double,
        Oid::TEXT => SqlType::Text,
        Oid::VARCHAR => SqlType::Varchar(None),
        Oid::NUMERIC => SqlType::NUMERIC,
        Oid::DATE => SqlType::Date,
        Oid::TIMESTAMP => SqlType::Timestamp,
        Oid::TIMESTAMPTZ => SqlType::TimestampTz,
        Oid::INTERVAL => SqlType::Interval,
        _ => return None,
    })
}

fn is_text(of: &SqlType) -> bool {
    matches!(of, SqlType::Text | SqlType::Varchar(None))
}

struct Compile<'a> {
    names: &'a [NamedParameter],
    found: Found<'a>,
    /// The most bytes of texts that `||` makes here.
    joined_max: usize,
}

impl Compile<'_> {
    fn scalar(self, expr: &Expr) -> Option<Scalar> {
        let (root, of) = match held(expr) {
            Some(of) => (Root::Plain(self.node(expr)?), of),
            None => self.appended(expr)?,
        };
        let calls = self.found.calls(&root, self.names)?;
        let is_of_registers = calls.are_none() && root.is_of_registers(&of);
        Some(Scalar { root, of, calls, is_of_registers, name: String::new() })
    }

    fn all<'e>(&self, parts: impl IntoIterator<Item = &'e Expr>) -> Option<Vec<Node>> {
        parts.into_iter().map(|part| self.node(part)).collect()
    }

    fn boxed(&self, expr: &Expr) -> Option<Box<Node>> {
        self.node(expr).map(Box::new)
    }

    fn node(&self, expr: &Expr) -> Option<Node> {
        let of = held(expr)?;
        self.found.note_type(&of);
        Some(match &expr.kind {
            Kind::Literal(literal) => Node::Constant(constant(literal, &of)?),
            Kind::Parameter(number) => {
                let (place, known) = self.parameter(*number)?;
                is_plain(known).then(|| Node::Variable(place, known.clone()))?
            }
            Kind::Call(call) => grammar::growing(|| self.call(call, &of))?,
            Kind::Cast(cast) => grammar::growing(|| self.cast(cast, &of))?,
            Kind::And(parts) => Node::And(grammar::growing(|| self.all(parts))?),
            Kind::Or(parts) => Node::Or(grammar::growing(|| self.all(parts))?),
            Kind::Not(part) => Node::Not(grammar::growing(|| self.boxed(part))?),
            Kind::IsNull(part) => Node::IsNull(grammar::growing(|| self.boxed(part))?, true),
            Kind::IsNotNull(part) => Node::IsNull(grammar::growing(|| self.boxed(part))?, false),
            Kind::IsTruth(part, test) => {
                let (truth, wanted) = match test {
                    TruthTest::True => (Some(true), true),
                    TruthTest::NotTrue => (Some(true), false),
                    TruthTest::False => (Some(false), true),
                    TruthTest::NotFalse => (Some(false), false),
                    TruthTest::Unknown => (None, true),
                    TruthTest::NotUnknown => (None, false),
                };
                Node::IsTruth(grammar::growing(|| self.boxed(part))?, truth, wanted)
            }
            Kind::Case { branches, otherwise } => {
                let branch = |(condition, value): &(Expr, Expr)| {
                    Some((self.node(condition)?, self.node(value)?))
                };
                let branches = branches.iter().map(|both| grammar::growing(|| branch(both)));
                Node::Case(branches.collect::<Option<_>>()?, self.boxed(otherwise)?)
            }
            Kind::Subscript { array, subscripts, is_slice: false } => {
                let [(None, Some(subscript))] = subscripts.as_slice() else { return None };
                let (place, item) = self.list(array)?;
                let is_same = *item == of;
                let subscript = is_same.then(|| grammar::growing(|| self.boxed(subscript)))?;
                Node::Item(place, of, subscript?)
            }
            Kind::Field(field) => self.field(field, of)?,
            Kind::Coalesce(parts) => Node::Coalesce(grammar::growing(|| self.all(parts))?),
            kind => grammar::growing(|| self.compared(kind))?,
        })
    }

    /// An expression that compares its parts.
    fn compared(&self, kind: &Kind) -> Option<Node> {
        Some(match kind {
            Kind::Greatest(parts) => Node::Extreme(self.all(parts)?, Ordering::Greater),
            Kind::Least(parts) => Node::Extreme(self.all(parts)?, Ordering::Less),
            Kind::IsDistinct(call) => {
                let (left, right) = self.equal(call)?;
                Node::IsDistinct(left, right)
            }
            Kind::NullIf(call) => {
                let (left, right) = self.equal(call)?;
                Node::NullIf(left, right)
            }
            _ => return None,
        })
    }

    /// Both sides of an operator that is `=`.
    fn equal(&self, call: &Call) -> Option<(Box<Node>, Box<Node>)> {
        let [left, right] = call.arguments.as_slice() else { return None };
        let is_equality = call.executed.is_none()
            && Operation::of(functions::of(call.function)?.name, None)?.is_equality();
        is_equality.then_some((self.boxed(left)?, self.boxed(right)?))
    }

    /// The place of a parameter among the names, and its type.
    fn parameter(&self, number: u32) -> Option<(usize, &SqlType)> {
        let place = usize::try_from(number).ok()?.checked_sub(1)?;
        Some((place, &self.names.get(place)?.sql_type))
    }

    /// The place of a parameter that is an array, and the type of its items.
    fn list(&self, expr: &Expr) -> Option<(usize, &SqlType)> {
        let Kind::Parameter(number) = &expr.kind else { return None };
        let (place, of) = self.parameter(*number)?;
        let SqlType::Array(item) = of else { return None };
        is_plain(item).then_some((place, &**item))
    }

    /// A field of a parameter that is a row.
    fn field(&self, field: &FieldValue, of: SqlType) -> Option<Node> {
        let Kind::Parameter(number) = &field.row.kind else { return None };
        let (place, row) = self.parameter(*number)?;
        let is_same = row.attributes()?.get(field.field)?.sql_type == of;
        self.found.note_uncertain();
        is_same.then_some(Node::Field(place, field.field, of))
    }

    /// A variable with one more item at its end.
    fn appended(&self, expr: &Expr) -> Option<(Root, SqlType)> {
        let Kind::Call(call) = &expr.kind else { return None };
        let [array, item] = call.arguments.as_slice() else { return None };
        if call.executed.is_some() || functions::of(call.function)?.name != "array_append" {
            return None;
        }
        let (place, of) = self.list(array)?;
        // Numbers in arrays have scales of their own.
        if matches!(of, SqlType::Numeric { .. }) || held(item).as_ref() != Some(of) {
            return None;
        }
        let root = Root::Appended(place, self.node(item)?, of.clone());
        Some((root, SqlType::Array(Box::new(of.clone()))))
    }

    fn call(&self, call: &Call, of: &SqlType) -> Option<Node> {
        if call.is_variadic_array {
            return None;
        }
        if let Some(executed) = &call.executed {
            return self.executed(executed, &call.arguments, of);
        }
        let name = functions::of(call.function)?.name;
        let arguments = call.arguments.as_slice();
        if let Some(node) = self.of_list(name, arguments) {
            return Some(node);
        }
        let types: String = arguments.iter().map(letter).collect();
        if let Some(function) = Function::of(name, &types) {
            let arguments = self.all(arguments)?;
            if !function.is_certain(&arguments) {
                self.found.note_uncertain();
            }
            return Some(Node::Call(function, arguments));
        }
        match (name, arguments) {
            ("textcat" | "textanycat" | "anytextcat", [left, right]) => self.joined([left, right]),
            ("extract" | "date_part", [field, value]) => self.part(field, value, of),
            ("integer_pl_date", [days, date]) => {
                let later = Operation::of("date_pli", None)?;
                self.found.note_uncertain();
                Some(Node::Apply(later, self.boxed(date)?, self.boxed(days)?))
            }
            (name, [left, right]) => {
                let operation = Operation::of(name, Size::of(of))?;
                if matches!(operation, Operation::Calendar(_)) {
                    self.found.note_uncertain();
                }
                Some(Node::Apply(operation, self.boxed(left)?, self.boxed(right)?))
            }
            (name, [argument]) => self.of_one(name, argument, of),
            _ => None,
        }
    }

    /// A call of a function of a user, as a variable behind those of the statement.
    fn executed(&self, executed: &Executed, arguments: &[Expr], of: &SqlType) -> Option<Node> {
        if !self.found.allows(executed) {
            return None;
        }
        let types = arguments.iter().map(held).collect::<Option<Vec<_>>>()?;
        let number = self.found.add(executed, (self.all(arguments)?, types), of);
        Some(Node::Variable(self.names.len() + number, of.clone()))
    }

    fn of_one(&self, name: &str, argument: &Expr, of: &SqlType) -> Option<Node> {
        let is_of_text = held(argument).as_ref().is_some_and(is_text);
        let conversion = match (name, Size::of(of)) {
            ("length" | "char_length" | "character_length", Some(_)) if is_of_text => {
                Some(Conversion::Length)
            }
            ("abs", Some(size)) => Some(Conversion::Absolute(size)),
            _ => None,
        };
        if let Some(conversion) = conversion {
            return Some(Node::Convert(conversion, self.boxed(argument)?));
        }
        let negates = matches!(name, "int2um" | "int4um" | "int8um");
        let size = Size::of(of).filter(|_| negates)?;
        let zero = Box::new(Node::Constant(Datum::Integer(0)));
        let operation = Operation::Integers(Arithmetic::Subtract, size);
        Some(Node::Apply(operation, zero, self.boxed(argument)?))
    }

    /// The number of items of an array in its first dimension.
    fn of_list(&self, name: &str, arguments: &[Expr]) -> Option<Node> {
        let is_first =
            |dimension: &Expr| matches!(&dimension.kind, Kind::Literal(Literal::Integer(1)));
        match (name, arguments) {
            ("cardinality", [array]) => Some(Node::Length(self.list(array)?.0, true)),
            ("array_length" | "array_upper", [array, dimension]) if is_first(dimension) => {
                Some(Node::Length(self.list(array)?.0, false))
            }
            _ => None,
        }
    }

    /// A field of a date or a timestamp.
    fn part(&self, field: &Expr, value: &Expr, of: &SqlType) -> Option<Node> {
        let Kind::Literal(Literal::Text(name)) = &field.kind else { return None };
        let is_date = match held(value)? {
            SqlType::Date => true,
            SqlType::Timestamp => false,
            _ => return None,
        };
        let part = Part::of(name, is_date, *of == SqlType::Double)?;
        self.found.note_uncertain();
        Some(Node::Convert(Conversion::Part(part), self.boxed(value)?))
    }

    /// `||` of texts. That of a longer chain has all of its parts.
    fn joined(&self, sides: [&Expr; 2]) -> Option<Node> {
        let mut parts = Vec::new();
        for side in sides {
            match self.text(side)? {
                Node::Join(inner, _) => parts.extend(inner),
                part => parts.push(part),
            }
        }
        Some(Node::Join(parts, self.joined_max))
    }

    /// A side of `||`.
    fn text(&self, side: &Expr) -> Option<Node> {
        let of = held(side)?;
        let node = self.node(side)?;
        match of {
            of if is_text(&of) => Some(node),
            of if has_text(&of) => Some(Node::Convert(Conversion::Text, Box::new(node))),
            _ => None,
        }
    }

    fn cast(&self, cast: &Cast, to: &SqlType) -> Option<Node> {
        let from = held(&cast.value)?;
        let value = self.boxed(&cast.value)?;
        let conversion = match cast.conversion {
            How::Relabel if from == *to || is_text(&from) && is_text(to) => return Some(*value),
            How::Text if is_text(to) && has_text(&from) => Conversion::Text,
            How::Text if is_text(&from) => {
                // It may be the text of no number.
                self.found.note_uncertain();
                match (Size::of(to), to) {
                    (Some(size), _) => Conversion::Integer(size),
                    (None, SqlType::Numeric { .. }) => Conversion::Number,
                    _ => return None,
                }
            }
            How::Function(_) => match (Size::of(&from), Size::of(to), to) {
                (Some(_), Some(size), _) => Conversion::Integer(size),
                (None, Some(size), _) if from == SqlType::Double => Conversion::Integer(size),
                (None, Some(size), _) if from == SqlType::NUMERIC => Conversion::Integer(size),
                (Some(_), None, SqlType::Double) => Conversion::Double,
                (Some(_), None, SqlType::Numeric { .. }) => Conversion::Number,
                (None, None, to) if from == SqlType::Boolean && is_text(to) => Conversion::Text,
                _ => return None,
            },
            _ => return None,
        };
        Some(Node::Convert(conversion, value))
    }
}

/// Whether the values of a type have a text that no setting changes.
fn has_text(of: &SqlType) -> bool {
    Size::of(of).is_some() || matches!(of, SqlType::Boolean | SqlType::Numeric { .. })
}

/// The letter of an argument's type among those of [`Function::of`].
fn letter(argument: &Expr) -> char {
    match held(argument) {
        Some(of) if is_text(&of) => 't',
        Some(SqlType::Integer) => 'i',
        _ => '-',
    }
}
