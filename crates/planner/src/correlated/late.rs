//! Values of subqueries that may be errors, which are raised where a row needs the value.
//!
//! The engine computes the functions of a select list or filter for all rows, before it evaluates the expressions around
//! them. In an expression that chooses, as CASE and OR do, a function returns its value with a number: that of the error of a
//! value that could not be computed. [`needed`] around the call returns the value, or raises the error.

use super::subquery_of;
use datafusion::arrow::array::{ArrayRef, AsArray, StructArray, UInt32Array, new_empty_array};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields, UInt32Type};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, LogicalPlan, Operator, ReturnFieldArgs, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use executor::logical_may_fail;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use values::error::Error;
use values::translate::external;

/// A value of a subquery, or its error.
pub(super) type Outcome = std::result::Result<ScalarValue, Error>;

/// Whether an expression does not need the values of all its parts for every row. The conditions of a filter are looked at
/// one by one.
pub(super) fn chooses(expr: &Expr, is_filter: bool) -> Result<bool> {
    let is_choice = |part: &Expr| {
        Ok(match part {
            Expr::Case(_) => true,
            Expr::BinaryExpr(BinaryExpr { op, .. }) => matches!(op, Operator::And | Operator::Or),
            Expr::ScalarFunction(call) => call.func.name() == "coalesce",
            _ => false,
        })
    };
    if !is_filter {
        return expr.exists(is_choice);
    }
    for condition in split_conjunction(expr) {
        if condition.exists(is_choice)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether an expression chooses, and has a subquery that may fail: the engine's join would compute it for all rows.
pub(super) fn is_in(expr: &Expr, is_filter: bool) -> Result<bool> {
    let fails = |part: &Expr| match subquery_of(part) {
        Some(subquery) if !matches!(part, Expr::ScalarSubquery(_)) => may_fail(&subquery.subquery),
        Some(subquery) if !subquery.outer_ref_columns.is_empty() => may_fail(&subquery.subquery),
        _ => Ok(false),
    };
    Ok(expr.exists(fails)? && chooses(expr, is_filter)?)
}

/// Whether computing the rows of a plan may fail.
pub(super) fn may_fail(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            found = found || fails(expr);
            Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })
    })?;
    Ok(found)
}

/// Whether an expression of a plan may fail. Aggregates count as their arguments.
fn fails(expr: &Expr) -> bool {
    match expr {
        Expr::Alias(alias) => fails(&alias.expr),
        Expr::AggregateFunction(call) => call.params.args.iter().any(fails),
        expr if subquery_of(expr).is_some() => false,
        expr => logical_may_fail(expr),
    }
}

/// The errors of a subquery, by the numbers that values have.
#[derive(Debug, Default)]
pub(super) struct Failures(Mutex<Vec<Error>>);

impl Failures {
    fn add(&self, error: Error) -> u32 {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Most rows fail for one reason.
        if known.last().is_none_or(|last| last.to_string() != error.to_string()) {
            known.push(error);
        }
        u32::try_from(known.len() - 1).unwrap_or(u32::MAX)
    }

    fn get(&self, number: u32) -> Option<Error> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(usize::try_from(number).ok()?).cloned()
    }

    /// Values with the numbers of their errors.
    pub(super) fn carried(&self, values: &[Outcome], data_type: &DataType) -> Result<ArrayRef> {
        if values.is_empty() {
            return Ok(new_empty_array(&carrying(data_type)));
        }
        let (mut plain, mut numbers) = (Vec::new(), Vec::new());
        for value in values {
            numbers.push(value.as_ref().err().map(|error| self.add(error.clone())));
            plain.push(match value {
                Ok(value) => value.clone(),
                Err(_) => ScalarValue::try_from(data_type)?,
            });
        }
        let columns: Vec<ArrayRef> =
            vec![ScalarValue::iter_to_array(plain)?, Arc::new(UInt32Array::from(numbers))];
        Ok(Arc::new(StructArray::try_new(fields(data_type), columns, None)?))
    }
}

fn fields(data_type: &DataType) -> Fields {
    let value = Field::new("value", data_type.clone(), true);
    Fields::from(vec![value, Field::new("failure", DataType::UInt32, true)])
}

/// The type of values with the numbers of their errors.
pub(super) fn carrying(data_type: &DataType) -> DataType {
    DataType::Struct(fields(data_type))
}

/// The value of a call that returns one with the number of its error. `field` describes the value.
pub(super) fn needed(call: Expr, failures: &Arc<Failures>, field: FieldRef) -> Expr {
    let signature = Signature::any(1, Volatility::Immutable);
    let function = Needed { failures: Arc::clone(failures), field, signature };
    ScalarUDF::new_from_impl(function).call(vec![call])
}

/// The function that raises errors.
#[derive(Debug)]
struct Needed {
    failures: Arc<Failures>,
    field: FieldRef,
    signature: Signature,
}

impl PartialEq for Needed {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.failures, &other.failures)
    }
}

impl Eq for Needed {}

impl Hash for Needed {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.failures).hash(state);
    }
}

impl ScalarUDFImpl for Needed {
    fn name(&self) -> &str {
        "needed"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.field.data_type().clone())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::clone(&self.field))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [carried] = &args.args[..] else { return internal_err!("needed has one argument") };
        let carried = carried.to_array(args.number_rows)?;
        let carried = carried.as_struct();
        let numbers = carried.column(1).as_primitive::<UInt32Type>();
        if let Some(number) = numbers.iter().flatten().next() {
            return match self.failures.get(number) {
                Some(error) => Err(external(error)),
                None => internal_err!("an error of a subquery is unknown"),
            };
        }
        Ok(ColumnarValue::Array(Arc::clone(carried.column(0))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::logical_expr::{col, lit, when};
    use values::error::SqlState;

    #[test]
    fn conditions_of_a_filter_are_no_choice() {
        let (one, two) = (col("x").gt(lit(1)), col("y").lt(lit(2)));
        let both = one.clone().and(two.clone());
        assert!(chooses(&both, false).expect("walked"));
        assert!(!chooses(&both, true).expect("walked"));
        assert!(chooses(&one.clone().or(two), true).expect("walked"));
        let case = when(one, lit(1)).otherwise(lit(2)).expect("typed");
        assert!(chooses(&case, false).expect("walked"));
    }

    #[test]
    fn equal_errors_have_one_number() {
        let failures = Failures::default();
        let error = || Err(Error::new(SqlState::DivisionByZero, "division by zero"));
        let values = [Ok(ScalarValue::from(1)), error(), error()];
        let carried = failures.carried(&values, &DataType::Int32).expect("carried");
        let numbers = carried.as_struct().column(1).as_primitive::<UInt32Type>();
        assert_eq!(numbers.iter().collect::<Vec<_>>(), [None, Some(0), Some(0)]);
        assert_eq!(failures.get(0).expect("known").state(), SqlState::DivisionByZero);
    }
}
