//! Arithmetic on floating-point numbers: errors where the engine returns infinity, zero or NaN for finite numbers.
//!
//! NaN is always the positive one, since numbers are ordered by their bits.

use datafusion::arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray};
use datafusion::arrow::compute::{binary, unary};
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue, plan_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, ExprSchemable, Operator, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility,
};
use std::sync::{Arc, LazyLock};
use values::error::{Error, SqlState};
use values::translate::external;

/// A floating-point number.
trait Float: Copy + PartialEq {
    const ZERO: Self;
    const NAN: Self;
    fn is_nan(self) -> bool;
    fn is_infinite(self) -> bool;
    fn compute(self, operation: Operation, other: Self) -> Self;
}

macro_rules! float {
    ($type:ty) => {
        impl Float for $type {
            const ZERO: Self = 0.0;
            const NAN: Self = <$type>::NAN;

            fn is_nan(self) -> bool {
                self.is_nan()
            }

            fn is_infinite(self) -> bool {
                self.is_infinite()
            }

            fn compute(self, operation: Operation, other: Self) -> Self {
                match operation {
                    Operation::Add => self + other,
                    Operation::Subtract => self - other,
                    Operation::Multiply => self * other,
                    Operation::Divide => self / other,
                    Operation::Negate => -self,
                }
            }
        }
    };
}

float!(f32);
float!(f64);

/// An arithmetic operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Negate,
}

use Operation::{Add, Divide, Multiply, Negate, Subtract};

const OPERATIONS: [Operation; 5] = [Add, Subtract, Multiply, Divide, Negate];

impl Operation {
    fn of(operator: Operator) -> Option<Self> {
        match operator {
            Operator::Plus => Some(Add),
            Operator::Minus => Some(Subtract),
            Operator::Multiply => Some(Multiply),
            Operator::Divide => Some(Divide),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Add => "float_add",
            Subtract => "float_subtract",
            Multiply => "float_multiply",
            Divide => "float_divide",
            Negate => "float_negate",
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Add => "+",
            Subtract | Negate => "-",
            Multiply => "*",
            Divide => "/",
        }
    }

    fn function(self) -> Arc<ScalarUDF> {
        static ALL: LazyLock<[Arc<ScalarUDF>; 5]> = LazyLock::new(|| {
            OPERATIONS.map(|operation| {
                let signature = Signature::user_defined(Volatility::Immutable);
                Arc::new(ScalarUDF::new_from_impl(Arithmetic { operation, signature }))
            })
        });
        Arc::clone(&ALL[self as usize])
    }

    /// The error of a result, if it is one.
    fn refuse<F: Float>(self, left: F, right: F, result: F) -> Option<Error> {
        if self == Divide && right == F::ZERO && !left.is_nan() {
            return Some(Error::new(SqlState::DivisionByZero, "division by zero"));
        }
        let was_infinite = left.is_infinite() || right.is_infinite();
        if result.is_infinite() && !was_infinite {
            return Some(out_of_range("overflow"));
        }
        let is_zero = result == F::ZERO && left != F::ZERO;
        let underflows = match self {
            Multiply => is_zero && right != F::ZERO,
            Divide => is_zero && !right.is_infinite(),
            _ => false,
        };
        underflows.then(|| out_of_range("underflow"))
    }
}

pub(super) fn out_of_range(how: &str) -> Error {
    Error::new(SqlState::NumericValueOutOfRange, format!("value out of range: {how}"))
}

/// The number that stands for all NaNs, or the number itself: a zero keeps its sign.
fn canonical<F: Float>(value: F) -> F {
    if value.is_nan() { F::NAN } else { value }
}

fn compute<T>(operation: Operation, args: &[ArrayRef]) -> Result<ArrayRef>
where
    T: ArrowPrimitiveType,
    T::Native: Float,
{
    let left: &PrimitiveArray<T> = args[0].as_primitive();
    if operation == Negate {
        let values: PrimitiveArray<T> =
            unary(left, |value| canonical(value.compute(Negate, value)));
        return Ok(Arc::new(values));
    }
    let right: &PrimitiveArray<T> = args[1].as_primitive();
    let values: PrimitiveArray<T> =
        binary(left, right, |left, right| canonical(left.compute(operation, right)))?;
    // Most results are neither infinite nor zero: one pass tells.
    let is_suspect = |value: T::Native| value.is_infinite() || value == T::Native::ZERO;
    let divides = operation == Divide;
    if divides || values.values().iter().any(|value| is_suspect(*value)) {
        for row in (0..values.len()).filter(|row| values.is_valid(*row)) {
            let refused = operation.refuse(left.value(row), right.value(row), values.value(row));
            if let Some(error) = refused {
                return Err(external(error));
            }
        }
    }
    Ok(Arc::new(values))
}

/// An operation as a function.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Arithmetic {
    operation: Operation,
    signature: Signature,
}

impl Arithmetic {
    fn shown(&self, arguments: Vec<String>) -> String {
        let sign = self.operation.sign();
        match &arguments[..] {
            [left, right] => format!("{left} {sign} {right}"),
            _ => format!("{sign}{}", arguments.join(", ")),
        }
    }
}

impl ScalarUDFImpl for Arithmetic {
    fn name(&self) -> &str {
        self.operation.name()
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        Ok(self.shown(args.iter().map(|arg| arg.to_string()).collect()))
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(self.shown(args.iter().map(|arg| arg.schema_name().to_string()).collect()))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let is_single = types.iter().all(|of| *of == DataType::Float32);
        let wanted = if is_single { DataType::Float32 } else { DataType::Float64 };
        Ok(vec![wanted; types.len()])
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types.first() {
            Some(first) => Ok(first.clone()),
            None => plan_err!("{} needs an argument", self.name()),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let result = match args.return_type() {
            DataType::Float32 => compute::<Float32Type>(self.operation, &arrays)?,
            _ => compute::<Float64Type>(self.operation, &arrays)?,
        };
        if constant {
            Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?))
        } else {
            Ok(ColumnarValue::Array(result))
        }
    }
}

/// The functions that replace operators.
pub(crate) fn all() -> [Arc<ScalarUDF>; 5] {
    OPERATIONS.map(Operation::function)
}

/// Replaces the engine's arithmetic where an operand is a floating-point number.
#[derive(Debug)]
pub(crate) struct CheckedFloats;

impl FunctionRewrite for CheckedFloats {
    fn name(&self) -> &str {
        "checked_floats"
    }

    fn rewrite(
        &self,
        expr: Expr,
        schema: &DFSchema,
        _: &ConfigOptions,
    ) -> Result<Transformed<Expr>> {
        match expr {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                let operation = Operation::of(op).filter(|_| {
                    let types = (left.get_type(schema), right.get_type(schema));
                    let (Ok(left), Ok(right)) = types else { return false };
                    left.is_numeric()
                        && right.is_numeric()
                        && (left.is_floating() || right.is_floating())
                });
                match operation {
                    Some(operation) => Ok(Transformed::yes(call(operation, vec![*left, *right]))),
                    None => Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right }))),
                }
            }
            Expr::Negative(inner) if inner.get_type(schema).is_ok_and(|of| of.is_floating()) => {
                Ok(Transformed::yes(call(Negate, vec![*inner])))
            }
            other => Ok(Transformed::no(other)),
        }
    }
}

fn call(operation: Operation, arguments: Vec<Expr>) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(operation.function(), arguments))
}
