//! Arithmetic on numbers.

use super::{Make, Table, quotients, take};
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::{Oid, SqlType};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::type_coercion::binary::BinaryTypeCoercer;
use datafusion::logical_expr::{Expr, Operator, binary_expr, cast};

use functions::numbers::decimals::is_wide_product;
use values::error::Error;

pub(super) const TABLE: Table = &[
    (
        "+(int2,int2) +(int2,int4) +(int2,int8) +(int4,int2) +(int4,int4) +(int4,int8) +(int8,int2) +(int8,int4) \
         +(int8,int8) +(float4,float4) +(float4,float8) +(float8,float4) +(float8,float8) +(numeric,numeric)",
        Make::Arithmetic(Operator::Plus),
    ),
    (
        "-(int2,int2) -(int2,int4) -(int2,int8) -(int4,int2) -(int4,int4) -(int4,int8) -(int8,int2) -(int8,int4) \
         -(int8,int8) -(float4,float4) -(float4,float8) -(float8,float4) -(float8,float8) -(numeric,numeric)",
        Make::Arithmetic(Operator::Minus),
    ),
    (
        "*(int2,int2) *(int2,int4) *(int2,int8) *(int4,int2) *(int4,int4) *(int4,int8) *(int8,int2) *(int8,int4) \
         *(int8,int8) *(float4,float4) *(float4,float8) *(float8,float4) *(float8,float8) *(numeric,numeric)",
        Make::Arithmetic(Operator::Multiply),
    ),
    (
        "/(int2,int2) /(int2,int4) /(int2,int8) /(int4,int2) /(int4,int4) /(int4,int8) /(int8,int2) /(int8,int4) \
         /(int8,int8) /(float4,float4) /(float4,float8) /(float8,float4) /(float8,float8) /(numeric,numeric)",
        Make::Arithmetic(Operator::Divide),
    ),
    (
        "%(int2,int2) %(int4,int4) %(int8,int8) %(numeric,numeric) mod(int2,int2) mod(int4,int4) mod(int8,int8) \
         mod(numeric,numeric)",
        Make::Arithmetic(Operator::Modulo),
    ),
    ("&(int2,int2) &(int4,int4) &(int8,int8)", Make::Engine(Operator::BitwiseAnd)),
    ("|(int2,int2) |(int4,int4) |(int8,int8)", Make::Engine(Operator::BitwiseOr)),
    ("#(int2,int2) #(int4,int4) #(int8,int8)", Make::Hidden("integer_xor")),
    ("-(int2) -(int4) -(int8) -(float4) -(float8) -(numeric) -(interval)", Make::Own(negative)),
    ("+(int2) +(int4) +(int8) +(float4) +(float8) +(numeric)", Make::Own(same)),
    ("~(int2) ~(int4) ~(int8)", Make::Own(inverse)),
    (
        "<<(int2,int4) <<(int4,int4) <<(int8,int4)",
        Make::Own(|_, args, of| shift(args, Operator::BitwiseShiftLeft, of)),
    ),
    (
        ">>(int2,int4) >>(int4,int4) >>(int8,int4)",
        Make::Own(|_, args, of| shift(args, Operator::BitwiseShiftRight, of)),
    ),
    ("abs(int2) abs(int4) abs(int8) abs(float4) abs(float8) abs(numeric)", Make::Named("abs")),
    ("@(int2) @(int4) @(int8) @(float4) @(float8) @(numeric)", Make::Named("abs")),
    ("|/(float8) sqrt(float8)", Make::Named("sqrt")),
    ("||/(float8) cbrt(float8)", Make::Named("cbrt")),
    ("^(float8,float8) power(float8,float8) pow(float8,float8)", Make::Named("power")),
    ("exp(float8)", Make::Named("exp")),
    ("ln(float8)", Make::Named("ln")),
    ("log(float8) log10(float8)", Make::Named("log10")),
    ("ceil(float8) ceil(numeric) ceiling(float8) ceiling(numeric)", Make::Named("ceil")),
    ("floor(float8) floor(numeric)", Make::Named("floor")),
    ("round(float8) round(numeric) round(numeric,int4)", Make::Named("round")),
    ("trunc(float8) trunc(numeric) trunc(numeric,int4)", Make::Named("trunc")),
    ("sign(float8)", Make::Named("signum")),
    ("sin(float8)", Make::Named("sin")),
    ("cos(float8)", Make::Named("cos")),
    ("tan(float8)", Make::Named("tan")),
    ("cot(float8)", Make::Named("cot")),
    ("asin(float8)", Make::Named("asin")),
    ("acos(float8)", Make::Named("acos")),
    ("atan(float8)", Make::Named("atan")),
    ("atan2(float8,float8)", Make::Named("atan2")),
    ("sinh(float8)", Make::Named("sinh")),
    ("cosh(float8)", Make::Named("cosh")),
    ("tanh(float8)", Make::Named("tanh")),
    ("degrees(float8)", Make::Named("degrees")),
    ("radians(float8)", Make::Named("radians")),
    ("pi()", Make::Named("pi")),
    ("random()", Make::Named("random")),
    ("gcd(int8,int8) gcd(int4,int4)", Make::Named("gcd")),
    ("lcm(int8,int8) lcm(int4,int4)", Make::Named("lcm")),
    ("asinh(float8)", Make::Named("asinh")),
    ("acosh(float8)", Make::Named("acosh")),
    ("atanh(float8)", Make::Named("atanh")),
    ("sind(float8)", Make::Named("sind")),
    ("cosd(float8)", Make::Named("cosd")),
    ("tand(float8)", Make::Named("tand")),
    ("cotd(float8)", Make::Named("cotd")),
    ("asind(float8)", Make::Named("asind")),
    ("acosd(float8)", Make::Named("acosd")),
    ("atand(float8)", Make::Named("atand")),
    ("atan2d(float8,float8)", Make::Named("atan2d")),
    ("sign(numeric)", Make::Named("numeric_sign")),
    ("div(numeric,numeric)", Make::Named("div")),
    ("factorial(int8)", Make::Named("numeric_factorial")),
    ("scale(numeric)", Make::Named("scale")),
    ("min_scale(numeric)", Make::Named("min_scale")),
    ("trim_scale(numeric)", Make::Named("trim_scale")),
    (
        "width_bucket(float8,float8,float8,int4) width_bucket(numeric,numeric,numeric,int4)",
        Make::Named("width_bucket"),
    ),
    (
        "sqrt(numeric) exp(numeric) ln(numeric) log(numeric) log10(numeric) \
         log(numeric,numeric) power(numeric,numeric) pow(numeric,numeric) ^(numeric,numeric)",
        Make::Own(|_, _, _| {
            let hint = "Cast the argument to double precision.";
            let what = "this function of numeric is not supported";
            Err(Error::unsupported(what).with_hint(hint).into())
        }),
    ),
];

