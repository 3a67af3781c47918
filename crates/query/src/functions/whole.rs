//! `floor`, `ceil` and `trunc` of a numeric: whole numbers, without digits after the point.
//!
//! The engine's own keep as many zeros there as the argument has digits, and what is computed from them keeps them
//! too, and have no room for 99.5 rounded up. Other types, and `trunc` to so many digits, are the engine's.

use datafusion::arrow::array::{AsArray, Decimal128Array};
use datafusion::arrow::datatypes::{DataType, Decimal128Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions::math;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};
use std::sync::Arc;

/// The functions.
pub(super) fn all() -> impl Iterator<Item = ScalarUDF> {
    let of = |engine| ScalarUDF::new_from_impl(Whole { engine });
    [math::floor(), math::ceil(), math::trunc()].into_iter().map(of)
}

/// A function of the engine whose numerics are whole.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Whole {
    engine: Arc<ScalarUDF>,
}

impl ScalarUDFImpl for Whole {
    fn name(&self) -> &str {
        self.engine.name()
    }

    fn aliases(&self) -> &[String] {
        self.engine.aliases()
    }

    fn signature(&self) -> &Signature {
        self.engine.signature()
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.engine.coerce_types(types)
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [DataType::Decimal128(precision, scale)] if *scale > 0 => {
                // One digit more, since 9.9 becomes 10.
                let whole = precision.saturating_sub(scale.unsigned_abs()) + 1;
                Ok(DataType::Decimal128(whole, 0))
            }
            _ => self.engine.return_type(types),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (returns, argument) = (args.return_type().clone(), args.args[0].clone());
        let (DataType::Decimal128(_, scale), 1) = (argument.data_type(), args.args.len()) else {
            return self.engine.invoke_with_args(args);
        };
        if scale <= 0 {
            return self.engine.invoke_with_args(args);
        }
        let array = argument.to_array(args.number_rows)?;
        let one = 10_i128.pow(scale.unsigned_abs().into());
        let values = array.as_primitive::<Decimal128Type>();
        let values: Decimal128Array = values.unary(|value| self.whole(value, one));
        let values = values.with_data_type(returns);
        match argument {
            ColumnarValue::Scalar(_) => {
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&values, 0)?))
            }
            ColumnarValue::Array(_) => Ok(ColumnarValue::Array(Arc::new(values))),
        }
    }
}

impl Whole {
    /// How many times there is `one` in a value.
    fn whole(&self, value: i128, one: i128) -> i128 {
        match self.name() {
            "floor" => value.div_euclid(one),
            "ceil" => -(-value).div_euclid(one),
            _ => value / one,
        }
    }
}
