//! Resolves operators as PostgreSQL does: by the types of both operands, of which one may be
//! unknown.
//!
//! A parameter without a type and a quoted constant are unknown. They take the type that the
//! operator requires for the other operand (`n + $1`, `ts - '1 day'`). If DataFusion lacks the
//! operator or computes another result, a function is called. The resolution runs inside
//! DataFusion's SQL planner, which handles all other operators.

use super::dates::{as_dates, date_plus};
use super::numbers;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, DataFusionError, Result, ScalarValue};
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::functions_nested::array_has::array_has_any_udf;
use datafusion::functions_nested::make_array::make_array_udf;
use datafusion::logical_expr::expr::{
    AggregateFunction, Cast, Placeholder, WindowFunction, WindowFunctionParams,
};
use datafusion::logical_expr::planner::{
    ExprPlanner, PlannerResult, RawAggregateExpr, RawBinaryExpr, RawWindowExpr,
};
use datafusion::logical_expr::{
    Expr, ExprSchemable, Operator, ScalarUDF, WindowFunctionDefinition, binary_expr, cast,
};
use datafusion::sql::sqlparser::ast::BinaryOperator;
use functions::casts::constants;
use functions::datetime::{extract, intervals, moments};
use functions::numbers::decimals;
use functions::text::bytes;
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::{Error, SqlState};
use values::style::Style;
use values::translate::external;
use values::types;

/// Plans operators, EXTRACT, array literals, sums and window functions with PostgreSQL's types.
#[derive(Debug)]
pub struct Operators;

impl ExprPlanner for Operators {
    fn plan_binary_op(
        &self,
        expr: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        let RawBinaryExpr { op, left, right } = expr;
        let (mut left, mut right) = (constant(left)?, constant(right)?);
        match (Side::of(&left, schema), Side::of(&right, schema)) {
            (Side::Unknown, Side::Known(known)) => left = typed(left, &op, &known, true)?,
            (Side::Known(known), Side::Unknown) => right = typed(right, &op, &known, false)?,
            (Side::Unknown, Side::Unknown) => {
                if is_arithmetic(&op) {
                    return Err(ambiguous(&op, "unknown", "unknown"));
                }
                left = typed(left, &op, &SqlType::Text, true)?;
                right = typed(right, &op, &SqlType::Text, false)?;
            }
            _ => {}
        }
        let (Side::Known(l), Side::Known(r)) = (Side::of(&left, schema), Side::of(&right, schema))
        else {
            return Ok(PlannerResult::Original(RawBinaryExpr { op, left, right }));
        };
        Ok(resolved(op, (left, l), (right, r)))
    }

    fn plan_array_literal(
        &self,
        exprs: Vec<Expr>,
        schema: &DFSchema,
    ) -> Result<PlannerResult<Vec<Expr>>> {
        let exprs = exprs.into_iter().map(constant).collect::<Result<Vec<_>>>()?;
        let known = exprs.iter().find_map(|expr| match Side::of(expr, schema) {
            Side::Known(known) => Some(known),
            _ => None,
        });
        let Some(known) = known else { return Ok(PlannerResult::Original(exprs)) };
        let exprs = exprs.into_iter().map(|expr| of_type(expr, &known));
        let exprs = exprs.collect::<Result<Vec<_>>>()?;
        // DataFusion would lose the SQL type of the elements.
        if !matches!(known, SqlType::Uuid | SqlType::Json | SqlType::Varchar(_)) {
            return Ok(PlannerResult::Original(exprs));
        }
        let field = types::plan_field("", &SqlType::Array(Box::new(known)), true);
        let made = Box::new(make_array_udf().call(exprs));
        Ok(PlannerResult::Planned(Expr::Cast(Cast::new_from_field(made, Arc::new(field)))))
    }

    fn plan_extract(&self, args: Vec<Expr>) -> Result<PlannerResult<Vec<Expr>>> {
        let field = match args.first() {
            Some(Expr::Literal(value, _)) => value.try_as_str().flatten().map(str::to_owned),
            _ => None,
        };
        match field {
            Some(field) => Ok(PlannerResult::Planned(extract::of_field(&field).call(args))),
            None => Ok(PlannerResult::Original(args)),
        }
    }

    fn plan_aggregate(
        &self,
        mut expr: RawAggregateExpr,
    ) -> Result<PlannerResult<RawAggregateExpr>> {
        let Some(function) = Total::of(expr.func.name()) else {
            return Ok(PlannerResult::Original(expr));
        };
        let counted = RawAggregateExpr { func: count_udaf(), ..expr.clone() };
        expr.func = sum_udaf();
        expr.args = summands(expr.args)?;
        Ok(PlannerResult::Planned(match function {
            Total::Sum => aggregate(expr),
            Total::Average => decimals::average().call(vec![aggregate(expr), aggregate(counted)]),
        }))
    }

