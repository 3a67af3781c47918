//! Expressions of plain values, evaluated one at a time without the engine.
//!
//! An expression whose types are fixed, over variables, constants, operators and functions of numbers, texts, dates and
//! truth values becomes a [`Scalar`]: a tree that is walked. It has the operators that the analyzer has chosen, so that it
//! means the same as in a query. What is not known here is left to the engine, and so is a value that is not simple.
//!
//! A variable that becomes longer at its end, a text or an array, is not copied ([`Scalar::extends`]).

mod calls;
mod compile;
mod constants;
mod conversion;
mod datum;
mod evaluate;
mod floats;
mod integers;
mod lists;
mod moments;
mod numbers;
mod operation;
mod registers;
mod texts;

#[cfg(test)]
mod tests;

pub use calls::{Callee, Caller};

use crate::in_place;
use crate::value::Value;
use calls::Calls;
use conversion::Conversion;
use datafusion::common::ScalarValue;
use datum::Datum;
use operation::Operation;
use planner::NamedParameter;
use std::cmp::Ordering;
use store::catalog::SqlType;
use texts::{BYTES_MAX, Function};
use values::error::Result;

/// An expression of plain values.
#[derive(Debug)]
pub struct Scalar {
    root: Root,
    of: SqlType,
    /// The functions of users that it calls.
    calls: Calls,
    /// Whether it can be computed in registers.
    is_of_registers: bool,
    /// The column that it is in its query.
    name: String,
}

/// What an expression is as a whole.
#[derive(Debug)]
enum Root {
    Plain(Node),
    /// An array with one more item: a variable by its place, the item, and its type.
    Appended(usize, Node, SqlType),
}

/// A part of an expression.
#[derive(Debug)]
enum Node {
    Constant(Datum<'static>),
    /// A variable by its place among the parameters, with the type that its values must have.
    Variable(usize, SqlType),
    /// An item of an array: a variable by its place, the type of the items, and the subscript.
    Item(usize, SqlType, Box<Node>),
    /// A field of a row: a variable by its place, the number of the field from 0, and its type.
    Field(usize, usize, SqlType),
    /// The length of an array, a variable by its place, or its cardinality.
    Length(usize, bool),
    Apply(Operation, Box<Node>, Box<Node>),
    Convert(Conversion, Box<Node>),
    Call(Function, Vec<Node>),
    /// Texts one behind the other, with so many bytes at most.
    Join(Vec<Node>, usize),
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Box<Node>),
    IsNull(Box<Node>, bool),
    IsTruth(Box<Node>, Option<bool>, bool),
    IsDistinct(Box<Node>, Box<Node>),
    NullIf(Box<Node>, Box<Node>),
    Case(Vec<(Node, Node)>, Box<Node>),
    Coalesce(Vec<Node>),
    /// The greatest or the least of some values.
    Extreme(Vec<Node>, Ordering),
}

/// Why there is no value.
enum Stop {
    /// A variable has another type than before, or a value is not simple.
    Unknown,
    /// The value is an error.
    Error(values::error::Error),
}

impl From<values::error::Error> for Stop {
    fn from(error: values::error::Error) -> Self {
        Self::Error(error)
    }
}

/// A value of a type; `None` if there is none here.
fn found(datum: std::result::Result<Datum<'_>, Stop>, of: &SqlType) -> Option<Result<Value>> {
    match datum {
        Ok(datum) => Some(Ok(datum.value(of))),
        Err(Stop::Error(error)) => Some(Err(error)),
        Err(Stop::Unknown) => None,
    }
}

