//! Windows and unions of rows that have keys.

use super::{Keys, WithKeys, columns, named};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::{Expr, LogicalPlan, Projection, Union, Window};
use std::sync::Arc;

impl Keys<'_> {
    /// Each partition becomes one for each key.
    pub(super) fn of_window(&mut self, window: &Window) -> Result<Option<WithKeys>> {
        if self.use_outer(&window.window_expr)? {
            return Ok(None);
        }
        let Some((input, keys)) = self.of_plan(&window.input)? else { return Ok(None) };
        if self.answers_nothing {
            // The only group of no rows has a window, too.
            return Ok(None);
        }
        let own = window.input.schema().columns().into_iter().map(Expr::Column);
        let partitioned = window.window_expr.iter().map(|expr| {
            let function = expr.clone().transform(|part| Ok(partition(part, &keys))).data()?;
            Ok(function.alias(expr.schema_name().to_string()))
        });
        let (added, columns) = named(keys.clone());
        let all: Vec<Expr> = partitioned.collect::<Result<_>>()?;
        let functions = all.iter().map(|expr| expr.clone().unalias()).collect();
        let window = Window::try_new(functions, Arc::new(input))?;
        // The functions have other names now; whoever reads them knows the old ones.
        let computed = all.into_iter().map(|expr| {
            let was = expr.schema_name().to_string();
            let is = expr.unalias().schema_name().to_string();
            Expr::Column(Column::from_name(is)).alias(was)
        });
        let all = own.chain(computed).chain(added).collect();
        let plan = Projection::try_new(all, Arc::new(LogicalPlan::Window(window)))?;
        Ok(Some((LogicalPlan::Projection(plan), columns)))
    }

    /// All sides must have the same keys.
    pub(super) fn of_union(&mut self, union: &Union) -> Result<Option<WithKeys>> {
        let mut sides = Vec::with_capacity(union.inputs.len());
        let mut outer = None;
        for input in &union.inputs {
            let mut side =
                Keys { columns: self.columns, outer: Vec::new(), answers_nothing: false };
            let Some((plan, keys)) = side.of_plan(input)? else { return Ok(None) };
            let of_first = outer.get_or_insert_with(|| side.outer.clone());
            let places = of_first.iter().map(|key| side.outer.iter().position(|own| own == key));
            let Some(places) = places.collect::<Option<Vec<_>>>() else { return Ok(None) };
            if side.answers_nothing || keys.is_empty() || keys.len() != places.len() {
                return Ok(None);
            }
            let (keys, _) = named(places.into_iter().map(|place| keys[place].clone()).collect());
            let own = input.schema().columns().into_iter().map(Expr::Column);
            let all = own.chain(keys).collect();
            let plan = Projection::try_new(all, Arc::new(plan))?;
            sides.push(Arc::new(LogicalPlan::Projection(plan)));
        }
        let Some(outer) = outer else { return Ok(None) };
        let keys = columns(outer.len());
        let known = union.schema.fields().len();
        let added = match sides.first() {
            Some(side) => side.schema().iter().skip(known),
            None => return Ok(None),
        };
        let own = union.schema.iter();
        let fields = own.chain(added).map(|(table, field)| (table.cloned(), Arc::clone(field)));
        let metadata = union.schema.metadata().clone();
        let schema = DFSchema::new_with_metadata(fields.collect(), metadata)?;
        self.outer.extend(outer);
        let plan = Union { inputs: sides, schema: Arc::new(schema) };
        Ok(Some((LogicalPlan::Union(plan), keys)))
    }
}

/// A window function whose partitions have one key each. Other expressions are unchanged.
fn partition(expr: Expr, keys: &[Expr]) -> Transformed<Expr> {
    let Expr::WindowFunction(mut function) = expr else { return Transformed::no(expr) };
    let WindowFunction { params, .. } = function.as_mut();
    params.partition_by.extend(keys.iter().cloned());
    Transformed::yes(Expr::WindowFunction(function))
}
