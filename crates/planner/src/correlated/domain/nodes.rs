//! The nodes of a subquery, joined with the domain.

use super::super::outside;
use super::{Builder, Made};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr, Filter, LogicalPlan, Projection, Sort, SubqueryAlias, Union, Window,
};
use std::sync::Arc;

impl Builder<'_> {
    /// A part of the subquery with the rows for all sets; `None` if it has no such form.
    pub(super) fn of_plan(&mut self, plan: &LogicalPlan) -> Result<Option<Made>> {
        if !outside::is_correlated(plan, self.columns)? {
            return Ok(Some(Made { plan: plan.clone(), sets: None }));
        }
        match plan {
            LogicalPlan::Filter(filter) => self.of_filter(filter, plan),
            LogicalPlan::Projection(projection) => self.of_projection(projection, plan),
            LogicalPlan::SubqueryAlias(alias) => self.of_alias(alias),
            LogicalPlan::Aggregate(aggregate) => self.of_aggregate(aggregate, plan),
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => self.of_sort(sort, plan),
            LogicalPlan::Distinct(Distinct::All(input)) => {
                let Some((input, sets)) = self.of_input(input)? else { return Ok(None) };
                Ok(made(LogicalPlan::Distinct(Distinct::All(Arc::new(input))), sets))
            }
            LogicalPlan::Window(window) => self.of_window(window, plan),
            LogicalPlan::Union(union) => self.of_union(union),
            LogicalPlan::Join(join) => self.of_join(join, plan),
            _ => Ok(None),
        }
    }

    /// The input of a node, joined with the domain.
    fn of_input(&mut self, input: &LogicalPlan) -> Result<Option<(LogicalPlan, Vec<Column>)>> {
        match self.of_plan(input)? {
            Some(made) => Ok(Some(self.with_sets(made)?)),
            None => Ok(None),
        }
    }

    /// The input of a node that would have other rows for a set without rows than that set.
    fn of_rows(&mut self, input: &LogicalPlan) -> Result<Option<(LogicalPlan, Vec<Column>)>> {
        let input = self.of_input(input)?;
        Ok(input.filter(|_| !self.answers_nothing))
    }

    fn of_filter(&mut self, filter: &Filter, node: &LogicalPlan) -> Result<Option<Made>> {
        let Some((input, sets)) = self.of_rows(&filter.input)? else { return Ok(None) };
        let predicate = self.replaced(&filter.predicate, &sets, node)?;
        let plan = Filter::try_new(predicate, Arc::new(input))?;
        Ok(made(LogicalPlan::Filter(plan), sets))
    }

    fn of_projection(
        &mut self,
        projection: &Projection,
        node: &LogicalPlan,
    ) -> Result<Option<Made>> {
        let Some((input, sets)) = self.of_input(&projection.input)? else { return Ok(None) };
        if self.answers_nothing && outside::are_referred_to(self.columns, &projection.expr)? {
            return Ok(None);
        }
        let own = self.all_replaced(&projection.expr, &sets, node)?;
        let all = own.into_iter().chain(sets.iter().cloned().map(Expr::Column)).collect();
        let plan = Projection::try_new(all, Arc::new(input))?;
        Ok(made(LogicalPlan::Projection(plan), sets))
    }

    fn of_alias(&mut self, alias: &SubqueryAlias) -> Result<Option<Made>> {
        let Some((input, sets)) = self.of_input(&alias.input)? else { return Ok(None) };
        let outside = |column: Column| Column::new(Some(alias.alias.clone()), column.name);
        let sets = sets.into_iter().map(outside).collect();
        let plan = SubqueryAlias::try_new(Arc::new(input), alias.alias.clone())?;
        Ok(made(LogicalPlan::SubqueryAlias(plan), sets))
    }

    /// Each group, or the only one, becomes one for each set.
    fn of_aggregate(&mut self, aggregate: &Aggregate, node: &LogicalPlan) -> Result<Option<Made>> {
        let Some((input, sets)) = self.of_rows(&aggregate.input)? else { return Ok(None) };
        let Aggregate { group_expr, aggr_expr, .. } = aggregate;
        if group_expr.iter().any(|expr| matches!(expr, Expr::GroupingSet(_))) {
            return Ok(None);
        }
        self.answers_nothing |= group_expr.is_empty();
        let groups = self.all_replaced(group_expr, &sets, node)?;
        let groups = groups.into_iter().chain(sets.iter().cloned().map(Expr::Column)).collect();
        let calls = self.all_replaced(aggr_expr, &sets, node)?;
        let plan = Aggregate::try_new(Arc::new(input), groups, calls)?;
        Ok(made(LogicalPlan::Aggregate(plan), sets))
    }

    fn of_sort(&mut self, sort: &Sort, node: &LogicalPlan) -> Result<Option<Made>> {
        let Some((input, sets)) = self.of_input(&sort.input)? else { return Ok(None) };
        let mut expr = sort.expr.clone();
        for key in &mut expr {
            key.expr = self.replaced(&key.expr, &sets, node)?;
        }
        let plan = Sort { expr, input: Arc::new(input), fetch: None };
        Ok(made(LogicalPlan::Sort(plan), sets))
    }

    /// Each partition becomes one for each set.
    fn of_window(&mut self, window: &Window, node: &LogicalPlan) -> Result<Option<Made>> {
        let Some((input, sets)) = self.of_rows(&window.input)? else { return Ok(None) };
        let set = Expr::Column(sets[0].clone());
        let functions = window.window_expr.iter().map(|expr| {
            let function = self.replaced(expr, &sets, node)?;
            let function = function.transform_up(|part| Ok(partitioned(part, &set))).data()?;
            let name = expr.schema_name().to_string();
            let is_named = function.schema_name().to_string() == name;
            Ok(if is_named { function } else { function.alias(name) })
        });
        let functions = functions.collect::<Result<_>>()?;
        let plan = Window::try_new(functions, Arc::new(input))?;
        Ok(made(LogicalPlan::Window(plan), sets))
    }

    fn of_union(&mut self, union: &Union) -> Result<Option<Made>> {
        let mut sides = Vec::with_capacity(union.inputs.len());
        let mut names: Vec<String> = Vec::new();
        for input in &union.inputs {
            let Some((plan, sets)) = self.of_rows(input)? else { return Ok(None) };
            names = sets.iter().map(|column| column.name.clone()).collect();
            let own = input.schema().columns().into_iter().map(Expr::Column);
            let sets = sets.into_iter().map(|column| {
                let name = column.name.clone();
                Expr::Column(column).alias(name)
            });
            let plan = Projection::try_new(own.chain(sets).collect(), Arc::new(plan))?;
            sides.push(Arc::new(LogicalPlan::Projection(plan)));
        }
        let Some(first) = sides.first() else { return Ok(None) };
        let added = first.schema().iter().skip(union.schema.fields().len());
        let fields = union.schema.iter().chain(added);
        let fields = fields.map(|(table, field)| (table.cloned(), Arc::clone(field))).collect();
        let schema = DFSchema::new_with_metadata(fields, union.schema.metadata().clone())?;
        let plan = LogicalPlan::Union(Union { inputs: sides, schema: Arc::new(schema) });
        Ok(made(plan, names.into_iter().map(Column::from_name).collect()))
    }
}

/// A window function whose partitions are of one set each. Other expressions are unchanged.
fn partitioned(expr: Expr, set: &Expr) -> Transformed<Expr> {
    let Expr::WindowFunction(mut function) = expr else { return Transformed::no(expr) };
    function.params.partition_by.push(set.clone());
    Transformed::yes(Expr::WindowFunction(function))
}

/// A part that is joined with the domain.
#[expect(clippy::unnecessary_wraps, reason = "what all nodes return")]
pub(super) fn made(plan: LogicalPlan, sets: Vec<Column>) -> Option<Made> {
    Some(Made { plan, sets: Some(sets) })
}
