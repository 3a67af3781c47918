//! Expressions of integers, double precision numbers, truth values, dates and timestamps, computed in registers.
//!
//! They need no memory, and no [`Datum`]. What is an error or not known has no value here: it is computed again as other
//! expressions are, and that says why. An expression of plain values does nothing else, so that this is the same.

use super::conversion::Conversion;
use super::datum::Datum;
use super::operation::Operation;
use super::{Node, Root, Scalar, floats, lists};
use crate::in_place;
use crate::value::Value;
use datafusion::common::ScalarValue;
use plpgsql::{Register, RegisterKind as Kind};
use std::mem::discriminant;
use store::catalog::SqlType;
use values::error::Result;

/// The value of a variable by its place.
type Variable<'a, 'v> = &'a dyn Fn(usize) -> Option<&'v Value>;

impl Scalar {
    /// The value for variables. `None` if it has to be computed as others, also because it is an error.
    pub(crate) fn register<'v>(&self, variable: Variable<'_, 'v>) -> Option<Register> {
        match &self.root {
            Root::Plain(node) if self.is_of_registers => node.register(variable),
            _ => None,
        }
    }

    /// Puts a value into a variable in the place of another one. `false` if that is of another type, and for NULL.
    pub(crate) fn put(&self, new: Register, value: &mut Value) -> bool {
        use ScalarValue as V;
        // No type of registers has parameters.
        if discriminant(&value.of) != discriminant(&self.of) {
            return false;
        }
        match (&mut value.scalar, new.kind()) {
            (V::Int32(old) | V::Date32(old), Kind::Integer) => match i32::try_from(new.integer()) {
                Ok(new) => *old = Some(new),
                Err(_) => return false,
            },
            (V::Int64(old) | V::TimestampMicrosecond(old, _), Kind::Integer) => {
                *old = Some(new.integer());
            }
            (V::Int16(old), Kind::Integer) => match i16::try_from(new.integer()) {
                Ok(new) => *old = Some(new),
                Err(_) => return false,
            },
            (V::Boolean(old), Kind::Truth) => *old = Some(new.is_true()),
            (V::Float64(old), Kind::Double) => *old = Some(new.double()),
            _ => return false,
        }
        true
    }

    /// Puts a value in the place of an item of an array. `false` if the array stays what it was, and for NULL.
    ///
    /// # Errors
    /// The array cannot be made.
    pub(crate) fn put_item(&self, new: Register, at: i64, array: &mut Value) -> Result<bool> {
        let item = match (new.kind(), &self.of) {
            (Kind::Integer, SqlType::Integer) => {
                ScalarValue::Int32(i32::try_from(new.integer()).ok())
            }
            (Kind::Integer, SqlType::BigInt) => ScalarValue::Int64(Some(new.integer())),
            (Kind::Truth, SqlType::Boolean) => ScalarValue::Boolean(Some(new.is_true())),
            (Kind::Double, SqlType::Double) => ScalarValue::Float64(Some(new.double())),
            _ => return Ok(false),
        };
        in_place::put(&mut array.scalar, Some(at), &item)
    }
}

impl Root {
    /// Whether all parts, and values of the type of the whole, fit into registers.
    pub(super) fn is_of_registers(&self, of: &SqlType) -> bool {
        match self {
            Self::Plain(node) => is_type(of) && node.fits(),
            Self::Appended(..) => false,
        }
    }
}

impl Node {
    fn fits(&self) -> bool {
        match self {
            Self::Constant(datum) => of_datum(datum).is_some(),
            Self::Variable(_, of) | Self::Field(_, _, of) => is_type(of),
            Self::Item(_, of, subscript) => is_type(of) && subscript.fits(),
            Self::Length(..) => true,
            Self::Apply(operation, left, right) => {
                operation.is_of_registers() && left.fits() && right.fits()
            }
            Self::Convert(conversion, part) => {
                use Conversion::{Absolute, Double, Integer};
                matches!(conversion, Integer(_) | Double | Absolute(_)) && part.fits()
            }
            Self::And(parts) | Self::Or(parts) | Self::Coalesce(parts) => {
                parts.iter().all(Self::fits)
            }
            Self::Not(part) | Self::IsNull(part, _) | Self::IsTruth(part, ..) => part.fits(),
            Self::Case(branches, otherwise) => {
                otherwise.fits() && branches.iter().all(|(when, then)| when.fits() && then.fits())
            }
            Self::Call(..)
            | Self::Join(..)
            | Self::IsDistinct(..)
            | Self::NullIf(..)
            | Self::Extreme(..) => false,
        }
    }

