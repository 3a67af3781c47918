//! Simplifies products and remainders of decimals and constants, which the engine's rule gets wrong.
//!
//! `n * 0` of a column that is never NULL becomes the constant 0 as it is written, and loses the scale of the product: the
//! value is printed with other digits, and a comparison finds two types. A remainder of 1 becomes 0, which is right for
//! integers only.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// Simplifies the expressions of a node.
pub(crate) fn simplify(
    rule: &dyn OptimizerRule,
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> Result<Transformed<LogicalPlan>> {
    let has_any = |expr: &Expr| expr.exists(|part| Ok(operands(part).is_some()));
    if !plan.expressions().iter().any(|expr| has_any(expr).unwrap_or(true)) {
        return rule.rewrite(plan, config);
    }
    let schema = Arc::new(schema_of_inputs(&plan)?);
    let context = SimplifyContext::builder()
        .with_schema(Arc::clone(&schema))
        .with_config_options(config.options())
        .with_query_execution_start_time(config.query_execution_start_time())
        .build();
    let simplifier = ExprSimplifier::new(context);
    let names = NamePreserver::new(&plan);
    let plan = plan.map_expressions(|expr| {
        let name = names.save(&expr);
        Ok(Transformed::yes(name.restore(with_exact_decimals(expr, &schema, &simplifier)?)))
    })?;
    rule.rewrite(plan.data, config)
}

/// An expression of which the engine's simplifier gets no product and no remainder of decimals wrong.
///
/// # Errors
/// Errors of the engine.
pub fn with_exact_decimals(
    expr: Expr,
    schema: &DFSchema,
    simplifier: &ExprSimplifier,
) -> Result<Expr> {
    expr.transform_up(|part| Ok(Transformed::yes(exact(part, schema, simplifier)?))).data()
}

/// The columns that the expressions of a node refer to.
fn schema_of_inputs(plan: &LogicalPlan) -> Result<DFSchema> {
    match plan {
        LogicalPlan::TableScan(scan) => {
            DFSchema::try_from_qualified_schema(scan.table_name.clone(), &scan.source.schema())
        }
        _ => Ok(merge_schema(&plan.inputs())),
    }
}

/// The operands of a product or a remainder of which one may be a constant.
fn operands(expr: &Expr) -> Option<[&Expr; 2]> {
    let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Multiply | Operator::Modulo, right }) =
        expr
    else {
        return None;
    };
    let is_constant = |side: &Expr| !side.any_column_refs();
    (is_constant(left) != is_constant(right)).then_some([&**left, &**right])
}

/// A product or a remainder that the engine's rule does not get wrong.
fn exact(expr: Expr, schema: &DFSchema, simplifier: &ExprSimplifier) -> Result<Expr> {
    let Some(sides) = operands(&expr) else { return Ok(expr) };
    let result = expr.get_type(schema)?;
    if !matches!(result, DataType::Decimal128(..) | DataType::Decimal256(..)) {
        return Ok(expr);
    }
    let is_null = sides[0].nullable(schema)? || sides[1].nullable(schema)?;
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = expr else { return Ok(expr) };
    let known = |side: Box<Expr>| match side.any_column_refs() || side.is_volatile() {
        true => Ok(side),
        false => simplifier.simplify(*side).map(Box::new),
    };
    let (left, right) = (known(left)?, known(right)?);
    if op == Operator::Multiply && !is_null && (is_number(&left, 0) || is_number(&right, 0)) {
        return Ok(Expr::Literal(ScalarValue::new_zero(&result)?, None));
    }
    // Divided by -1, the remainder is the same.
    let right = match (op, *right) {
        (Operator::Modulo, Expr::Literal(one, metadata)) if is_value(&one, 1) => {
            Box::new(Expr::Literal(one.arithmetic_negate()?, metadata))
        }
        (_, right) => Box::new(right),
    };
    Ok(Expr::BinaryExpr(BinaryExpr { left, op, right }))
}

/// Whether an expression is a constant number.
fn is_number(expr: &Expr, number: i128) -> bool {
    matches!(expr, Expr::Literal(value, _) if is_value(value, number))
}

/// Whether a decimal is a whole number, with any digits behind the point.
fn is_value(value: &ScalarValue, number: i128) -> bool {
    let whole = ScalarValue::Decimal128(Some(number), 1, 0);
    whole.cast_to(&value.data_type()).is_ok_and(|whole| whole == *value)
}
