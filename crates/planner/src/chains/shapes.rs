//! One step of a folded chain: an operator between operands of two types.

use crate::casts;
use crate::operators::Operators;
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::{Field, FieldRef, Schema, SchemaRef};
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::execution::context::ExecutionProps;
use datafusion::functions_nested::planner::NestedFunctionPlanner;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{Expr, Operator, binary_expr, col};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_expr::{PhysicalExpr, create_physical_expr};
use datafusion::sql::sqlparser::ast::BinaryOperator;
use functions::json::operators::JsonOperators;
use std::sync::Arc;
use values::style::Style;

/// A planned operator between a left and a right operand.
#[derive(Debug)]
pub(super) struct Shape {
    /// The columns of the operands.
    operands: SchemaRef,
    operator: Arc<dyn PhysicalExpr>,
    /// The type of the result.
    pub(super) result: FieldRef,
}

impl Shape {
    /// Plans an operator with the rules for any two operands of these types.
    pub(super) fn new(op: &BinaryOperator, left: &Field, right: &Field) -> Result<Self> {
        let named = |name, field: &Field| field.clone().with_name(name).with_nullable(true);
        let operands = Arc::new(Schema::new(vec![named("left", left), named("right", right)]));
        let schema = DFSchema::try_from(Arc::clone(&operands))?;
        let expr = pair(op, col("left"), col("right"), &schema)?;
        let context = SimplifyContext::builder().with_schema(Arc::new(schema.clone())).build();
        let expr = ExprSimplifier::new(context).coerce(expr, &schema)?;
        let expr = casts::converted(expr, &schema, Style::default())?.data;
        let operator =
            create_physical_expr(&expr, &schema, &ExecutionProps::new(), &Default::default())?;
        let result = operator.return_field(&operands)?;
        Ok(Self { operands, operator, result })
    }

    /// The type of the right operand.
    pub(super) fn right(&self) -> &Field {
        self.operands.field(1)
    }

    /// Applies the operator.
    pub(super) fn apply(&self, left: ArrayRef, right: ArrayRef) -> Result<ArrayRef> {
        let rows = left.len();
        let batch = RecordBatch::try_new(Arc::clone(&self.operands), vec![left, right])?;
        self.operator.evaluate(&batch)?.into_array(rows)
    }
}

fn operator(op: &BinaryOperator) -> Result<Operator> {
    Ok(match op {
        BinaryOperator::Plus => Operator::Plus,
        BinaryOperator::Minus => Operator::Minus,
        BinaryOperator::Multiply => Operator::Multiply,
        BinaryOperator::Divide => Operator::Divide,
        BinaryOperator::Modulo => Operator::Modulo,
        BinaryOperator::StringConcat => Operator::StringConcat,
        BinaryOperator::BitwiseAnd => Operator::BitwiseAnd,
        BinaryOperator::BitwiseOr => Operator::BitwiseOr,
        BinaryOperator::PGBitwiseXor => Operator::BitwiseXor,
        other => {
            return Err(DataFusionError::Internal(format!("{other} is not a chained operator")));
        }
    })
}

/// The operator of a symbol.
pub(super) fn of_symbol(symbol: &str) -> Result<BinaryOperator> {
    Ok(match symbol {
        "+" => BinaryOperator::Plus,
        "-" => BinaryOperator::Minus,
        "*" => BinaryOperator::Multiply,
        "/" => BinaryOperator::Divide,
        "%" => BinaryOperator::Modulo,
        "||" => BinaryOperator::StringConcat,
        "&" => BinaryOperator::BitwiseAnd,
        "|" => BinaryOperator::BitwiseOr,
        "#" => BinaryOperator::PGBitwiseXor,
        other => {
            return Err(DataFusionError::Internal(format!("{other} is not a chained operator")));
        }
    })
}

/// Plans an operator between two operands as the SQL planner does.
pub(super) fn pair(
    op: &BinaryOperator,
    left: Expr,
    right: Expr,
    schema: &DFSchema,
) -> Result<Expr> {
    let mut raw = RawBinaryExpr { op: op.clone(), left, right };
    let planners: [&dyn ExprPlanner; 3] = [&JsonOperators, &Operators, &NestedFunctionPlanner];
    for planner in planners {
        match planner.plan_binary_op(raw, schema)? {
            PlannerResult::Planned(expr) => return Ok(expr),
            PlannerResult::Original(unchanged) => raw = unchanged,
        }
    }
    let RawBinaryExpr { op, left, right } = raw;
    Ok(binary_expr(left, operator(&op)?, right))
}