    /// As [`Self::register`], of an operand: mostly a variable or a constant.
    #[inline]
    fn operand<'v>(&self, variable: Variable<'_, 'v>) -> Option<Register> {
        match self {
            Self::Variable(place, of) => of_scalar(&variable(*place)?.scalar, of),
            Self::Constant(datum) => of_datum(datum),
            part => part.register(variable),
        }
    }

    fn register<'v>(&self, variable: Variable<'_, 'v>) -> Option<Register> {
        Some(match self {
            Self::Constant(datum) => of_datum(datum)?,
            Self::Variable(place, of) => of_scalar(&variable(*place)?.scalar, of)?,
            Self::Apply(operation, left, right) => {
                applied(*operation, left.operand(variable)?, right.operand(variable)?)?
            }
            Self::Convert(conversion, part) => match part.operand(variable)? {
                null if null.kind() == Kind::Null => Register::NULL,
                value => of_datum(&conversion.apply(datum(value)).ok()??)?,
            },
            Self::Item(place, of, subscript) => match subscript.operand(variable)? {
                at if at.kind() == Kind::Integer => {
                    of_datum(&lists::item(&variable(*place)?.scalar, at.integer(), of)?)?
                }
                _ => return None,
            },
            Self::Field(place, field, of) => {
                of_datum(&lists::field(&variable(*place)?.scalar, *field, of)?)?
            }
            Self::Length(place, is_cardinality) => {
                of_datum(&lists::length(&variable(*place)?.scalar, *is_cardinality)?)?
            }
            other => other.tested(variable)?,
        })
    }

    /// The value of a test, or of one of several parts.
    fn tested<'v>(&self, variable: Variable<'_, 'v>) -> Option<Register> {
        match self {
            Self::And(parts) => decided(parts, false, variable),
            Self::Or(parts) => decided(parts, true, variable),
            Self::Not(part) => Some(match part.register(variable)? {
                value if value.kind() == Kind::Truth => Register::of_truth(!value.is_true()),
                _ => Register::NULL,
            }),
            Self::IsNull(part, wanted) => {
                let is_null = part.operand(variable)?.kind() == Kind::Null;
                Some(Register::of_truth(is_null == *wanted))
            }
            Self::IsTruth(part, truth, wanted) => {
                let asked = truth.map_or(Register::NULL, Register::of_truth);
                Some(Register::of_truth((part.operand(variable)? == asked) == *wanted))
            }
            Self::Case(branches, otherwise) => {
                for (when, then) in branches {
                    if when.register(variable)?.is_true() {
                        return then.register(variable);
                    }
                }
                otherwise.register(variable)
            }
            Self::Coalesce(parts) => {
                for part in parts {
                    let value = part.register(variable)?;
                    if value.kind() != Kind::Null {
                        return Some(value);
                    }
                }
                Some(Register::NULL)
            }
            _ => None,
        }
    }
}

/// OR of conditions, of which one that is `decisive` decides; AND for one that is false.
fn decided<'v>(parts: &[Node], decisive: bool, variable: Variable<'_, 'v>) -> Option<Register> {
    let mut result = Register::of_truth(!decisive);
    for part in parts {
        match part.register(variable)? {
            value if value == Register::of_truth(decisive) => return Some(value),
            value if value.kind() == Kind::Truth => {}
            _ => result = Register::NULL,
        }
    }
    Some(result)
}

/// The result of an operator.
#[inline]
fn applied(operation: Operation, left: Register, right: Register) -> Option<Register> {
    Some(match (operation, left.kind(), right.kind()) {
        (_, Kind::Null, _) | (_, _, Kind::Null) => Register::NULL,
        (Operation::Integers(how, size), Kind::Integer, Kind::Integer) => {
            Register::of_integer(how.apply(left.integer(), right.integer(), size).ok()?)
        }
        (Operation::Numbers(how), Kind::Double, Kind::Double) => {
            Register::of_double(floats::apply(how, left.double(), right.double()).ok()??)
        }
        (Operation::Compare(how), Kind::Integer, Kind::Integer) => {
            Register::of_truth(how.holds(left.integer().cmp(&right.integer())))
        }
        (Operation::Compare(how), Kind::Double, Kind::Double) => {
            Register::of_truth(how.holds(floats::order(left.double(), right.double())))
        }
        (Operation::Compare(how), Kind::Truth, Kind::Truth) => {
            Register::of_truth(how.holds(left.is_true().cmp(&right.is_true())))
        }
        (Operation::Calendar(how), Kind::Integer, Kind::Integer) => {
            of_datum(&how.apply(&datum(left), &datum(right))?)?
        }
        _ => return None,
    })
}

/// Whether values of a type fit into registers.
fn is_type(of: &SqlType) -> bool {
    use SqlType as T;
    match of {
        T::SmallInt | T::Integer | T::BigInt | T::Boolean | T::Double => true,
        T::Date | T::Timestamp | T::TimestampTz => true,
        _ => false,
    }
}

/// A value of such a type. `None` if it is of another one.
#[inline]
fn of_scalar(value: &ScalarValue, of: &SqlType) -> Option<Register> {
    use ScalarValue as V;
    let integer = |value: Option<i64>| value.map_or(Register::NULL, Register::of_integer);
    Some(match (value, of) {
        (V::Int32(value), SqlType::Integer) => integer(value.map(i64::from)),
        (V::Int64(value), SqlType::BigInt) => integer(*value),
        (V::Int16(value), SqlType::SmallInt) => integer(value.map(i64::from)),
        (V::Boolean(value), SqlType::Boolean) => value.map_or(Register::NULL, Register::of_truth),
        (V::Float64(value), SqlType::Double) => value.map_or(Register::NULL, Register::of_double),
        (V::Date32(value), SqlType::Date) => integer(value.map(i64::from)),
        (V::TimestampMicrosecond(value, _), SqlType::Timestamp | SqlType::TimestampTz) => {
            integer(*value)
        }
        _ => return None,
    })
}

/// A plain value. `None` if it does not fit.
fn of_datum(value: &Datum<'_>) -> Option<Register> {
    Some(match value {
        Datum::Null => Register::NULL,
        Datum::Truth(value) => Register::of_truth(*value),
        Datum::Integer(value) => Register::of_integer(*value),
        Datum::Double(value) => Register::of_double(*value),
        Datum::Number(..) | Datum::Text(_) | Datum::Span(_) => return None,
    })
}

fn datum(value: Register) -> Datum<'static> {
    match value.kind() {
        Kind::Null => Datum::Null,
        Kind::Truth => Datum::Truth(value.is_true()),
        Kind::Integer => Datum::Integer(value.integer()),
        Kind::Double => Datum::Double(value.double()),
    }
}