/// An arithmetic operator on numbers of two types of a kind: integers, floating-point numbers, or numerics.
pub(super) fn build(
    lowering: &Lowering<'_>,
    operator: Operator,
    [left, right]: [Typed; 2],
    sql_type: SqlType,
) -> Result<Typed> {
    if sql_type.oid == Oid::NUMERIC {
        let is_wide = || is_wide_product(&left.data_type, &right.data_type);
        return match operator {
            Operator::Divide => {
                let constants = left.value().zip(right.value());
                match constants.and_then(|(left, right)| quotients::of_constants(left, right)) {
                    Some(quotient) => Ok(Typed::constant(quotient, sql_type)),
                    None => lowering.hidden("numeric_divide", vec![left, right], sql_type),
                }
            }
            // The engine takes a remainder of 1 for 0, as that of integers is. Divided by -1 it is the same.
            Operator::Modulo if is_one(&right) => {
                let other = ScalarValue::Decimal128(Some(-1), 1, 0);
                let scaled = Typed::constant(other, right.sql_type).converted(&right.data_type);
                of_engine(left, operator, scaled, sql_type)
            }
            Operator::Multiply if is_wide() => {
                lowering.hidden("numeric_multiply", vec![left, right], sql_type)
            }
            _ => of_engine(left, operator, right, sql_type),
        };
    }
    let wide = crate::types::held(sql_type)?.arrow();
    let (left, right) = (left.converted(&wide), right.converted(&wide));
    Typed::of(binary_expr(left.expr, operator, right.expr), wide, sql_type)
}

/// Whether a numeric is the constant 1, with any digits behind the point.
fn is_one(value: &Typed) -> bool {
    let one = ScalarValue::Decimal128(Some(1), 1, 0);
    value.value().is_some_and(|known| one.cast_to(&value.data_type).is_ok_and(|one| one == *known))
}

/// An operator of the engine.
pub(crate) fn of_engine(
    left: Typed,
    operator: Operator,
    right: Typed,
    sql_type: SqlType,
) -> Result<Typed> {
    let coercer = BinaryTypeCoercer::new(&left.data_type, &operator, &right.data_type);
    let data_type = coercer.get_result_type()?;
    Typed::of(binary_expr(left.expr, operator, right.expr), data_type, sql_type)
}

fn negative(_: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [value] = take(arguments)?;
    if let Some(constant) = value.value().filter(|value| value.data_type().is_numeric())
        && let Ok(negated) = constant.arithmetic_negate()
    {
        return Ok(Typed::constant(negated, sql_type));
    }
    Typed::of(Expr::Negative(Box::new(value.expr)), value.data_type, sql_type)
}

fn same(_: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [value] = take(arguments)?;
    Ok(value.named(sql_type))
}

/// All bits inverted: exclusive or with ones.
fn inverse(_: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [value] = take(arguments)?;
    let ones = Typed::constant(ScalarValue::Int64(Some(-1)), Oid::INT8.into());
    let ones = ones.converted(&value.data_type);
    of_engine(value, Operator::BitwiseXor, ones, sql_type)
}

/// A shift by a number of bits, which the engine takes modulo the width as PostgreSQL's processors do. A `smallint` is
/// shifted as an integer, and keeps the lower half.
fn shift(arguments: Vec<Typed>, operator: Operator, sql_type: SqlType) -> Result<Typed> {
    let [value, bits] = take(arguments)?;
    let data_type = value.data_type.clone();
    if data_type == DataType::Int16 {
        let wide = binary_expr(cast(value.expr, DataType::Int32), operator, bits.expr);
        let half = |expr, operator| {
            binary_expr(expr, operator, Expr::Literal(ScalarValue::Int32(Some(16)), None))
        };
        let upper = half(wide, Operator::BitwiseShiftLeft);
        let lower = cast(half(upper, Operator::BitwiseShiftRight), DataType::Int16);
        return Typed::of(lower, DataType::Int16, sql_type);
    }
    if !matches!(data_type, DataType::Int32 | DataType::Int64) {
        return missing("shifts of this type");
    }
    let bits = bits.converted(&data_type);
    Typed::of(binary_expr(value.expr, operator, bits.expr), data_type, sql_type)
}
