//! Type coercion of floating-point and exact numbers as in PostgreSQL.
//!
//! The results of CASE, UNION and the like, and both sides of a comparison, become floating-point.
//! DataFusion would make them `numeric`, which has a smaller range.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, DFSchemaRef, Result};
use datafusion::logical_expr::expr::{Between, Cast, InList, InSubquery};
use datafusion::logical_expr::{
    Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, Subquery, Union, Values, cast,
};
use std::sync::Arc;

/// Functions whose arguments have a common type.
const OF_ONE_TYPE: [&str; 5] = ["coalesce", "greatest", "least", "nullif", "make_array"];

/// The common type of values of which one is chosen; `None` if DataFusion's choice is right.
fn chosen(types: &[DataType]) -> Option<DataType> {
    let is_mixed =
        types.iter().any(DataType::is_floating) && types.iter().any(DataType::is_decimal);
    let has = |wanted: DataType| types.contains(&wanted);
    is_mixed.then(|| if has(DataType::Float64) { DataType::Float64 } else { DataType::Float32 })
}

/// The common type of compared values. Floating-point and exact numbers are compared in double
/// precision.
fn compared(types: &[DataType]) -> Option<DataType> {
    chosen(types).map(|_| DataType::Float64)
}

/// Whether the parts of an expression have a common type.
fn has_one_type(expr: &Expr) -> bool {
    match expr {
        Expr::Case(_) | Expr::InList(_) | Expr::Between(_) | Expr::InSubquery(_) => true,
        Expr::ScalarFunction(call) => OF_ONE_TYPE.contains(&call.name()),
        _ => false,
    }
}

/// Casts the parts of an expression to PostgreSQL's common type. `inputs` are the columns in scope.
pub(super) fn of_expression(expr: Expr, inputs: &[DFSchemaRef]) -> Result<Expr> {
    if !has_one_type(&expr) {
        return Ok(expr);
    }
    let mut schema = DFSchema::empty();
    inputs.iter().rev().for_each(|input| schema.merge(input));
    Ok(match expr {
        Expr::Case(mut case) => {
            let thens = case.when_then_expr.iter_mut().map(|(_, then)| &mut **then);
            let results = thens.chain(case.else_expr.as_deref_mut()).collect();
            unify(results, &schema, chosen);
            if let Some(value) = case.expr.as_deref_mut() {
                let whens = case.when_then_expr.iter_mut().map(|(when, _)| &mut **when);
                unify(std::iter::once(value).chain(whens).collect(), &schema, compared);
            }
            Expr::Case(case)
        }
        Expr::ScalarFunction(mut call) => {
            unify(call.args.iter_mut().collect(), &schema, chosen);
            Expr::ScalarFunction(call)
        }
        Expr::InList(InList { mut expr, mut list, negated }) => {
            unify(std::iter::once(&mut *expr).chain(&mut list).collect(), &schema, compared);
            Expr::InList(InList { expr, list, negated })
        }
        Expr::Between(Between { mut expr, negated, mut low, mut high }) => {
            unify(vec![&mut *expr, &mut *low, &mut *high], &schema, compared);
            Expr::Between(Between { expr, negated, low, high })
        }
        Expr::InSubquery(within) => Expr::InSubquery(of_subquery(within, &schema)?),
        other => other,
    })
}

/// Casts the numbers among expressions to their common type.
fn unify(exprs: Vec<&mut Expr>, schema: &DFSchema, together: fn(&[DataType]) -> Option<DataType>) {
    let types = exprs.iter().filter_map(|expr| expr.get_type(schema).ok());
    let Some(to) = together(&types.collect::<Vec<_>>()) else { return };
    for expr in exprs {
        if expr.get_type(schema).is_ok_and(|of| of != to && of.is_numeric()) {
            *expr = cast(std::mem::take(expr), to.clone());
        }
    }
}

fn of_subquery(mut within: InSubquery, schema: &DFSchema) -> Result<InSubquery> {
    let own = within.subquery.subquery.schema();
    let Some(column) = own.columns().into_iter().next() else { return Ok(within) };
    let types = [within.expr.get_type(schema), Ok(own.field(0).data_type().clone())];
    let types = types.into_iter().collect::<Result<Vec<_>>>().unwrap_or_default();
    if let Some(to) = compared(&types) {
        let name = column.name.clone();
        let value = cast(Expr::Column(column), to.clone()).alias(name);
        let plan = LogicalPlanBuilder::from(Arc::clone(&within.subquery.subquery));
        let plan = plan.project([value])?.build()?;
        within.subquery = Subquery { subquery: Arc::new(plan), ..within.subquery };
        *within.expr = cast(*within.expr, to);
    }
    Ok(within)
}

/// Casts the columns of a UNION to PostgreSQL's common types. `changed` tells whether the types of
/// an input have changed since the union was built.
pub(super) fn of_union(union: Union, changed: bool) -> Result<LogicalPlan> {
    let width = union.schema.fields().len();
    let together = (0..width).map(|index| {
        let types = union.inputs.iter().map(|input| input.schema().field(index).data_type());
        chosen(&types.cloned().collect::<Vec<_>>())
    });
    let together: Vec<Option<DataType>> = together.collect();
    if together.iter().all(Option::is_none) {
        let union = LogicalPlan::Union(union);
        return if changed { union.recompute_schema() } else { Ok(union) };
    }
    let inputs = union.inputs.into_iter().map(|input| {
        let columns = input.schema().columns().into_iter().zip(&together);
        let columns: Vec<Expr> = columns
            .map(|(column, to)| match to {
                Some(to) => {
                    let name = column.name.clone();
                    cast(Expr::Column(column), to.clone()).alias(name)
                }
                None => Expr::Column(column),
            })
            .collect();
        Ok(Arc::new(LogicalPlanBuilder::from(input).project(columns)?.build()?))
    });
    let inputs = inputs.collect::<Result<Vec<_>>>()?;
    Ok(LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?))
}

/// Casts the columns of VALUES to PostgreSQL's common types in place of DataFusion's casts. Returns
/// whether one has changed.
pub(super) fn of_values(values: &mut Values) -> Result<bool> {
    let none = DFSchema::empty();
    let mut changed = false;
    for (index, field) in values.schema.fields().iter().enumerate() {
        let of_engine = |cast: &Cast| {
            let inner = cast.expr.get_type(&none).is_ok_and(|inner| inner.is_numeric());
            inner && cast.field.data_type() == field.data_type() && cast.field.metadata().is_empty()
        };
        let mut cells: Vec<&mut Expr> =
            values.values.iter_mut().filter_map(|row| row.get_mut(index)).collect();
        let types = cells.iter().map(|cell| match cell {
            Expr::Cast(cast) if of_engine(cast) => cast.expr.get_type(&none),
            cell => cell.get_type(&none),
        });
        let Some(to) = chosen(&types.collect::<Result<Vec<_>>>()?) else { continue };
        for cell in &mut cells {
            **cell = match std::mem::take(*cell) {
                Expr::Cast(own) if of_engine(&own) => cast(*own.expr, to.clone()),
                other => cast(other, to.clone()),
            };
        }
        changed = true;
    }
    Ok(changed)
}
