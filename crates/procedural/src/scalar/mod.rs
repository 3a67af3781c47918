//! Expressions of plain values, evaluated one at a time without the engine.
//!
//! An expression whose types are fixed, over variables, constants and operators of numbers, texts and truth values becomes
//! a [`Scalar`]: a tree that is walked. It has the operators that the analyzer has chosen, so that it means the same as
//! in a query. What is not known here is left to the engine.

mod compile;
mod datum;
mod floats;
mod integers;
mod numbers;
mod operation;

use crate::value::Value;
use datafusion::common::ScalarValue;
use datum::Datum;
use operation::Operation;
use planner::NamedParameter;
use store::catalog::SqlType;
use values::error::Result;

/// An expression of plain values.
#[derive(Debug)]
pub struct Scalar {
    node: Node,
    of: SqlType,
}

/// A part of an expression.
#[derive(Debug)]
enum Node {
    Constant(Datum),
    /// A variable by its place among the parameters, with the type that its values must have.
    Variable(usize, SqlType),
    /// An item of an array: a variable by its place, the type of the items, and the subscript.
    Item(usize, SqlType, Box<Node>),
    Apply(Operation, Box<Node>, Box<Node>),
    Convert(compile::Conversion, Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Box<Node>),
    IsNull(Box<Node>, bool),
    IsTruth(Box<Node>, Option<bool>, bool),
    Case(Vec<(Node, Node)>, Box<Node>),
    Coalesce(Vec<Node>),
}

/// Why there is no value.
enum Stop {
    /// A variable has another type than before.
    Unknown,
    /// The value is an error.
    Error(values::error::Error),
}

impl From<values::error::Error> for Stop {
    fn from(error: values::error::Error) -> Self {
        Self::Error(error)
    }
}

impl Scalar {
    /// The value for variables. `None` if one has another type than before.
    pub(crate) fn value<'v>(
        &self,
        variable: &dyn Fn(usize) -> Option<&'v Value>,
    ) -> Option<Result<Value>> {
        match self.node.datum(variable) {
            Ok(datum) => Some(Ok(datum.value(&self.of))),
            Err(Stop::Error(error)) => Some(Err(error)),
            Err(Stop::Unknown) => None,
        }
    }

    /// The type of its values.
    pub fn sql_type(&self) -> &SqlType {
        &self.of
    }

    /// The value for parameters of these names and values. `None` if one has another type than before.
    pub fn of_values(
        &self,
        names: &[NamedParameter],
        values: &[ScalarValue],
    ) -> Option<Result<Value>> {
        let held = |(scalar, name): (&ScalarValue, &NamedParameter)| Value {
            scalar: scalar.clone(),
            of: name.sql_type.clone(),
        };
        let values: Vec<Value> = values.iter().zip(names).map(held).collect();
        self.value(&|place| values.get(place))
    }

    /// The places of the variables that it reads.
    pub(crate) fn read(&self) -> Vec<usize> {
        let mut all = Vec::new();
        self.node.note(&mut all);
        all
    }
}

impl Node {
    fn datum<'v>(
        &self,
        variable: &dyn Fn(usize) -> Option<&'v Value>,
    ) -> std::result::Result<Datum, Stop> {
        Ok(match self {
            Self::Constant(datum) => datum.clone(),
            Self::Variable(place, of) => {
                let value = variable(*place).ok_or(Stop::Unknown)?;
                Datum::of(&value.scalar, of).ok_or(Stop::Unknown)?
            }
            Self::Item(place, of, subscript) => {
                let array = variable(*place).ok_or(Stop::Unknown)?;
                match subscript.datum(variable)? {
                    Datum::Integer(at) => {
                        Datum::item(&array.scalar, at, of).ok_or(Stop::Unknown)?
                    }
                    _ => Datum::Null,
                }
            }
            Self::Apply(operation, left, right) => {
                let left = left.datum(variable)?;
                let right = right.datum(variable)?;
                match (&left, &right) {
                    (Datum::Null, _) | (_, Datum::Null) => Datum::Null,
                    _ => operation.apply(left, right)?.ok_or(Stop::Unknown)?,
                }
            }
            Self::Convert(conversion, value) => match value.datum(variable)? {
                Datum::Null => Datum::Null,
                value => conversion.apply(value)?.ok_or(Stop::Unknown)?,
            },
            Self::And(parts) => all(parts, false, variable)?,
            Self::Or(parts) => all(parts, true, variable)?,
            Self::Not(part) => match part.datum(variable)? {
                Datum::Truth(truth) => Datum::Truth(!truth),
                _ => Datum::Null,
            },
            Self::IsNull(part, wanted) => {
                let is_null = matches!(part.datum(variable)?, Datum::Null);
                Datum::Truth(is_null == *wanted)
            }
            Self::IsTruth(part, truth, wanted) => {
                let given = match part.datum(variable)? {
                    Datum::Truth(truth) => Some(truth),
                    _ => None,
                };
                Datum::Truth((given == *truth) == *wanted)
            }
            Self::Case(branches, otherwise) => {
                for (condition, value) in branches {
                    if matches!(condition.datum(variable)?, Datum::Truth(true)) {
                        return value.datum(variable);
                    }
                }
                otherwise.datum(variable)?
            }
            Self::Coalesce(parts) => {
                for part in parts {
                    match part.datum(variable)? {
                        Datum::Null => {}
                        value => return Ok(value),
                    }
                }
                Datum::Null
            }
        })
    }

    fn note(&self, all: &mut Vec<usize>) {
        match self {
            Self::Constant(_) => {}
            Self::Variable(place, _) => all.push(*place),
            Self::Item(place, _, subscript) => {
                all.push(*place);
                subscript.note(all);
            }
            Self::Apply(_, left, right) => {
                left.note(all);
                right.note(all);
            }
            Self::Convert(_, part)
            | Self::Not(part)
            | Self::IsNull(part, _)
            | Self::IsTruth(part, ..) => part.note(all),
            Self::And(parts) | Self::Or(parts) | Self::Coalesce(parts) => {
                parts.iter().for_each(|part| part.note(all));
            }
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

/// OR of conditions, of which one that is `decisive` decides; AND for one that is false.
fn all<'v>(
    parts: &[Node],
    decisive: bool,
    variable: &dyn Fn(usize) -> Option<&'v Value>,
) -> std::result::Result<Datum, Stop> {
    let mut result = Datum::Truth(!decisive);
    for part in parts {
        match part.datum(variable)? {
            Datum::Truth(truth) if truth == decisive => return Ok(Datum::Truth(decisive)),
            Datum::Truth(_) => {}
            _ => result = Datum::Null,
        }
    }
    Ok(result)
}
