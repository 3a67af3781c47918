//! Typed trees to expressions of plain values.

use super::datum::{Datum, is_plain};
use super::integers::Size;
use super::operation::Operation;
use super::{Node, Scalar, Stop, numbers};
use planner::NamedParameter;
use store::catalog::SqlType;
use system_catalog::{Oid, functions};
use typed_tree::{Body, Call, Cast, Conversion as How, Expr, Kind, Literal, Query, TruthTest};

/// A conversion of a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Conversion {
    /// An integer to one of a size.
    Integer(Size),
    /// A number to double precision.
    Double,
    /// An integer to a decimal number.
    Number,
    /// An integer to its text.
    Text,
    /// A text to the number of its characters.
    Length,
    /// An integer of a size to its absolute value.
    Absolute(Size),
}

impl Conversion {
    /// The converted value. `None` if it is of another type.
    pub(super) fn apply(self, value: Datum) -> Result<Option<Datum>, Stop> {
        Ok(Some(match (self, value) {
            (Self::Integer(size), Datum::Integer(value)) => {
                Datum::Integer(size.checked(Some(value))?)
            }
            (Self::Integer(size), Datum::Double(value)) => {
                let rounded = value.round_ties_even();
                // Both bounds are exact.
                let is_long =
                    (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&rounded);
                Datum::Integer(size.checked(is_long.then_some(rounded as i64))?)
            }
            (Self::Double, Datum::Integer(value)) => Datum::Double(value as f64),
            (Self::Number, Datum::Integer(value)) => Datum::Number(i128::from(value), 0),
            (Self::Length, Datum::Text(text)) => {
                let length = i64::try_from(text.chars().count()).ok();
                Datum::Integer(Size::Usual.checked(length)?)
            }
            (Self::Absolute(size), Datum::Integer(value)) => {
                Datum::Integer(size.checked(value.checked_abs())?)
            }
            (Self::Text, Datum::Integer(value)) => Datum::Text(value.to_string()),
            _ => return Ok(None),
        }))
    }
}

impl Scalar {
    /// The expression that a query without FROM consists of, over parameters of these names. `None` for other queries.
    pub fn of(query: &Query, names: &[NamedParameter]) -> Option<Self> {
        let Body::Select(select) = &query.body else { return None };
        let [output] = select.output.as_slice() else { return None };
        let is_alone = query.with.is_empty()
            && query.order_by.is_empty()
            && query.limit == typed_tree::Limit::default()
            && select.from.is_empty()
            && select.filter.is_none()
            && !select.is_grouped
            && select.windows.is_empty()
            && select.sets.is_empty()
            && select.distinct.is_none();
        let of = held(&output.expr).filter(|_| is_alone)?;
        let node = Compile { names }.node(&output.expr)?;
        Some(Self { node, of })
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
        _ => return None,
    })
}

fn size(of: &SqlType) -> Option<Size> {
    Some(match of {
        SqlType::SmallInt => Size::Small,
        SqlType::Integer => Size::Usual,
        SqlType::BigInt => Size::Big,
        _ => return None,
    })
}

struct Compile<'a> {
    names: &'a [NamedParameter],
}

