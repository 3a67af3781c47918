//! Gives constants the scale of the `numeric` value that they are added to: `1 - discount` becomes
//! `1.00 - discount`.
//!
//! A sum of operands of different scales rescales both with a checked multiplication per row. With
//! equal scales it is a plain addition. The type of the result is the same in both cases.

use super::every_expression;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, Operator, lit};
use datafusion::optimizer::AnalyzerRule;

/// The maximum number of digits of a `numeric`.
const DIGITS_MAX: u8 = 38;

/// The analyzer rule that gives constants the scale of the other operand.
#[derive(Debug)]
pub struct Scales;

impl AnalyzerRule for Scales {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        every_expression::changed(plan, is_sum, |expr, schema| {
            expr.transform_up(|part| Ok(scaled(part, schema)))
        })
    }

    fn name(&self) -> &str {
        "scales"
    }
}

fn is_sum(part: &Expr) -> bool {
    let Expr::BinaryExpr(binary) = part else { return false };
    matches!(binary.op, Operator::Plus | Operator::Minus)
}

fn scaled(part: Expr, schema: &DFSchema) -> Transformed<Expr> {
    if !is_sum(&part) {
        return Transformed::no(part);
    }
    let Expr::BinaryExpr(mut sum) = part else { return Transformed::no(part) };
    let left = rescaled(&sum.left, &sum.right, schema);
    let right = rescaled(&sum.right, &sum.left, schema);
    let is_changed = left.is_some() || right.is_some();
    if let Some(constant) = left {
        *sum.left = constant;
    } else if let Some(constant) = right {
        *sum.right = constant;
    }
    Transformed::new_transformed(Expr::BinaryExpr(sum), is_changed)
}

/// The constant with the scale of the other operand, if that is larger than its own.
fn rescaled(constant: &Expr, other: &Expr, schema: &DFSchema) -> Option<Expr> {
    let (value, digits, scale) = constant_of(constant)?;
    let Ok(DataType::Decimal128(_, wanted)) = other.get_type(schema) else { return None };
    let more = u8::try_from(wanted.checked_sub(scale)?).ok().filter(|more| *more > 0)?;
    let digits = digits.checked_add(more).filter(|digits| *digits <= DIGITS_MAX)?;
    let value = value.checked_mul(10_i128.checked_pow(u32::from(more))?)?;
    Some(lit(ScalarValue::Decimal128(Some(value), digits, wanted)))
}

/// The unscaled value of a constant, its precision and its scale.
fn constant_of(expr: &Expr) -> Option<(i128, u8, i8)> {
    let folded = match expr {
        Expr::Literal(value, None) => value.clone(),
        Expr::Cast(cast) => match &*cast.expr {
            Expr::Literal(value, None) if value.data_type().is_integer() => {
                value.cast_to(cast.field.data_type()).ok()?
            }
            _ => return None,
        },
        _ => return None,
    };
    match folded {
        ScalarValue::Decimal128(Some(value), digits, scale) => Some((value, digits, scale)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::datatypes::{Field, Schema};
    use datafusion::logical_expr::{cast, col};

    fn decimal(value: i128, digits: u8, scale: i8) -> Expr {
        lit(ScalarValue::Decimal128(Some(value), digits, scale))
    }

    fn schema() -> DFSchema {
        let price = |name, scale| Field::new(name, DataType::Decimal128(15, scale), false);
        let fields =
            vec![price("n", 2), price("fine", 38), Field::new("i", DataType::Int64, false)];
        DFSchema::try_from(Schema::new(fields)).expect("columns")
    }

    #[test]
    fn constants_get_the_scale_of_the_other_operand_and_sums_keep_their_type() {
        let schema = schema();
        let whole = cast(lit(1_i32), DataType::Decimal128(10, 0));
        let cases = [
            (whole.clone() - col("n"), decimal(100, 12, 2) - col("n")),
            (col("n") + decimal(5, 2, 1), col("n") + decimal(50, 3, 2)),
        ];
        for (given, expected) in cases {
            let before = given.get_type(&schema).expect("typed");
            let scaled = scaled(given, &schema);
            assert!(scaled.transformed);
            assert_eq!(scaled.data, expected);
            assert_eq!(scaled.data.get_type(&schema).expect("typed"), before);
        }
    }

    #[test]
    fn other_expressions_are_unchanged() {
        let schema = schema();
        for same in [
            decimal(100, 12, 2) - col("n"),
            col("n") + decimal(12345, 9, 4),
            decimal(i128::from(i64::MAX), 19, 0) + col("fine"),
            col("i") + lit(1_i64),
            col("n") * decimal(1, 10, 0),
        ] {
            assert!(!scaled(same.clone(), &schema).transformed, "{same}");
        }
    }
}