    fn plan_window(&self, mut expr: RawWindowExpr) -> Result<PlannerResult<RawWindowExpr>> {
        use WindowFunctionDefinition::{AggregateUDF, WindowUDF};
        let planned = match &expr.func_def {
            // DataFusion's row numbers are unsigned.
            WindowUDF(function) => match function.name() {
                "row_number" | "rank" | "dense_rank" => cast(window(expr), DataType::Int64),
                "ntile" => cast(window(expr), DataType::Int32),
                _ => return Ok(PlannerResult::Original(expr)),
            },
            AggregateUDF(function) => {
                let Some(function) = Total::of(function.name()) else {
                    return Ok(PlannerResult::Original(expr));
                };
                let counted =
                    RawWindowExpr { func_def: AggregateUDF(count_udaf()), ..expr.clone() };
                expr.func_def = AggregateUDF(sum_udaf());
                expr.args = summands(expr.args)?;
                match function {
                    Total::Sum => window(expr),
                    Total::Average => decimals::average().call(vec![window(expr), window(counted)]),
                }
            }
        };
        Ok(PlannerResult::Planned(planned))
    }
}

/// Aggregates that are computed with a sum.
#[derive(Clone, Copy)]
enum Total {
    /// `sum`.
    Sum,
    /// `avg`, computed as sum by count to keep all digits and to share the sum with other
    /// aggregates.
    Average,
}

impl Total {
    fn of(name: &str) -> Option<Self> {
        match name {
            "sum" => Some(Self::Sum),
            "avg" => Some(Self::Average),
            _ => None,
        }
    }
}

/// Wraps the arguments of a sum, so that `bigint` is added as `numeric` and cannot overflow.
fn summands(args: Vec<Expr>) -> Result<Vec<Expr>> {
    args.into_iter()
        .map(|arg| Ok(decimals::summand().call(vec![numbers::of_expression(arg)?])))
        .collect()
}

/// The type of an operand.
enum Side {
    /// A parameter without a type, or a quoted constant.
    Unknown,
    /// An operand of a known type.
    Known(SqlType),
    /// An operand that DataFusion handles.
    Opaque,
}

impl Side {
    fn of(expr: &Expr, schema: &DFSchema) -> Self {
        match expr {
            Expr::Placeholder(Placeholder { field: None, .. }) => Self::Unknown,
            Expr::Literal(value, None) if value.try_as_str().is_some() || value.is_null() => {
                Self::Unknown
            }
            expr => match expr.to_field(schema) {
                Ok((_, field)) if !field.data_type().is_null() => {
                    Self::Known(types::of_field(&field))
                }
                _ => Self::Opaque,
            },
        }
    }
}

/// Gives number literals their types and folds casts of constants.
pub(super) fn constant(expr: Expr) -> Result<Expr> {
    let expr = match expr {
        // Its operands have been handled already.
        Expr::BinaryExpr(_) => expr,
        expr => numbers::of_expression(expr)?,
    };
    match &expr {
        Expr::Cast(cast) => Ok(match constants::fold(cast, Style::default())? {
            Some(constant) => constant,
            None => expr,
        }),
        _ => Ok(expr),
    }
}

/// Gives an unknown operand the type that the operator requires next to a known operand.
pub(super) fn typed(
    expr: Expr,
    op: &BinaryOperator,
    other: &SqlType,
    is_left: bool,
) -> Result<Expr> {
    match other_operand_type(op, other, is_left)? {
        Some(sql_type) => of_type(expr, &sql_type),
        None => Ok(expr),
    }
}

/// Gives an unknown expression a type. Any other expression is returned unchanged.
pub(super) fn of_type(expr: Expr, sql_type: &SqlType) -> Result<Expr> {
    match expr {
        Expr::Placeholder(Placeholder { id, field: None }) => {
            let field = Some(Arc::new(types::plan_field("", sql_type, true)));
            Ok(Expr::Placeholder(Placeholder { id, field }))
        }
        Expr::Literal(ref value, None) if value.try_as_str().is_some_and(|text| text.is_some()) => {
            match sql_type {
                // DataFusion compares text with these types as PostgreSQL does.
                SqlType::Text | SqlType::Varchar(_) | SqlType::Json | SqlType::Other(_) => Ok(expr),
                _ => constants::value_of(value, sql_type, Style::default())
                    .map(|value| Expr::Literal(value, None)),
            }
        }
        Expr::Literal(ref value, None) if value.is_null() => {
            let null = ScalarValue::try_from(sql_type.arrow())?;
            Ok(Expr::Literal(null, None))
        }
        expr => Ok(expr),
    }
}

