//! Expressions that are planned once and evaluated many times.

use crate::value::Value;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, LogicalPlan, Volatility};
use datafusion::physical_expr::PhysicalExpr;
use planner::inputs::Inputs;
use planner::{NamedParameter, Planner};
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::Result;
use values::field::Field;

/// An expression without subqueries, over parameters of these names.
pub struct Compiled {
    names: Vec<NamedParameter>,
    expr: Arc<dyn PhysicalExpr>,
    inputs: Inputs,
    of: SqlType,
    /// Whether it has the same meaning in every statement.
    pub(crate) is_lasting: bool,
}

impl Compiled {
    /// The expression that the plan of a query without FROM consists of. `None` for other plans.
    pub fn of(planner: &Planner<'_>, plan: &LogicalPlan, fields: &[Field]) -> Option<Self> {
        let LogicalPlan::Projection(projection) = plan else { return None };
        let (LogicalPlan::EmptyRelation(_), [expr], [field]) =
            (&*projection.input, projection.expr.as_slice(), fields)
        else {
            return None;
        };
        let is_query = |expr: &Expr| {
            use Expr::{Exists, InSubquery, ScalarSubquery, SetComparison};
            Ok(matches!(expr, Exists(_) | InSubquery(_) | ScalarSubquery(_) | SetComparison(_)))
        };
        if expr.exists(is_query).unwrap_or(true) {
            return None;
        }
        let mut inputs = Inputs::default();
        let logical = expr.clone().unalias();
        let is_immutable =
            |call: &ScalarFunction| call.func.signature().volatility == Volatility::Immutable;
        let differs =
            |expr: &Expr| Ok(matches!(expr, Expr::ScalarFunction(call) if !is_immutable(call)));
        let is_lasting = !logical.exists(differs).unwrap_or(true);
        let empty = DFSchema::empty();
        let expr = planner.physical_with_inputs(logical, &empty, &mut inputs).ok()??;
        let (names, of) = (planner.names.to_vec(), field.sql_type.clone());
        Some(Self { names, expr, inputs, of, is_lasting })
    }

    /// The value for parameters of these names and values. `None` if it must be planned for them.
    pub(crate) fn value(
        &self,
        names: &[NamedParameter],
        values: &[ScalarValue],
    ) -> Result<Option<Value>> {
        if names != self.names {
            return Ok(None);
        }
        let Some(row) = self.inputs.row(values, None)? else { return Ok(None) };
        let array = self.expr.evaluate(&row)?.into_array(1)?;
        Value::at(&array, 0, &self.of).map(Some)
    }
}