impl Compile<'_> {
    fn all<'e>(&self, parts: impl IntoIterator<Item = &'e Expr>) -> Option<Vec<Node>> {
        parts.into_iter().map(|part| self.node(part)).collect()
    }

    fn boxed(&self, expr: &Expr) -> Option<Box<Node>> {
        self.node(expr).map(Box::new)
    }

    fn node(&self, expr: &Expr) -> Option<Node> {
        let of = held(expr)?;
        Some(match &expr.kind {
            Kind::Literal(literal) => Node::Constant(constant(literal, &of)?),
            Kind::Parameter(number) => {
                let place = usize::try_from(*number).ok()?.checked_sub(1)?;
                let known = &self.names.get(place)?.sql_type;
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
                let Kind::Parameter(number) = &array.kind else { return None };
                let place = usize::try_from(*number).ok()?.checked_sub(1)?;
                let SqlType::Array(item) = &self.names.get(place)?.sql_type else { return None };
                let is_same = is_plain(item) && **item == of;
                let subscript = is_same.then(|| grammar::growing(|| self.boxed(subscript)))?;
                Node::Item(place, of, subscript?)
            }
            Kind::Coalesce(parts) => Node::Coalesce(grammar::growing(|| self.all(parts))?),
            _ => return None,
        })
    }

    fn call(&self, call: &Call, of: &SqlType) -> Option<Node> {
        if call.executed.is_some() || call.is_variadic_array {
            return None;
        }
        let name = functions::of(call.function)?.name;
        let [left, right] = call.arguments.as_slice() else {
            return self.of_one(name, call.arguments.as_slice(), of);
        };
        let operation = Operation::of(name, size(of))?;
        let (left, right) = match operation {
            Operation::Join => (self.text(left)?, self.text(right)?),
            _ => (self.node(left)?, self.node(right)?),
        };
        Some(Node::Apply(operation, Box::new(left), Box::new(right)))
    }

    fn of_one(&self, name: &str, arguments: &[Expr], of: &SqlType) -> Option<Node> {
        let [argument] = arguments else { return None };
        let is_text = matches!(held(argument), Some(SqlType::Text | SqlType::Varchar(None)));
        let conversion = match (name, size(of)) {
            ("length" | "char_length" | "character_length", Some(_)) if is_text => {
                Some(Conversion::Length)
            }
            ("abs", Some(size)) => Some(Conversion::Absolute(size)),
            _ => None,
        };
        if let Some(conversion) = conversion {
            return Some(Node::Convert(conversion, self.boxed(argument)?));
        }
        let negates = matches!(name, "int2um" | "int4um" | "int8um");
        let size = size(of).filter(|_| negates)?;
        let zero = Box::new(Node::Constant(Datum::Integer(0)));
        let how = super::integers::Arithmetic::Subtract;
        Some(Node::Apply(Operation::Integers(how, size), zero, self.boxed(argument)?))
    }

    /// A side of `||`.
    fn text(&self, side: &Expr) -> Option<Node> {
        let of = held(side)?;
        let node = self.node(side)?;
        match of {
            SqlType::Text | SqlType::Varchar(None) => Some(node),
            _ => size(&of).map(|_| Node::Convert(Conversion::Text, Box::new(node))),
        }
    }

    fn cast(&self, cast: &Cast, to: &SqlType) -> Option<Node> {
        let from = held(&cast.value)?;
        let value = self.boxed(&cast.value)?;
        let is_text = |of: &SqlType| matches!(of, SqlType::Text | SqlType::Varchar(None));
        let conversion = match cast.conversion {
            How::Relabel if from == *to || is_text(&from) && is_text(to) => return Some(*value),
            How::Text if is_text(to) && size(&from).is_some() => Conversion::Text,
            How::Function(_) => match (size(&from), size(to), to) {
                (Some(_), Some(size), _) => Conversion::Integer(size),
                (None, Some(size), _) if from == SqlType::Double => Conversion::Integer(size),
                (Some(_), None, SqlType::Double) => Conversion::Double,
                (Some(_), None, SqlType::Numeric { .. }) => Conversion::Number,
                _ => return None,
            },
            _ => return None,
        };
        Some(Node::Convert(conversion, value))
    }
}

fn constant(literal: &Literal, of: &SqlType) -> Option<Datum> {
    Some(match (literal, of) {
        (Literal::Null, _) => Datum::Null,
        (Literal::Boolean(truth), SqlType::Boolean) => Datum::Truth(*truth),
        (Literal::Integer(number), of) if size(of).is_some() => {
            Datum::Integer(size(of)?.checked(Some(*number)).ok()?)
        }
        (Literal::Text(text), SqlType::Text | SqlType::Varchar(None)) => Datum::Text(text.clone()),
        (Literal::Text(text), SqlType::Boolean) => match text.as_str() {
            "t" | "true" => Datum::Truth(true),
            "f" | "false" => Datum::Truth(false),
            _ => return None,
        },
        (Literal::Text(text), SqlType::Numeric { .. }) => {
            let (digits, scale) = numbers::parsed(text)?;
            Datum::Number(digits, scale)
        }
        (Literal::Text(text), of) if size(of).is_some() => {
            Datum::Integer(size(of)?.checked(text.parse().ok()).ok()?)
        }
        (Literal::Text(text), SqlType::Double) => {
            let number: f64 = text.parse().ok()?;
            let has_digits = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            has_digits.then_some(Datum::Double(number))?
        }
        _ => return None,
    })
}
