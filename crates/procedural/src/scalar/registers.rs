//! Expressions of integers, double precision numbers and truth values, computed in registers.
//!
//! They need no memory, and no [`Datum`]. What is an error or not known has no value here: it is computed again as other
//! expressions are, and that says why. An expression of plain values does nothing else, so that this is the same.

use super::conversion::Conversion;
use super::datum::Datum;
use super::operation::Operation;
use super::{Node, Root, Scalar, floats, lists};
use crate::value::Value;
use datafusion::common::ScalarValue;
use plpgsql::Register;
use store::catalog::SqlType;

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
        if value.of != self.of {
            return false;
        }
        match (&mut value.scalar, new) {
            (V::Int16(old), Register::Integer(new)) => match i16::try_from(new) {
                Ok(new) => *old = Some(new),
                Err(_) => return false,
            },
            (V::Int32(old), Register::Integer(new)) => match i32::try_from(new) {
                Ok(new) => *old = Some(new),
                Err(_) => return false,
            },
            (V::Int64(old), Register::Integer(new)) => *old = Some(new),
            (V::Boolean(old), Register::Truth(new)) => *old = Some(new),
            (V::Float64(old), Register::Double(new)) => *old = Some(new),
            _ => return false,
        }
        true
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
                use Operation::{Compare, Integers, Numbers};
                let is_known = matches!(operation, Integers(..) | Numbers(_) | Compare(_));
                is_known && left.fits() && right.fits()
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

    fn register<'v>(&self, variable: Variable<'_, 'v>) -> Option<Register> {
        Some(match self {
            Self::Constant(datum) => of_datum(datum)?,
            Self::Variable(place, of) => of_scalar(&variable(*place)?.scalar, of)?,
            Self::Apply(operation, left, right) => {
                applied(*operation, left.register(variable)?, right.register(variable)?)?
            }
            Self::Convert(conversion, part) => match part.register(variable)? {
                Register::Null => Register::Null,
                value => of_datum(&conversion.apply(datum(value)).ok()??)?,
            },
            Self::Item(place, of, subscript) => match subscript.register(variable)? {
                Register::Integer(at) => {
                    of_datum(&lists::item(&variable(*place)?.scalar, at, of)?)?
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
                Register::Truth(truth) => Register::Truth(!truth),
                _ => Register::Null,
            }),
            Self::IsNull(part, wanted) => {
                let is_null = part.register(variable)? == Register::Null;
                Some(Register::Truth(is_null == *wanted))
            }
            Self::IsTruth(part, truth, wanted) => {
                let asked = truth.map_or(Register::Null, Register::Truth);
                Some(Register::Truth((part.register(variable)? == asked) == *wanted))
            }
            Self::Case(branches, otherwise) => {
                for (when, then) in branches {
                    if when.register(variable)? == Register::Truth(true) {
                        return then.register(variable);
                    }
                }
                otherwise.register(variable)
            }
            Self::Coalesce(parts) => {
                for part in parts {
                    let value = part.register(variable)?;
                    if value != Register::Null {
                        return Some(value);
                    }
                }
                Some(Register::Null)
            }
            _ => None,
        }
    }
}

/// OR of conditions, of which one that is `decisive` decides; AND for one that is false.
fn decided<'v>(parts: &[Node], decisive: bool, variable: Variable<'_, 'v>) -> Option<Register> {
    let mut result = Register::Truth(!decisive);
    for part in parts {
        match part.register(variable)? {
            value if value == Register::Truth(decisive) => return Some(value),
            Register::Truth(_) => {}
            _ => result = Register::Null,
        }
    }
    Some(result)
}

/// The result of an operator.
fn applied(operation: Operation, left: Register, right: Register) -> Option<Register> {
    use Register::{Double, Integer, Null, Truth};
    Some(match (operation, left, right) {
        (_, Null, _) | (_, _, Null) => Null,
        (Operation::Integers(how, size), Integer(left), Integer(right)) => {
            Integer(how.apply(left, right, size).ok()?)
        }
        (Operation::Numbers(how), Double(left), Double(right)) => {
            Double(floats::apply(how, left, right).ok()??)
        }
        (Operation::Compare(how), Integer(left), Integer(right)) => {
            Truth(how.holds(left.cmp(&right)))
        }
        (Operation::Compare(how), Double(left), Double(right)) => {
            Truth(how.holds(floats::order(left, right)))
        }
        (Operation::Compare(how), Truth(left), Truth(right)) => Truth(how.holds(left.cmp(&right))),
        _ => return None,
    })
}

/// Whether values of a type fit into registers.
fn is_type(of: &SqlType) -> bool {
    use SqlType as T;
    matches!(of, T::SmallInt | T::Integer | T::BigInt | T::Boolean | T::Double)
}

/// A value of such a type. `None` if it is of another one.
fn of_scalar(value: &ScalarValue, of: &SqlType) -> Option<Register> {
    use ScalarValue as V;
    let integer = |value: Option<i64>| value.map_or(Register::Null, Register::Integer);
    Some(match (value, of) {
        (V::Int32(value), SqlType::Integer) => integer(value.map(i64::from)),
        (V::Int64(value), SqlType::BigInt) => integer(*value),
        (V::Int16(value), SqlType::SmallInt) => integer(value.map(i64::from)),
        (V::Boolean(value), SqlType::Boolean) => value.map_or(Register::Null, Register::Truth),
        (V::Float64(value), SqlType::Double) => value.map_or(Register::Null, Register::Double),
        _ => return None,
    })
}

/// A plain value. `None` if it does not fit.
fn of_datum(value: &Datum<'_>) -> Option<Register> {
    Some(match value {
        Datum::Null => Register::Null,
        Datum::Truth(value) => Register::Truth(*value),
        Datum::Integer(value) => Register::Integer(*value),
        Datum::Double(value) => Register::Double(*value),
        Datum::Number(..) | Datum::Text(_) | Datum::Span(_) => return None,
    })
}

fn datum(value: Register) -> Datum<'static> {
    match value {
        Register::Null => Datum::Null,
        Register::Truth(value) => Datum::Truth(value),
        Register::Integer(value) => Datum::Integer(value),
        Register::Double(value) => Datum::Double(value),
    }
}