/// The type that an operator requires for an unknown operand; `None` to leave it to DataFusion.
fn other_operand_type(
    op: &BinaryOperator,
    other: &SqlType,
    is_left: bool,
) -> Result<Option<SqlType>> {
    use BinaryOperator as B;
    use SqlType as T;
    Ok(match op {
        B::Eq | B::NotEq | B::Lt | B::LtEq | B::Gt | B::GtEq | B::Modulo => Some(plain(other)),
        B::Plus | B::Minus => match other {
            T::Date if *op == B::Plus && is_left => return Err(ambiguous(op, "unknown", "date")),
            T::Date if *op == B::Plus => return Err(ambiguous(op, "date", "unknown")),
            T::Timestamp | T::TimestampTz | T::Time if *op == B::Plus => Some(T::Interval),
            other => Some(plain(other)),
        },
        B::Multiply | B::Divide if *other == T::Interval => Some(T::Double),
        B::Multiply | B::Divide => Some(plain(other)),
        B::StringConcat => Some(match other {
            T::Array(_) | T::Bytea => other.clone(),
            _ => T::Text,
        }),
        B::And | B::Or => Some(T::Boolean),
        B::BitwiseAnd | B::BitwiseOr | B::PGBitwiseXor => Some(plain(other)),
        B::PGBitwiseShiftLeft | B::PGBitwiseShiftRight => Some(T::Integer),
        B::AtArrow | B::ArrowAt | B::PGOverlap if matches!(other, T::Array(_)) => {
            Some(other.clone())
        }
        B::PGRegexMatch
        | B::PGRegexIMatch
        | B::PGRegexNotMatch
        | B::PGRegexNotIMatch
        | B::PGLikeMatch
        | B::PGILikeMatch
        | B::PGNotLikeMatch
        | B::PGNotILikeMatch => Some(T::Text),
        _ => None,
    })
}

/// A type without precision, scale and length.
fn plain(sql_type: &SqlType) -> SqlType {
    match sql_type {
        SqlType::Numeric { .. } => SqlType::NUMERIC,
        SqlType::Varchar(_) => SqlType::Text,
        other => other.clone(),
    }
}

fn ambiguous(op: &BinaryOperator, left: &str, right: &str) -> DataFusionError {
    let message = format!("operator is not unique: {left} {op} {right}");
    let hint =
        "Could not choose a best candidate operator. You might need to add explicit type casts.";
    external(Error::new(SqlState::AmbiguousFunction, message).with_hint(hint))
}

fn is_arithmetic(op: &BinaryOperator) -> bool {
    use BinaryOperator as B;
    matches!(op, B::Plus | B::Minus | B::Multiply | B::Divide | B::Modulo)
}

fn is_whole(sql_type: &SqlType) -> bool {
    matches!(sql_type, SqlType::SmallInt | SqlType::Integer | SqlType::BigInt)
}

fn is_exact(sql_type: &SqlType) -> bool {
    is_whole(sql_type) || matches!(sql_type, SqlType::Numeric { .. })
}

fn is_float(sql_type: &SqlType) -> bool {
    matches!(sql_type, SqlType::Real | SqlType::Double)
}

fn is_number(sql_type: &SqlType) -> bool {
    is_exact(sql_type) || is_float(sql_type)
}

/// Whether an operator applies to floating-point numbers. With a floating-point and an exact
/// operand it is computed in double precision.
fn has_floats(op: &BinaryOperator) -> bool {
    use BinaryOperator as B;
    comparison(op).is_some() || matches!(op, B::Plus | B::Minus | B::Multiply | B::Divide)
}

fn as_double(expr: Expr, sql_type: &SqlType) -> Expr {
    match sql_type {
        SqlType::Double => expr,
        _ => cast(expr, DataType::Float64),
    }
}

type Typed = (Expr, SqlType);

