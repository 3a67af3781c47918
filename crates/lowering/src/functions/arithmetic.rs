//! Arithmetic on numbers.

use super::{Make, Table, take};
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::{Oid, SqlType};
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::type_coercion::binary::BinaryTypeCoercer;
use datafusion::logical_expr::{Expr, Operator, binary_expr};
use functions::numbers::decimals::is_wide_product;

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
    ("#(int2,int2) #(int4,int4) #(int8,int8)", Make::Engine(Operator::BitwiseXor)),
    ("-(int2) -(int4) -(int8) -(float4) -(float8) -(numeric) -(interval)", Make::Own(negative)),
    ("+(int2) +(int4) +(int8) +(float4) +(float8) +(numeric)", Make::Own(same)),
    ("~(int2) ~(int4) ~(int8)", Make::Own(inverse)),
    (
        "<<(int4,int4) <<(int8,int4)",
        Make::Own(|_, args, of| shift(args, Operator::BitwiseShiftLeft, of)),
    ),
    (
        ">>(int4,int4) >>(int8,int4)",
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
            Operator::Divide => lowering.hidden("numeric_divide", vec![left, right], sql_type),
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
    let ones = Typed::constant(datafusion::common::ScalarValue::Int64(Some(-1)), Oid::INT8.into());
    let ones = ones.converted(&value.data_type);
    of_engine(value, Operator::BitwiseXor, ones, sql_type)
}

/// A shift by a number of bits, which the engine takes modulo the width as PostgreSQL's processors do.
fn shift(arguments: Vec<Typed>, operator: Operator, sql_type: SqlType) -> Result<Typed> {
    let [value, bits] = take(arguments)?;
    let data_type = value.data_type.clone();
    if !matches!(data_type, DataType::Int32 | DataType::Int64) {
        return missing("shifts of this type");
    }
    let bits = bits.converted(&data_type);
    Typed::of(binary_expr(value.expr, operator, bits.expr), data_type, sql_type)
}
