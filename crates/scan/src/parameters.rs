//! Parameters of plans that are executed with other values each time.
//!
//! Such a plan calls a function where a value would be. Scans look at the values when a plan is made, and again
//! when it is executed: key ranges depend on them.

use crate::number_keys::without_keys;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::expr::{Placeholder, ScalarFunction};
use datafusion::logical_expr::{
    BinaryExpr, Cast, ColumnarValue, Expr, LogicalPlan, Operator, ReturnFieldArgs,
    ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use parking_lot::RwLock;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The values of a plan's parameters. One execution uses them at a time.
#[derive(Debug, Default)]
pub struct Parameters(RwLock<Vec<ScalarValue>>);

impl Parameters {
    /// Parameters with values.
    pub fn new(values: &[ScalarValue]) -> Arc<Self> {
        Arc::new(Self(RwLock::new(values.to_vec())))
    }

    /// Gives other values of the same types.
    pub fn set(&self, values: &[ScalarValue]) {
        self.0.write().clone_from_slice(values);
    }

    fn value(&self, index: usize) -> Option<ScalarValue> {
        self.0.read().get(index).cloned()
    }

    /// The plan with calls in the place of its parameters. `None` if a parameter stands where its value may decide more
    /// than a comparison: then the plan is good for one value only.
    ///
    /// # Errors
    /// Errors of the engine.
    pub fn called_in(self: &Arc<Self>, plan: LogicalPlan) -> Result<Option<LogicalPlan>> {
        let mut is_possible = true;
        plan.apply_with_subqueries(|node| {
            // Elsewhere a parameter may be in the name of a column.
            let selects = matches!(
                node,
                LogicalPlan::Filter(_) | LogicalPlan::TableScan(_) | LogicalPlan::Join(_)
            );
            node.apply_expressions(|expr| {
                let compared = if selects { compared(expr)? } else { 0 };
                is_possible &= places(expr)? == compared;
                Ok(TreeNodeRecursion::Continue)
            })
        })?;
        if !is_possible {
            return Ok(None);
        }
        let plan = plan.transform_down_with_subqueries(|node| {
            node.map_expressions(|expr| expr.transform(|part| self.called(part, &mut is_possible)))
        })?;
        Ok(is_possible.then_some(plan.data))
    }

    fn called(self: &Arc<Self>, expr: Expr, is_possible: &mut bool) -> Result<Transformed<Expr>> {
        let Expr::Placeholder(Placeholder { id, field }) = &expr else {
            return Ok(Transformed::no(expr));
        };
        let index = id.strip_prefix('$').and_then(|number| number.parse::<usize>().ok());
        let index = index.and_then(|number| number.checked_sub(1));
        let value = index.and_then(|index| self.value(index));
        let (Some(index), Some(field), Some(value)) = (index, field, value) else {
            *is_possible = false;
            return Ok(Transformed::no(expr));
        };
        *is_possible &= value.data_type() == *field.data_type();
        let call = Call {
            parameters: Arc::clone(self),
            index,
            data_type: field.data_type().clone(),
            signature: Signature::nullary(Volatility::Stable),
        };
        let call = ScalarFunction::new_udf(Arc::new(ScalarUDF::new_from_impl(call)), Vec::new());
        Ok(Transformed::yes(Expr::ScalarFunction(call)))
    }
}

/// The parameters in an expression.
fn places(expr: &Expr) -> Result<usize> {
    let mut count = 0;
    expr.apply(|part| {
        count += usize::from(matches!(part, Expr::Placeholder(_)));
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(count)
}

/// The parameters in an expression with which something is compared.
fn compared(expr: &Expr) -> Result<usize> {
    let mut count = 0;
    expr.apply(|part| {
        count += match part {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_comparison(*op) => {
                usize::from(is_parameter(left)) + usize::from(is_parameter(right))
            }
            Expr::Between(between) => {
                usize::from(is_parameter(&between.low)) + usize::from(is_parameter(&between.high))
            }
            Expr::InList(list) => list.list.iter().filter(|item| is_parameter(item)).count(),
            _ => 0,
        };
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(count)
}

fn is_comparison(operator: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    matches!(operator, Eq | NotEq | Lt | LtEq | Gt | GtEq)
}

fn is_parameter(expr: &Expr) -> bool {
    match expr {
        Expr::Placeholder(_) => true,
        Expr::Cast(Cast { expr, .. }) => is_parameter(expr),
        _ => false,
    }
}

/// The expressions with the values of the parameters that they call.
///
/// # Errors
/// Errors of the engine.
pub(crate) fn with_values(expressions: &[Expr]) -> Result<Vec<Expr>> {
    let with_value = |part: Expr| match &part {
        Expr::ScalarFunction(function) => match function.func.inner().downcast_ref::<Call>() {
            Some(call) => Ok(Transformed::yes(Expr::Literal(call.value()?, None))),
            None => Ok(Transformed::no(part)),
        },
        // Conversions of values, which would hide them.
        Expr::Cast(Cast { expr, field }) => match &**expr {
            Expr::Literal(value, _) => Ok(match value.cast_to(field.data_type()) {
                Ok(value) => Transformed::yes(Expr::Literal(value, None)),
                Err(_) => Transformed::no(part),
            }),
            _ => Ok(Transformed::no(part)),
        },
        _ => Ok(Transformed::no(part)),
    };
    let calls = |expr: &Expr| {
        expr.exists(|part| {
            Ok(matches!(part, Expr::ScalarFunction(function)
                if function.func.inner().downcast_ref::<Call>().is_some()))
        })
    };
    let valued = expressions.iter().map(|expr| match calls(expr)? {
        true => Ok(expr.clone().transform_up(with_value)?.data),
        false => Ok(expr.clone()),
    });
    Ok(without_keys(valued.collect::<Result<_>>()?))
}

/// The value of a parameter.
#[derive(Debug)]
struct Call {
    parameters: Arc<Parameters>,
    index: usize,
    data_type: DataType,
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
        Ok(self.data_type.clone())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs) -> Result<FieldRef> {
        Ok(Arc::new(Field::new("parameter", self.data_type.clone(), true)))
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(ColumnarValue::Scalar(self.value()?))
    }
}
