//! Programs of expressions, which are computed without the statement around.

use crate::evaluation::Compiled;
use crate::scalar::Scalar;
use crate::value::Value;
use plpgsql::Compute;
use std::sync::Arc;
use values::error::Result;

/// What computes an expression.
#[derive(Debug)]
pub enum Program {
    /// One of plain values.
    Scalar(Arc<Scalar>),
    /// One that the engine computes.
    Compiled(Arc<Compiled>),
}

impl Compute<Value> for Program {
    fn compute<'v>(&self, variable: &dyn Fn(usize) -> Option<&'v Value>) -> Option<Result<Value>>
    where
        Value: 'v,
    {
        match self {
            Self::Scalar(scalar) => scalar.value(variable),
            Self::Compiled(compiled) => compiled.value_of(variable).transpose(),
        }
    }

    fn variables(&self) -> Vec<usize> {
        match self {
            Self::Scalar(scalar) => scalar.read(),
            Self::Compiled(compiled) => compiled.read(),
        }
    }
}
