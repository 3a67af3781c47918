//! Parameters of plans that are executed with other values each time.
//!
//! Such a plan calls a function where a value would be. Scans look at the values when a plan is made, and again
//! when it is executed: key ranges depend on them.

use crate::number_keys::without_keys;
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, FieldRef, Schema};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result, ScalarValue, internal_err};
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::logical_expr::expr::{Placeholder, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr::create_physical_expr;
use functions::numbers::open::KEY;
use parking_lot::RwLock;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The values of a plan's parameters. One execution uses them at a time.
#[derive(Debug, Default)]
pub struct Parameters {
    values: RwLock<Vec<ScalarValue>>,
    /// The places of those whose values are part of the plan.
    fixed: RwLock<Vec<usize>>,
}

impl Parameters {
    /// Parameters with values.
    pub fn new(values: &[ScalarValue]) -> Arc<Self> {
        Arc::new(Self { values: RwLock::new(values.to_vec()), fixed: RwLock::default() })
    }

    /// Whether a plan with these parameters can be executed with other values: those in LIMIT and OFFSET are part of the plan.
    pub fn fits(&self, values: &[ScalarValue]) -> bool {
        let known = self.values.read();
        self.fixed.read().iter().all(|place| known.get(*place) == values.get(*place))
    }

    /// Whether the values that are part of the plans are the same as another plan's.
    pub fn is_alike(&self, other: &Self) -> bool {
        self.fits(&other.values.read())
    }

    /// Gives other values of the same types.
    pub fn set(&self, values: &[ScalarValue]) {
        self.values.write().clone_from_slice(values);
    }

    fn value(&self, index: usize) -> Option<ScalarValue> {
        self.values.read().get(index).cloned()
    }

    /// The plan with the values of the parameters that say how many rows LIMIT and OFFSET keep and skip.
    ///
    /// # Errors
    /// Errors of the engine.
    pub fn fixed_in(&self, plan: LogicalPlan) -> Result<LogicalPlan> {
        let fixed = plan.transform_up_with_subqueries(|node| match node {
            LogicalPlan::Limit(_) => node.map_expressions(|expr| self.number_of_rows(expr)),
            node => Ok(Transformed::no(node)),
        });
        fixed.map(|fixed| fixed.data)
    }

    /// A parameter's value, or its value as another type. NULL and negative numbers have a meaning of their own.
    fn number_of_rows(&self, expr: Expr) -> Result<Transformed<Expr>> {
        let mut inner = &expr;
        while let Expr::Cast(cast) = inner {
            inner = &cast.expr;
        }
        let Some((place, value)) = self.parameter(inner) else { return Ok(Transformed::no(expr)) };
        match value.cast_to(&DataType::Int64) {
            Ok(ScalarValue::Int64(Some(0..))) => {}
            _ => return Ok(Transformed::no(expr)),
        }
        self.fixed.write().push(place);
        expr.transform_up(|part| {
            Ok(match part {
                Expr::Placeholder(_) => Transformed::yes(Expr::Literal(value.clone(), None)),
                part => Transformed::no(part),
            })
        })
    }

    /// The place and the value of a parameter.
    fn parameter(&self, expr: &Expr) -> Option<(usize, ScalarValue)> {
        let Expr::Placeholder(Placeholder { id, field }) = expr else { return None };
        let place = id.strip_prefix('$')?.parse::<usize>().ok()?.checked_sub(1)?;
        let value = self.value(place)?;
        (value.data_type() == *field.as_ref()?.data_type()).then_some((place, value))
    }

    /// The plan with calls in the place of its parameters. `None` if a parameter stands where its value is part of the plan.
    ///
    /// # Errors
    /// Errors of the engine.
    pub fn called_in(self: &Arc<Self>, plan: LogicalPlan) -> Result<Option<LogicalPlan>> {
        let mut is_possible = true;
        let plan = plan.transform_up_with_subqueries(|node| {
            let is_of_rows = matches!(
                node,
                LogicalPlan::Filter(_)
                    | LogicalPlan::TableScan(_)
                    | LogicalPlan::Join(_)
                    | LogicalPlan::Projection(_)
                    | LogicalPlan::Aggregate(_)
                    | LogicalPlan::Sort(_)
            );
            let mut has_any = false;
            node.apply_expressions(|expr| {
                has_any |= expr.exists(|part| Ok(matches!(part, Expr::Placeholder(_))))?;
                Ok(TreeNodeRecursion::Continue)
            })?;
            if !has_any {
                return Ok(Transformed::no(node));
            }
            is_possible &= is_of_rows;
            let names = NamePreserver::new(&node);
            let keeps_names = !matches!(node, LogicalPlan::Sort(_));
            let node = node.map_expressions(|expr| {
                let name = keeps_names.then(|| names.save(&expr));
                let called = expr.transform(|part| self.called(part, &mut is_possible))?;
                Ok(match name {
                    Some(name) => called.update_data(|expr| name.restore(expr)),
                    None => called,
                })
            })?;
            node.map_data(LogicalPlan::recompute_schema)
        })?;
        Ok(is_possible.then_some(plan.data))
    }

    fn called(self: &Arc<Self>, expr: Expr, is_possible: &mut bool) -> Result<Transformed<Expr>> {
        let Expr::Placeholder(Placeholder { field, .. }) = &expr else {
            return Ok(Transformed::no(expr));
        };
        let (Some((index, _)), Some(field)) = (self.parameter(&expr), field) else {
            *is_possible = false;
            return Ok(Transformed::no(expr));
        };
        let call = Call {
            parameters: Arc::clone(self),
            index,
            field: Arc::new(field.as_ref().clone().with_name("parameter").with_nullable(true)),
            signature: Signature::nullary(Volatility::Stable),
        };
        let call = ScalarFunction::new_udf(Arc::new(ScalarUDF::new_from_impl(call)), Vec::new());
        Ok(Transformed::yes(Expr::ScalarFunction(call)))
    }
}

/// The expressions with the values of the parameters that they call, and of what is computed from them alone.
///
/// # Errors
/// Errors of the engine.
pub(crate) fn with_values(expressions: &[Expr]) -> Result<Vec<Expr>> {
    let valued = expressions.iter().map(|expr| match calls(expr)? {
        true => Ok(expr.clone().transform_down(with_value)?.data),
        false => Ok(expr.clone()),
    });
    Ok(without_keys(valued.collect::<Result<_>>()?))
}

/// Whether an expression calls a parameter.
fn calls(expr: &Expr) -> Result<bool> {
    expr.exists(|part| {
        Ok(matches!(part, Expr::ScalarFunction(function)
            if function.func.inner().downcast_ref::<Call>().is_some()))
    })
}

/// The value of an expression of parameters. Others, and those that have no value, are left as they are.
fn with_value(expr: Expr) -> Result<Transformed<Expr>> {
    if let Expr::ScalarFunction(function) = &expr
        && let Some(call) = function.func.inner().downcast_ref::<Call>()
    {
        return Ok(Transformed::yes(Expr::Literal(call.value()?, None)));
    }
    let is_open = |part: &Expr| {
        Ok(matches!(
            part,
            Expr::Column(_)
                | Expr::OuterReferenceColumn(..)
                | Expr::Placeholder(_)
                | Expr::Alias(_)
        ))
    };
    // Key ranges know numbers, and not the keys that plans compare.
    let is_key = matches!(&expr, Expr::ScalarFunction(function) if function.func.name() == KEY);
    if is_key || expr.exists(is_open)? || !calls(&expr)? {
        return Ok(Transformed::no(expr));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let row = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options)?;
    let (props, context) = (ExecutionProps::new(), PhysicalPlanningContext::default());
    let value = create_physical_expr(&expr, &DFSchema::empty(), &props, &context)
        .and_then(|physical| physical.evaluate(&row))
        .and_then(|value| ScalarValue::try_from_array(&value.into_array(1)?, 0));
    Ok(match value {
        Ok(value) => Transformed::new(Expr::Literal(value, None), true, TreeNodeRecursion::Jump),
        Err(_) => Transformed::no(expr),
    })
}

/// The value of a parameter.
#[derive(Debug)]
struct Call {
    parameters: Arc<Parameters>,
    index: usize,
    /// Its type, with what says which one is meant of those that are represented alike.
    field: FieldRef,
    signature: Signature,
}

impl Call {
    fn value(&self) -> Result<ScalarValue> {
        match self.parameters.value(self.index) {
            Some(value) => Ok(value),
            None => internal_err!("a parameter of a plan has no value"),
        }
    }
}

impl PartialEq for Call {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && Arc::ptr_eq(&self.parameters, &other.parameters)
    }
}

impl Eq for Call {}

impl Hash for Call {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.index.hash(state);
    }
}

impl ScalarUDFImpl for Call {
    fn name(&self) -> &'static str {
        "parameter"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.field.data_type().clone())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs) -> Result<FieldRef> {
        Ok(Arc::clone(&self.field))
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(ColumnarValue::Scalar(self.value()?))
    }
}
