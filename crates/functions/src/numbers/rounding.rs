//! `floor`, `ceil`, `trunc` and `round`: numerics with the requested scale, floating-point numbers rounded half to even.
//!
//! The engine's functions keep the scale and precision of the argument, so that 99.5 cannot be
//! rounded up. If the number of digits is not constant, the result has the scale of the argument,
//! since a column has one scale. Other types are left to the engine.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, Int64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DataType, Decimal128Type, Field, FieldRef, Float64Type,
};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions::math;
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use std::sync::Arc;
use values::error::{Error, SqlState};
use values::translate::external;

/// The maximum precision of a numeric.
const DIGITS_MAX: i64 = DECIMAL128_MAX_PRECISION as i64;

/// The functions.
pub(super) fn all() -> Vec<ScalarUDF> {
    let signature = || Signature::user_defined(Volatility::Immutable);
    let of = move |engine| ScalarUDF::new_from_impl(Rounded { engine, signature: signature() });
    [math::floor(), math::ceil(), math::trunc(), math::round()].map(of).into()
}

/// A rounding function that replaces one of the engine's.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Rounded {
    engine: Arc<ScalarUDF>,
    signature: Signature,
}

impl ScalarUDFImpl for Rounded {
    fn name(&self) -> &str {
        self.engine.name()
    }

    fn aliases(&self) -> &[String] {
        self.engine.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        match types {
            [DataType::Decimal128(..)] => Ok(types.to_vec()),
            [DataType::Decimal128(..), digits] if digits.is_integer() => Ok(types.to_vec()),
            _ => {
                let field = |of: &DataType| match of {
                    // There are no variants for single precision.
                    DataType::Float32 => Arc::new(Field::new("", DataType::Float64, true)),
                    other => Arc::new(Field::new("", other.clone(), true)),
                };
                let fields: Vec<FieldRef> = types.iter().map(field).collect();
                let fields = fields_with_udf(&fields, self.engine.as_ref())?;
                Ok(fields.iter().map(|field| field.data_type().clone()).collect())
            }
        }
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.engine.return_type(types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let DataType::Decimal128(precision, scale) = args.arg_fields[0].data_type() else {
            return self.engine.return_field_from_args(args);
        };
        let digits = match args.scalar_arguments.get(1) {
            None => Some(0),
            Some(Some(digits)) => whole_number(digits)?,
            Some(None) => None,
        };
        let (precision, scale) = form((*precision, *scale), digits);
        let nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        let of = DataType::Decimal128(precision, scale);
        Ok(Arc::new(Field::new(self.name(), of, nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let of = args.args[0].data_type();
        let rounds_floats =
            of == DataType::Float64 && self.name() == "round" && args.args.len() == 1;
        if !rounds_floats && !matches!(of, DataType::Decimal128(..)) {
            return self.engine.invoke_with_args(args);
        }
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let result = if rounds_floats {
            to_even(&arrays[0])
        } else {
            self.decimals(&arrays, args.return_type())?
        };
        if constant {
            Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?))
        } else {
            Ok(ColumnarValue::Array(result))
        }
    }
}

/// A constant number of digits; `None` for NULL.
fn whole_number(digits: &ScalarValue) -> Result<Option<i64>> {
    match digits.cast_to(&DataType::Int64)? {
        ScalarValue::Int64(digits) => Ok(digits),
        _ => Ok(None),
    }
}

/// Precision and scale of a result; `digits` is `None` if it is not constant.
fn form((precision, scale): (u8, i8), digits: Option<i64>) -> (u8, i8) {
    // One more digit, since 9.9 becomes 10.
    let whole = (i64::from(precision) - i64::from(scale) + 1).min(DIGITS_MAX);
    let scale = i64::from(scale.max(0));
    let after = match digits {
        None => scale,
        Some(digits) => digits.clamp(0, scale.max(DIGITS_MAX - whole)),
    };
    let precision = (whole + after).clamp(1, DIGITS_MAX);
    (u8::try_from(precision).unwrap_or(DECIMAL128_MAX_PRECISION), i8::try_from(after).unwrap_or(0))
}

fn to_even(values: &ArrayRef) -> ArrayRef {
    let values = values.as_primitive::<Float64Type>();
    Arc::new(values.unary::<_, Float64Type>(f64::round_ties_even))
}

impl Rounded {
    fn decimals(&self, args: &[ArrayRef], returns: &DataType) -> Result<ArrayRef> {
        let values = args[0].as_primitive::<Decimal128Type>();
        let from = i64::from(values.scale());
        let to = match returns {
            DataType::Decimal128(_, to) => i64::from(*to),
            _ => from,
        };
        let digits = match args.get(1) {
            None => None,
            Some(digits) => Some(cast(digits, &DataType::Int64)?),
        };
        let digits: Option<&Int64Array> = digits.as_ref().map(|digits| digits.as_primitive());
        let rounded = (0..values.len()).map(|row| {
            if values.is_null(row) || digits.is_some_and(|digits| digits.is_null(row)) {
                return Ok(None);
            }
            let digits = digits.map_or(0, |digits| digits.value(row));
            let at = from.saturating_sub(digits);
            self.at(values.value(row), at).and_then(|value| shifted(value, to - from)).map(Some)
        });
        let rounded = rounded.collect::<Result<Decimal128Array>>()?;
        Ok(Arc::new(rounded.with_data_type(returns.clone())))
    }

    /// A value with its last digits, `last` of them, rounded to zeros.
    fn at(&self, value: i128, last: i64) -> Result<i128> {
        let Some(one) = power(last) else {
            return if last > 0 { Ok(0) } else { Ok(value) };
        };
        let whole = match self.name() {
            "floor" => value.div_euclid(one),
            "ceil" => -(-value).div_euclid(one),
            "round" if (value % one).unsigned_abs() >= one.unsigned_abs().div_ceil(2) => {
                value / one + value.signum()
            }
            _ => value / one,
        };
        whole.checked_mul(one).ok_or_else(too_large)
    }
}

/// Ten to a positive power; `None` for other powers and on overflow.
fn power(exponent: i64) -> Option<i128> {
    let exponent = u32::try_from(exponent).ok().filter(|exponent| *exponent > 0)?;
    10_i128.checked_pow(exponent)
}

/// An unscaled value after adding digits to its scale, or removing them.
fn shifted(value: i128, digits: i64) -> Result<i128> {
    match (power(digits), power(-digits)) {
        (Some(more), _) => value.checked_mul(more).ok_or_else(too_large),
        (_, Some(fewer)) => Ok(value / fewer),
        (None, None) => Ok(value),
    }
}

fn too_large() -> datafusion::common::DataFusionError {
    let message = "value overflows numeric format";
    let error = Error::new(SqlState::NumericValueOutOfRange, message);
    external(error.with_hint("A numeric has at most 38 digits."))
}
