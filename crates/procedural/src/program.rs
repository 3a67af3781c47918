//! Programs of expressions, which are computed without the statement around.

use crate::evaluation::Compiled;
use crate::scalar::{Caller, Scalar};
use crate::value::Value;
use plpgsql::{Compute, Register};
use std::sync::Arc;
use values::error::Result;

/// What computes an expression.
pub enum Program {
    /// One of plain values.
    Scalar(Arc<Scalar>),
    /// One of plain values, whose functions of users somebody calls.
    Calling(Arc<Scalar>, Arc<dyn Caller>),
    /// One that the engine computes.
    Compiled(Arc<Compiled>),
}

impl Program {
    /// Whether it has the same meaning in every statement.
    pub(crate) fn is_lasting(&self) -> bool {
        match self {
            Self::Scalar(_) => true,
            Self::Calling(..) => false,
            Self::Compiled(compiled) => compiled.is_lasting(),
        }
    }
}

impl Compute<Value> for Program {
    fn compute<'v>(&self, variable: &dyn Fn(usize) -> Option<&'v Value>) -> Option<Result<Value>>
    where
        Value: 'v,
    {
        match self {
            Self::Scalar(scalar) => scalar.value(variable),
            Self::Calling(scalar, caller) => scalar.value_calling(variable, &**caller),
            Self::Compiled(compiled) => compiled.value_of(variable).transpose(),
        }
    }

    fn register<'v>(&self, variable: &dyn Fn(usize) -> Option<&'v Value>) -> Option<Register>
    where
        Value: 'v,
    {
        match self {
            Self::Scalar(scalar) => scalar.register(variable),
            Self::Calling(..) | Self::Compiled(_) => None,
        }
    }

    fn put(&self, new: Register, value: &mut Value) -> bool {
        match self {
            Self::Scalar(scalar) => scalar.put(new, value),
            Self::Calling(..) | Self::Compiled(_) => false,
        }
    }

    fn put_item(&self, new: Register, at: i64, array: &mut Value) -> Result<bool> {
        match self {
            Self::Scalar(scalar) => scalar.put_item(new, at, array),
            Self::Calling(..) | Self::Compiled(_) => Ok(false),
        }
    }

    fn variables(&self) -> Vec<usize> {
        match self {
            Self::Scalar(scalar) | Self::Calling(scalar, _) => scalar.read(),
            Self::Compiled(compiled) => compiled.read(),
        }
    }

    fn is_pure(&self) -> bool {
        match self {
            Self::Scalar(_) => true,
            // Its functions may be volatile.
            Self::Calling(..) => false,
            Self::Compiled(compiled) => compiled.is_lasting(),
        }
    }

    fn extends(&self) -> Option<usize> {
        match self {
            Self::Scalar(scalar) => scalar.extends(),
            // Its functions would be called again if the variable could not become longer.
            Self::Calling(..) | Self::Compiled(_) => None,
        }
    }

    fn extension<'v>(&self, variable: &dyn Fn(usize) -> Option<&'v Value>) -> Option<Result<Value>>
    where
        Value: 'v,
    {
        match self {
            Self::Scalar(scalar) => scalar.extension(variable),
            Self::Calling(..) | Self::Compiled(_) => None,
        }
    }

    fn extend(&self, value: &mut Value, more: Value) -> Result<bool> {
        match self {
            Self::Scalar(_) => Scalar::extend(value, more),
            Self::Calling(..) | Self::Compiled(_) => Ok(false),
        }
    }
}