/// The operator for two operands whose types are known.
fn resolved(op: BinaryOperator, left: Typed, right: Typed) -> PlannerResult<RawBinaryExpr> {
    use BinaryOperator as B;
    use SqlType as T;
    let planned = PlannerResult::Planned;
    let ((left, l), (right, r)) = (left, right);
    let call = |function: ScalarUDF, left, right| planned(function.call(vec![left, right]));
    if (is_float(&l) && is_exact(&r) || is_exact(&l) && is_float(&r)) && has_floats(&op) {
        let (left, right) = (as_double(left, &l), as_double(right, &r));
        return PlannerResult::Original(RawBinaryExpr { op, left, right });
    }
    match (&op, &l, &r) {
        (B::Multiply, T::Interval, n) if is_number(n) => call(intervals::multiply(), left, right),
        (B::Multiply, n, T::Interval) if is_number(n) => call(intervals::multiply(), right, left),
        (B::Divide, T::Interval, n) if is_number(n) => call(intervals::divide(), left, right),
        (B::Divide, n, d) if is_exact(n) && is_exact(d) && !(is_whole(n) && is_whole(d)) => {
            call(decimals::divide(), left, right)
        }
        (B::Multiply, n, m)
            if is_exact(n) && is_exact(m) && decimals::is_wide_product(&n.arrow(), &m.arrow()) =>
        {
            call(decimals::multiply(), left, right)
        }
        (B::Minus, T::Date, T::Date) => {
            planned(cast(binary_expr(left, Operator::Minus, right), DataType::Int32))
        }
        (B::Plus, T::Date, T::Interval) => planned(date_plus(left, Operator::Plus, right)),
        (B::Minus, T::Date, T::Interval) => planned(date_plus(left, Operator::Minus, right)),
        (B::Plus, T::Interval, T::Date) => planned(date_plus(right, Operator::Plus, left)),
        (B::Plus, T::Date, T::Time) => call(moments::at_time(), left, right),
        (B::Plus, T::Time, T::Date) => call(moments::at_time(), right, left),
        (B::Plus, T::Time, T::Interval) => call(moments::time_plus(), left, right),
        (B::Plus, T::Interval, T::Time) => call(moments::time_plus(), right, left),
        (B::Minus, T::Time, T::Interval) => call(moments::time_minus(), left, right),
        (B::Minus, T::Time, T::Time) => call(moments::between_times(), left, right),
        (B::Minus, from, to) if is_moment(from) && is_moment(to) => {
            let to_timestamp = |expr| cast(expr, T::Timestamp.arrow());
            call(moments::between(), to_timestamp(left), to_timestamp(right))
        }
        (B::PGExp, n, m) if is_number(n) && is_number(m) => {
            call(datafusion::functions::math::power().as_ref().clone(), left, right)
        }
        (B::PGOverlap, T::Array(_), T::Array(_)) => {
            call(array_has_any_udf().as_ref().clone(), left, right)
        }
        (B::StringConcat, T::Bytea, T::Bytea) => call(bytes::concat(), left, right),
        (op, T::Interval, T::Interval) if comparison(op).is_some() => {
            let op = comparison(op).unwrap_or(Operator::Eq);
            let length = |expr| intervals::length().call(vec![expr]);
            planned(binary_expr(length(left), op, length(right)))
        }
        (op, T::Date, T::Timestamp) | (op, T::Timestamp, T::Date) if comparison(op).is_some() => {
            let (left, right) = as_dates(left, right);
            PlannerResult::Original(RawBinaryExpr { op: op.clone(), left, right })
        }
        _ => PlannerResult::Original(RawBinaryExpr { op, left, right }),
    }
}

fn is_moment(sql_type: &SqlType) -> bool {
    matches!(sql_type, SqlType::Timestamp | SqlType::TimestampTz | SqlType::Date)
}

fn comparison(op: &BinaryOperator) -> Option<Operator> {
    Some(match op {
        BinaryOperator::Eq => Operator::Eq,
        BinaryOperator::NotEq => Operator::NotEq,
        BinaryOperator::Lt => Operator::Lt,
        BinaryOperator::LtEq => Operator::LtEq,
        BinaryOperator::Gt => Operator::Gt,
        BinaryOperator::GtEq => Operator::GtEq,
        _ => return None,
    })
}

fn aggregate(expr: RawAggregateExpr) -> Expr {
    let RawAggregateExpr { func, args, distinct, filter, order_by, null_treatment } = expr;
    Expr::AggregateFunction(AggregateFunction::new_udf(
        func,
        args,
        distinct,
        filter,
        order_by,
        null_treatment,
    ))
}

fn window(expr: RawWindowExpr) -> Expr {
    let RawWindowExpr {
        func_def,
        args,
        partition_by,
        order_by,
        window_frame,
        filter,
        null_treatment,
        distinct,
    } = expr;
    let params = WindowFunctionParams {
        args,
        partition_by,
        order_by,
        window_frame,
        filter,
        null_treatment,
        distinct,
    };
    Expr::WindowFunction(Box::new(WindowFunction { fun: func_def, params }))
}
