//! Integer arithmetic with overflow checks: the engine's own wraps around.
//!
//! [`Checked`] replaces `+`, `-`, `*` and negation of integers. The result has the wider of the two types, as in PostgreSQL.

use datafusion::arrow::array::{ArrayRef, Datum};
use datafusion::arrow::compute::kernels::numeric::{add, mul, neg, sub};
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::error::ArrowError;
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

/// An arithmetic operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Operation {
    Add,
    Subtract,
    Multiply,
    Negate,
}

impl Operation {
    fn of(operator: Operator) -> Option<Self> {
        match operator {
            Operator::Plus => Some(Self::Add),
            Operator::Minus => Some(Self::Subtract),
            Operator::Multiply => Some(Self::Multiply),
            _ => None,
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract | Self::Negate => "-",
            Self::Multiply => "*",
        }
    }

    fn function(self) -> Arc<ScalarUDF> {
        static ALL: LazyLock<[Arc<ScalarUDF>; 4]> = LazyLock::new(|| {
            [Operation::Add, Operation::Subtract, Operation::Multiply, Operation::Negate].map(
                |operation| {
                    let signature = Signature::user_defined(Volatility::Immutable);
                    Arc::new(ScalarUDF::new_from_impl(Arithmetic { operation, signature }))
                },
            )
        });
        Arc::clone(&ALL[self as usize])
    }

    fn evaluate(self, values: &[&dyn Datum]) -> Result<ArrayRef, ArrowError> {
        match (self, values) {
            (Self::Add, [left, right]) => add(*left, *right),
            (Self::Subtract, [left, right]) => sub(*left, *right),
            (Self::Multiply, [left, right]) => mul(*left, *right),
            (_, values) => neg(values[0].get().0),
        }
    }

    fn arguments(self) -> usize {
        if self == Self::Negate { 1 } else { 2 }
    }
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
        match self.operation {
            Operation::Add => "integer_add",
            Operation::Subtract => "integer_subtract",
            Operation::Multiply => "integer_multiply",
            Operation::Negate => "integer_negate",
        }
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
        match types.iter().max_by_key(|data_type| width(data_type)) {
            Some(widest)
                if types.len() == self.operation.arguments() && types.iter().all(is_integer) =>
            {
                Ok(vec![widest.clone(); types.len()])
            }
            _ => plan_err!("{} takes integers", self.name()),
        }
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types.first() {
            Some(first) => Ok(first.clone()),
            None => plan_err!("{} needs an argument", self.name()),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let scalars = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let values = args.args.iter().map(|arg| match arg {
            ColumnarValue::Array(array) => Ok(Box::new(Arc::clone(array)) as Box<dyn Datum>),
            ColumnarValue::Scalar(scalar) => Ok(Box::new(scalar.to_scalar()?) as Box<dyn Datum>),
        });
        let values = values.collect::<Result<Vec<_>>>()?;
        let values: Vec<&dyn Datum> = values.iter().map(AsRef::as_ref).collect();
        let result = self.operation.evaluate(&values).map_err(|error| match error {
            ArrowError::ArithmeticOverflow(_) => external(out_of_range(args.return_type())),
            other => other.into(),
        })?;
        if scalars {
            Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?))
        } else {
            Ok(ColumnarValue::Array(result))
        }
    }
}

/// The functions that replace operators.
pub(crate) fn all() -> [Arc<ScalarUDF>; 4] {
    use Operation::{Add, Multiply, Negate, Subtract};
    [Add, Subtract, Multiply, Negate].map(Operation::function)
}

fn out_of_range(data_type: &DataType) -> Error {
    let name = match data_type {
        DataType::Int8 | DataType::Int16 => "smallint",
        DataType::Int32 => "integer",
        _ => "bigint",
    };
    Error::new(SqlState::NumericValueOutOfRange, format!("{name} out of range"))
}

fn width(data_type: &DataType) -> usize {
    data_type.primitive_width().unwrap_or(0)
}

fn is_integer(data_type: &DataType) -> bool {
    data_type.is_signed_integer()
}

/// Replaces the engine's arithmetic on integers.
#[derive(Debug)]
pub(crate) struct Checked;

impl FunctionRewrite for Checked {
    fn name(&self) -> &str {
        "checked_arithmetic"
    }

    fn rewrite(
        &self,
        expr: Expr,
        schema: &DFSchema,
        _: &ConfigOptions,
    ) -> Result<Transformed<Expr>> {
        let integer = |expr: &Expr| expr.get_type(schema).is_ok_and(|known| is_integer(&known));
        match expr {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => match Operation::of(op) {
                Some(operation) if integer(&left) && integer(&right) => {
                    Ok(Transformed::yes(call(operation, vec![*left, *right])))
                }
                _ => Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right }))),
            },
            Expr::Negative(inner) if integer(&inner) => {
                Ok(Transformed::yes(call(Operation::Negate, vec![*inner])))
            }
            other => Ok(Transformed::no(other)),
        }
    }
}

fn call(operation: Operation, arguments: Vec<Expr>) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(operation.function(), arguments))
}
