//! Columns of a fragment that have one value on all servers.
//!
//! The engine leaves constants out of the orders that its operators ask for: a window over partitions by a constant, as in
//! INTERSECT ALL of constants, takes rows in any order. What stands for a fragment on another server says so, too. Only
//! what operators compute counts: what the engine concludes from statistics is true of the rows of one server.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal};
use datafusion::physical_expr::utils::split_conjunction;
use datafusion::physical_expr::{AcrossPartitions, ConstExpr, PhysicalExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The columns of a fragment that are constants.
pub(super) fn constants_of(fragment: &Arc<dyn ExecutionPlan>) -> Vec<ConstExpr> {
    let schema = fragment.schema();
    let constant = |(at, value): (usize, ScalarValue)| {
        let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(schema.field(at).name(), at));
        ConstExpr::new(column, AcrossPartitions::Uniform(Some(value)))
    };
    values_of(fragment).into_iter().map(constant).collect()
}

/// The values of constant columns, by their places.
fn values_of(plan: &Arc<dyn ExecutionPlan>) -> BTreeMap<usize, ScalarValue> {
    let children = plan.children();
    let [input] = children.as_slice() else { return BTreeMap::new() };
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        let below = values_of(input);
        let value = |expr: &Arc<dyn PhysicalExpr>| match expr.downcast_ref::<Column>() {
            Some(column) => below.get(&column.index()).cloned(),
            None => expr.downcast_ref::<Literal>().map(|literal| literal.value().clone()),
        };
        let values = projection.expr().iter().enumerate();
        return values.filter_map(|(at, of)| Some((at, value(&of.expr)?))).collect();
    }
    if plan.schema().fields() != input.schema().fields() {
        return BTreeMap::new();
    }
    let mut values = values_of(input);
    match plan.downcast_ref::<FilterExec>() {
        Some(filter) if filter.projection().is_some() => BTreeMap::new(),
        Some(filter) => {
            values.extend(split_conjunction(filter.predicate()).into_iter().filter_map(equal_to));
            values
        }
        None => values,
    }
}

/// The column that a condition compares with a constant, and its value.
fn equal_to(condition: &Arc<dyn PhysicalExpr>) -> Option<(usize, ScalarValue)> {
    let comparison =
        condition.downcast_ref::<BinaryExpr>().filter(|of| *of.op() == Operator::Eq)?;
    let sides = [comparison.left(), comparison.right()];
    let column = sides.iter().find_map(|side| side.downcast_ref::<Column>())?;
    let literal = sides.iter().find_map(|side| side.downcast_ref::<Literal>())?;
    Some((column.index(), literal.value().clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use datafusion::physical_expr::expressions::{binary, col, lit};
    use datafusion::physical_plan::empty::EmptyExec;

    #[test]
    fn literals_and_equations_are_constants() {
        let fields = ["a", "b"].map(|name| Field::new(name, DataType::Int32, true));
        let schema = Arc::new(Schema::new(fields.to_vec()));
        let rows: Arc<dyn ExecutionPlan> = Arc::new(EmptyExec::new(Arc::clone(&schema)));
        let column = |name| col(name, &schema).expect("a column");
        let three = binary(column("b"), Operator::Eq, lit(3), &schema).expect("a condition");
        let filter = FilterExec::try_new(three, Arc::clone(&rows)).expect("a filter");
        let filter: Arc<dyn ExecutionPlan> = Arc::new(filter);
        let columns = vec![
            (column("a"), "a".to_owned()),
            (column("b"), "b".to_owned()),
            (lit(7), "c".to_owned()),
        ];
        let shown = ProjectionExec::try_new(columns, filter).expect("a projection");
        let shown: Arc<dyn ExecutionPlan> = Arc::new(shown);
        let constants = constants_of(&shown).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(constants, ["b@1(uniform: 3)", "c@2(uniform: 7)"]);
        assert!(constants_of(&rows).is_empty());
    }
}
