//! Expressions over parameters in a condition: they are computed first, and stand for further parameters.

use super::Given;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::physical_expr::PhysicalExpr;
use grammar::tree::{AExprKind, BoolExprType, Node, NodeEnum, NodeRef, ParamRef};
use keyed::Operand;
use planner::Planner;
use planner::inputs::Inputs;
use std::sync::Arc;
use store::catalog::{SqlType, Table};
use table_rows::expressions::{self, Value};
use values::error::Result;

/// Expressions of a condition that read no row.
pub(super) struct Computed {
    /// The number of the statement's own parameters, which is the index of the first value.
    own: usize,
    values: Vec<(Arc<dyn PhysicalExpr>, SqlType)>,
    inputs: Inputs,
    /// The parameters of the expressions, with the types that their places say.
    of_expressions: Vec<(usize, SqlType)>,
}

impl Computed {
    /// Puts parameters in the place of expressions of a condition. `None` if it has none that can be computed first.
    pub(super) fn take(
        planner: &Planner<'_>,
        table: &Table,
        statement: &NodeEnum,
        condition: Option<&mut Node>,
    ) -> Option<Self> {
        let own = grammar::greatest_parameter(statement)?;
        let (values, of_expressions) = Default::default();
        let mut computed = Self { own, values, inputs: Inputs::with_moment(), of_expressions };
        computed.replace_in(planner, table, condition?);
        Some(computed).filter(|computed| !computed.values.is_empty())
    }

    fn replace_in(&mut self, planner: &Planner<'_>, table: &Table, node: &mut Node) {
        if matches!(node.node, Some(NodeEnum::AExpr(_))) && self.replace(planner, table, node) {
            return;
        }
        match &mut node.node {
            Some(NodeEnum::BoolExpr(all)) if all.boolop() == BoolExprType::AndExpr => {
                for part in &mut all.args {
                    grammar::growing(|| self.replace_in(planner, table, part));
                }
            }
            Some(NodeEnum::AExpr(test)) => {
                let is_list = matches!(test.kind(), AExprKind::AexprBetween | AExprKind::AexprIn);
                if !is_list && test.kind() != AExprKind::AexprOp {
                    return;
                }
                for side in test.lexpr.iter_mut().chain(&mut test.rexpr) {
                    match &mut side.node {
                        Some(NodeEnum::List(list)) => {
                            for item in &mut list.items {
                                self.replace(planner, table, item);
                            }
                        }
                        _ => {
                            self.replace(planner, table, side);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Puts a parameter in the place of an expression, if that can be computed first. Returns whether it did.
    fn replace(&mut self, planner: &Planner<'_>, table: &Table, node: &mut Node) -> bool {
        let value = self.computed_first(planner, table, node);
        let number = i32::try_from(self.own + self.values.len() + 1).ok();
        let Some((value, number)) = value.zip(number) else { return false };
        self.values.push(value);
        *node = Node { node: Some(NodeEnum::ParamRef(ParamRef { number, location: -1 })) };
        true
    }

    /// An expression that can be computed first, and its type.
    fn computed_first(
        &mut self,
        planner: &Planner<'_>,
        table: &Table,
        node: &Node,
    ) -> Option<(Arc<dyn PhysicalExpr>, SqlType)> {
        let expression = node.node.as_ref()?;
        let is_candidate = matches!(
            expression,
            NodeEnum::FuncCall(_)
                | NodeEnum::AExpr(_)
                | NodeEnum::TypeCast(_)
                | NodeEnum::SqlvalueFunction(_)
        );
        let reads = |node: &NodeRef<'_>| {
            matches!(node, NodeRef::ColumnRef(_) | NodeRef::SelectStmt(_) | NodeRef::SubLink(_))
        };
        let mut parts = expression.nodes().into_iter();
        if !is_candidate
            || Operand::of(expression).is_some()
            || parts.any(|(part, ..)| reads(&part))
        {
            return None;
        }
        let Value { expr, of, parameters } = expressions::plan_value(planner, table, node)?;
        let mut inputs = self.inputs.clone();
        // What is wrong with it, the planner says.
        let value = planner.physical_with_inputs(expr, &DFSchema::empty(), &mut inputs).ok()??;
        self.inputs = inputs;
        self.of_expressions.extend(parameters);
        Some((value, of))
    }

    /// The statement's own parameters among all, and those of the expressions. `None` if an expression has another type than
    /// it is compared with, or a parameter several.
    pub(super) fn own_parameters(
        &self,
        all: Vec<(usize, SqlType)>,
    ) -> Option<Vec<(usize, SqlType)>> {
        let of_own = |number: usize| number < self.own;
        let (mut own, further): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(number, _)| of_own(*number));
        let is_compared_alike = |(number, wanted): &(usize, SqlType)| {
            let value = self.values.get(number - self.own);
            value.is_some_and(|(_, of)| of.fits(wanted) || wanted.fits(of))
        };
        if !further.iter().all(is_compared_alike) {
            return None;
        }
        own.extend(self.of_expressions.iter().cloned());
        Some(own)
    }

    /// The values of the statement's parameters, followed by those of the expressions. `None` if a parameter has another
    /// type than was planned.
    ///
    /// # Errors
    /// Those of the expressions.
    pub(super) fn with_values(&self, given: Given<'_>) -> Result<Option<Vec<ScalarValue>>> {
        let row = self.inputs.row(given.parameters, given.moment)?;
        let (Some(row), Some(own)) = (row, given.parameters.get(..self.own)) else {
            return Ok(None);
        };
        let mut all = own.to_vec();
        for (value, _) in &self.values {
            // Whether PostgreSQL would compute what fails, the planner knows.
            let Ok(value) = value.evaluate(&row) else { return Ok(None) };
            all.push(ScalarValue::try_from_array(&value.into_array(1)?, 0)?);
        }
        Ok(Some(all))
    }
}