impl Scalar {
    /// The value for variables. `None` if the engine has to compute it.
    pub(crate) fn value<'v>(
        &self,
        variable: &dyn Fn(usize) -> Option<&'v Value>,
    ) -> Option<Result<Value>> {
        match &self.root {
            Root::Plain(node) => found(node.datum(variable), &self.of),
            Root::Appended(place, item, of) => match found(item.datum(variable), of)? {
                Ok(item) => lists::appended(variable(*place)?, item),
                Err(error) => Some(Err(error)),
            },
        }
    }

    /// The place of the variable that the value is, with more at its end.
    pub(crate) fn extends(&self) -> Option<usize> {
        match &self.root {
            Root::Plain(Node::Join(parts, _)) => match parts.first() {
                Some(Node::Variable(place, _)) => Some(*place),
                _ => None,
            },
            Root::Plain(_) => None,
            Root::Appended(place, ..) => Some(*place),
        }
    }

    /// What the variable gets more, if [`Self::extends`] names one. `None` if the engine has to compute it.
    pub(crate) fn extension<'v>(
        &self,
        variable: &dyn Fn(usize) -> Option<&'v Value>,
    ) -> Option<Result<Value>> {
        match &self.root {
            Root::Plain(Node::Join(parts, bytes)) => {
                found(evaluate::joined(parts.get(1..)?, *bytes, variable), &SqlType::Text)
            }
            Root::Plain(_) => None,
            Root::Appended(_, item, of) => found(item.datum(variable), of),
        }
    }

    /// Puts an extension at the end of a value. `false` if it stays what it was, because it has to be computed.
    ///
    /// # Errors
    /// None, unless an array cannot be made.
    pub(crate) fn extend(value: &mut Value, more: Value) -> Result<bool> {
        match (&mut value.scalar, more.scalar) {
            (ScalarValue::Utf8View(Some(text)), ScalarValue::Utf8View(Some(more))) => {
                let fits = text.len().saturating_add(more.len()) <= BYTES_MAX;
                if fits {
                    text.push_str(&more);
                }
                Ok(fits)
            }
            (array, item) => in_place::put(array, None, &item),
        }
    }

    /// The name of the column that it is in its query.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The type of its values.
    pub fn sql_type(&self) -> &SqlType {
        &self.of
    }

    /// The value for parameters of these names and values. `None` if the engine has to compute it.
    pub fn of_values(
        &self,
        names: &[NamedParameter],
        values: &[ScalarValue],
    ) -> Option<Result<Value>> {
        let values = held(names, values);
        self.value(&|place| values.get(place))
    }

    /// The places of the variables that it reads.
    pub(crate) fn read(&self) -> Vec<usize> {
        let mut all = Vec::new();
        self.root.note(&mut all);
        self.calls.note(&mut all);
        all
    }
}

/// The values of parameters, with their types.
fn held(names: &[NamedParameter], values: &[ScalarValue]) -> Vec<Value> {
    let held = |(scalar, name): (&ScalarValue, &NamedParameter)| Value {
        scalar: scalar.clone(),
        of: name.sql_type.clone(),
    };
    values.iter().zip(names).map(held).collect()
}

impl Root {
    /// Adds the places of the variables that it reads.
    fn note(&self, all: &mut Vec<usize>) {
        match self {
            Self::Plain(node) => node.note(all),
            Self::Appended(place, item, _) => {
                all.push(*place);
                item.note(all);
            }
        }
    }
}

impl Node {
    fn note(&self, all: &mut Vec<usize>) {
        match self {
            Self::Constant(_) => {}
            Self::Variable(place, _) | Self::Length(place, _) | Self::Field(place, ..) => {
                all.push(*place);
            }
            Self::Item(place, _, subscript) => {
                all.push(*place);
                subscript.note(all);
            }
            Self::Apply(_, left, right)
            | Self::IsDistinct(left, right)
            | Self::NullIf(left, right) => {
                left.note(all);
                right.note(all);
            }
            Self::Convert(_, part)
            | Self::Not(part)
            | Self::IsNull(part, _)
            | Self::IsTruth(part, ..) => part.note(all),
            Self::Call(_, parts)
            | Self::Join(parts, _)
            | Self::And(parts)
            | Self::Or(parts)
            | Self::Coalesce(parts)
            | Self::Extreme(parts, _) => parts.iter().for_each(|part| part.note(all)),
            Self::Case(branches, otherwise) => {
                for (condition, value) in branches {
                    condition.note(all);
                    value.note(all);
                }
                otherwise.note(all);
            }
        }
    }
}
