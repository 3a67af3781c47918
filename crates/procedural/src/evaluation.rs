//! Expressions that are planned once and evaluated many times.

use crate::steady::{is_number, steady_value};
use crate::value::Value;
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, LogicalPlan, Volatility};
use datafusion::physical_expr::PhysicalExpr;
use planner::inputs::Inputs;
use planner::{NamedParameter, Planner};
use std::sync::{Arc, OnceLock};
use store::catalog::SqlType;
use values::error::Result;
use values::field::Field;

/// An expression without subqueries, over parameters of these names.
#[derive(Debug)]
pub struct Compiled {
    names: Vec<NamedParameter>,
    expr: Arc<dyn PhysicalExpr>,
    inputs: Inputs,
    /// The columns of the inputs.
    schema: SchemaRef,
    of: SqlType,
    /// Whether it has the same meaning in every statement.
    is_lasting: bool,
    /// Its value, if that is always the same.
    constant: OnceLock<Value>,
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
        let schema = Arc::new(Schema::new(inputs.fields()));
        let constant = OnceLock::new();
        Some(Self { names, expr, inputs, schema, of, is_lasting, constant })
    }

    /// Whether it has the same meaning in every statement.
    pub fn is_lasting(&self) -> bool {
        self.is_lasting
    }

    /// The value for parameters of these names and values. `None` if it must be planned for them.
    ///
    /// # Errors
    /// Those of the expression.
    pub fn value(&self, names: &[NamedParameter], values: &[ScalarValue]) -> Result<Option<Value>> {
        match self.is_of(names) {
            true => self.computed(|number| values.get(number)),
            false => Ok(None),
        }
    }

    /// Whether it is one over parameters of these names.
    pub(crate) fn is_of(&self, names: &[NamedParameter]) -> bool {
        names == self.names
    }

    /// The value for variables. `None` if one has another type than before.
    pub(crate) fn value_of<'v>(
        &self,
        variable: &dyn Fn(usize) -> Option<&'v Value>,
    ) -> Result<Option<Value>> {
        self.computed(|number| {
            let (value, of) = (variable(number)?, &self.names.get(number)?.sql_type);
            let is_same = value.of == *of || is_number(&value.of) && is_number(of);
            is_same.then_some(&value.scalar)
        })
    }

    /// The places of the variables that it reads.
    pub(crate) fn read(&self) -> Vec<usize> {
        self.inputs.parameters().map(|(number, _)| number).collect()
    }

    fn computed<'v>(
        &self,
        parameter: impl Fn(usize) -> Option<&'v ScalarValue>,
    ) -> Result<Option<Value>> {
        if let Some(constant) = self.constant.get() {
            return Ok(Some(constant.clone()));
        }
        let mut columns = Vec::with_capacity(self.schema.fields().len());
        for (number, of) in self.inputs.parameters() {
            let Some(value) = parameter(number) else { return Ok(None) };
            let value = steady_value(value);
            if value.data_type() != *of {
                return Ok(None);
            }
            columns.push(value.to_array_of_size(1)?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(1));
        let schema = Arc::clone(&self.schema);
        let row = RecordBatch::try_new_with_options(schema, columns, &options)?;
        let array = self.expr.evaluate(&row)?.into_array(1)?;
        let value = Value::at(&array, 0, &self.of)?;
        if self.is_lasting && self.schema.fields().is_empty() {
            let _ = self.constant.set(value.clone());
        }
        Ok(Some(value))
    }
}
