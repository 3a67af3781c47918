//! Casts with PostgreSQL's semantics: `'\x00ff'::bytea`, `name::varchar(5)`, `elapsed::text`.
//!
//! DataFusion's casts differ for bytes, dates, intervals and lengths of text. Such casts are replaced by a
//! [`conversion`], which reads text by the rules of column assignment and writes it as clients see
//! it. Casts of quoted constants are folded. The rule runs after type coercion.
//!
//! Casts to a numeric of fewer digits are replaced, too: where they are compared with constants, the engine drops them, and
//! `v::numeric(8,1) = 1.0` does not find 1.04.

use super::every_expression;
use datafusion::arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;
use functions::casts::constants::fold;
use functions::casts::conversion;
use store::catalog::SqlType;
use values::style::Style;
use values::types;

/// The analyzer rule that gives casts PostgreSQL's semantics.
#[derive(Debug)]
pub struct Casts;

impl AnalyzerRule for Casts {
    fn analyze(&self, plan: LogicalPlan, options: &ConfigOptions) -> Result<LogicalPlan> {
        let style = Style::from_config(options);
        let is_cast = |part: &Expr| matches!(part, Expr::Cast(_));
        every_expression::changed(plan, is_cast, |expr, schema| converted(expr, schema, style))
    }

    fn name(&self) -> &str {
        "casts"
    }
}

/// Gives the casts in an expression PostgreSQL's semantics. `style` is the session's text style.
///
/// # Errors
/// 22P02 and the like if a quoted constant cannot be converted.
pub fn converted(expr: Expr, schema: &DFSchema, style: Style) -> Result<Transformed<Expr>> {
    expr.transform_up(|part| {
        let Expr::Cast(cast) = part else { return Ok(Transformed::no(part)) };
        if let Some(constant) = fold(&cast, style)? {
            return Ok(Transformed::yes(constant));
        }
        let Ok((_, from)) = cast.expr.to_field(schema) else {
            return Ok(Transformed::no(Expr::Cast(cast)));
        };
        let held = (from.data_type(), cast.field.data_type());
        let changes = rounds(held.0, held.1) || narrows(held.0, held.1);
        let (from, to) = (types::of_field(&from), types::of_field(&cast.field));
        if changes || is_conversion(&from, &to, cast.field.data_type()) {
            let function = conversion::to(&to, cast.field.data_type(), style);
            return Ok(Transformed::yes(function.call(vec![*cast.expr])));
        }
        Ok(Transformed::no(Expr::Cast(cast)))
    })
}

/// Whether a cast must round to an integer. DataFusion truncates.
fn rounds(from: &DataType, to: &DataType) -> bool {
    (from.is_decimal() || from.is_floating()) && to.is_signed_integer()
}

/// Whether a cast to a numeric rounds numbers, or refuses some. The casts that the engine adds itself refuse some only if they
/// have all digits that there can be.
fn narrows(from: &DataType, to: &DataType) -> bool {
    let DataType::Decimal128(precision, scale) = *to else { return false };
    let (from_precision, from_scale) = match *from {
        DataType::Int16 => (5, 0),
        DataType::Int32 => (10, 0),
        DataType::Int64 => (19, 0),
        DataType::Decimal128(precision, scale) => (precision, scale),
        _ => return false,
    };
    let before_point = |precision: u8, scale: i8| i16::from(precision) - i16::from(scale);
    let has_fewer = before_point(precision, scale) < before_point(from_precision, from_scale);
    scale < from_scale || precision < DECIMAL128_MAX_PRECISION && has_fewer
}

/// Whether a cast is replaced by a conversion.
fn is_conversion(from: &SqlType, to: &SqlType, target: &DataType) -> bool {
    use SqlType as T;
    let is_text = |sql_type: &T| matches!(sql_type, T::Text | T::Varchar(_) | T::Char(_));
    match (from, to) {
        (_, T::Varchar(Some(_)) | T::Char(_)) => true,
        (T::Other(_), _) | (_, T::Other(_)) => false,
        (T::Array(from), T::Array(to)) => is_conversion(from, to, &to.arrow()),
        (from, T::Text | T::Varchar(None)) if *target != DataType::Null => matches!(
            from,
            T::Interval
                | T::Bytea
                | T::Array(_)
                | T::Real
                | T::Double
                | T::Date
                | T::Time
                | T::Timestamp
                | T::TimestampTz
                | T::Numeric { .. }
        ),
        (T::Real | T::Double, T::Numeric { .. }) => true,
        // The engine takes infinity for a number, and does not know all days.
        (T::Date, T::Timestamp | T::TimestampTz) | (T::Timestamp, T::TimestampTz) => true,
        (T::Timestamp | T::TimestampTz, T::Date | T::Time) => true,
        // The engine does not know numbers with a scale each.
        (from, to) if from != to && (*from == T::NUMERIC || *to == T::NUMERIC) => true,
        (from, T::Array(_)) => is_text(from),
        (from, to) => is_text(from) && !is_text(to),
    }
}
