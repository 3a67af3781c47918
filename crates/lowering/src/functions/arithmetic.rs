//! Arithmetic on numbers.

use super::{Make, Table, take};
use crate::numbers::has_known_scale;
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use crate::types::DIGITS_MAX;
use analyzer::system::{Oid, SqlType};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::type_coercion::binary::BinaryTypeCoercer;
use datafusion::logical_expr::{Expr, Operator, binary_expr, cast};

use functions::numbers::common_types;
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
    ("#(int2,int2) #(int4,int4) #(int8,int8)", Make::Hidden("integer_xor")),
    ("-(int2) -(int4) -(int8) -(float4) -(float8) -(numeric)", Make::Own(negative)),
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
    ("@(int2) @(int4) @(int8) @(float4) @(float8)", Make::Named("abs")),
    (
        "abs(numeric) @(numeric)",
        Make::Own(|of, args, to| rounded(of, "abs", "numeric_abs", args, to)),
    ),
    ("|/(float8) sqrt(float8)", Make::Named("sqrt")),
    ("||/(float8) cbrt(float8)", Make::Named("cbrt")),
    ("^(float8,float8) power(float8,float8) pow(float8,float8)", Make::Named("power")),
    ("log(float8) log10(float8)", Make::Named("log10")),
    ("ceil(float8) ceiling(float8)", Make::Named("ceil")),
    (
        "ceil(numeric) ceiling(numeric)",
        Make::Own(|of, args, to| rounded(of, "ceil", "numeric_ceil", args, to)),
    ),
    ("floor(numeric)", Make::Own(|of, args, to| rounded(of, "floor", "numeric_floor", args, to))),
    (
        "round(numeric) round(numeric,int4)",
        Make::Own(|of, args, to| rounded(of, "round", "numeric_round", args, to)),
    ),
    (
        "trunc(numeric) trunc(numeric,int4)",
        Make::Own(|of, args, to| rounded(of, "trunc", "numeric_trunc", args, to)),
    ),
    ("sign(float8)", Make::Named("signum")),
    ("sign(numeric)", Make::Hidden("numeric_signum")),
    ("div(numeric,numeric)", Make::Hidden("numeric_div_trunc")),
    ("factorial(int8)", Make::Hidden("numeric_factorial")),
    ("scale(numeric)", Make::Hidden("numeric_scale")),
    ("min_scale(numeric)", Make::Hidden("numeric_min_scale")),
    ("trim_scale(numeric)", Make::Hidden("numeric_trim_scale")),
    ("width_bucket(numeric,numeric,numeric,int4)", Make::Hidden("numeric_bucket")),
    ("sqrt(numeric)", Make::Hidden("numeric_sqrt")),
    ("exp(numeric)", Make::Hidden("numeric_exp")),
    ("ln(numeric)", Make::Hidden("numeric_ln")),
    ("log(numeric) log10(numeric)", Make::Hidden("numeric_log10")),
    ("log(numeric,numeric)", Make::Hidden("numeric_log")),
    (
        "power(numeric,numeric) pow(numeric,numeric) ^(numeric,numeric)",
        Make::Hidden("numeric_power"),
    ),
    ("gcd(numeric,numeric)", Make::Hidden("numeric_gcd")),
    ("lcm(numeric,numeric)", Make::Hidden("numeric_lcm")),
];

/// An arithmetic operator on numbers of two types of a kind: integers, floating-point numbers, or numerics.
pub(super) fn build(
    lowering: &Lowering<'_>,
    operator: Operator,
    [left, right]: [Typed; 2],
    sql_type: SqlType,
) -> Result<Typed> {
    if sql_type.oid == Oid::NUMERIC {
        return of_numerics(lowering, operator, [left, right], sql_type);
    }
    let wide = crate::types::held(sql_type)?.arrow();
    let (left, right) = (left.converted(&wide), right.converted(&wide));
    Typed::of(binary_expr(left.expr, operator, right.expr), wide, sql_type)
}

/// An operator on numerics. The engine computes on decimals, where the scale of the result is the same for all rows.
fn of_numerics(
    lowering: &Lowering<'_>,
    operator: Operator,
    [left, right]: [Typed; 2],
    sql_type: SqlType,
) -> Result<Typed> {
    let name = match operator {
        Operator::Plus => "numeric_add",
        Operator::Minus => "numeric_sub",
        Operator::Multiply => "numeric_mul",
        Operator::Modulo => "numeric_mod",
        _ => "numeric_div",
    };
    let of_engine = match operator {
        Operator::Divide => None,
        _ if !has_known_scale(&left) || !has_known_scale(&right) => None,
        _ if is_wide(operator, &left, &right) => None,
        _ => Some(of_engine(left.clone(), operator, right.clone(), sql_type)?),
    };
    match of_engine.filter(has_known_scale) {
        Some(made) => Ok(made),
        None => lowering.hidden(name, vec![left, right], sql_type),
    }
}

/// Whether the result of an operator may have more digits than decimals have. Products of columns rarely have as many as
/// their types allow.
fn is_wide(operator: Operator, left: &Typed, right: &Typed) -> bool {
    let digits = |value: &Typed| {
        let (precision, scale) = common_types::digits(&value.data_type);
        (i16::from(precision) - i16::from(scale), i16::from(scale))
    };
    let ((left_whole, left_scale), (right_whole, right_scale)) = (digits(left), digits(right));
    let common = left_whole.max(right_whole) + left_scale.max(right_scale);
    let most = i16::from(DIGITS_MAX);
    match operator {
        Operator::Multiply => {
            let all = left_whole + left_scale + right_whole + right_scale;
            let are_constants = left.value().is_some() && right.value().is_some();
            is_wide_product(&left.data_type, &right.data_type) || are_constants && all > most
        }
        Operator::Modulo => common > most,
        _ => common >= most,
    }
}

/// A function of a numeric, and maybe of a constant number of digits: the engine's on decimals, where the scale of the
/// result is the same for all rows.
fn rounded(
    lowering: &Lowering<'_>,
    of_engine: &'static str,
    name: &'static str,
    mut arguments: Vec<Typed>,
    sql_type: SqlType,
) -> Result<Typed> {
    let digits = arguments.get(1).map(|digits| digits.value().cloned());
    let is_usual = match &digits {
        None => true,
        Some(Some(ScalarValue::Int32(Some(digits)))) => {
            let whole =
                arguments.first().map_or(0, |value| common_types::digits(&value.data_type).0);
            (0..=i32::from(DIGITS_MAX - whole.min(DIGITS_MAX))).contains(digits)
        }
        Some(_) => false,
    };
    if is_usual && arguments.first().is_some_and(has_known_scale) {
        let made = lowering.registered(of_engine, arguments.clone(), sql_type)?;
        if has_known_scale(&made) {
            return Ok(made);
        }
    }
    if arguments.len() == 1 && matches!(of_engine, "round" | "trunc") {
        let none = ScalarValue::Int32(Some(0));
        arguments.push(Typed::constant(none, Oid::INT4.into()));
    }
    lowering.hidden(name, arguments, sql_type)
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

fn negative(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [value] = take(arguments)?;
    if let Some(constant) = value.value().filter(|value| value.data_type().is_numeric())
        && let Ok(negated) = constant.arithmetic_negate()
    {
        return Ok(Typed::constant(negated, sql_type));
    }
    if sql_type.oid == Oid::NUMERIC && !has_known_scale(&value) {
        return lowering.hidden("numeric_neg", vec![value], sql_type);
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
