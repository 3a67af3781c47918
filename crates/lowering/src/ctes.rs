//! WITH.

use crate::expressions::outputs_of;
use crate::names;
use crate::refusal::{Result, missing, unsupported};
use crate::scope::{CtePlan, Lowering};
use crate::typed::Typed;
use analyzer::tree::{Body, Cte, CteId, SetOperation, SetOperator};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::catalog::cte_worktable::CteWorkTable;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr as Engine, LogicalPlan, LogicalPlanBuilder};
use std::sync::Arc;

impl Lowering<'_> {
    /// Makes the plans of queries in WITH.
    pub(crate) fn with(&mut self, ctes: &[Cte]) -> Result<()> {
        for cte in ctes {
            // What nothing reads is not planned.
            let (plan, outer) = self.skipping(cte.references == 0, |lowering| {
                lowering.in_subquery(|lowering| match &cte.query.body {
                    Body::SetOperation(operation) if cte.is_recursive => {
                        lowering.recursive(cte, operation)
                    }
                    _ => lowering.query(&cte.query),
                })
            })?;
            if cte.references > 1 && is_volatile(&plan)? {
                return unsupported("a volatile query in WITH that is read more than once");
            }
            self.note(&outer);
            self.ctes.insert(cte.id, CtePlan { plan, outer });
        }
        Ok(())
    }

    /// The rows of a query in WITH.
    pub(crate) fn cte(&mut self, id: CteId) -> Result<LogicalPlan> {
        if let Some((_, source)) = self.around.returned.iter().find(|(of, _)| *of == id) {
            return Ok(LogicalPlanBuilder::scan("?returned", Arc::clone(source), None)?.build()?);
        }
        let Some(CtePlan { plan, outer }) = self.ctes.get(&id).cloned() else {
            return missing("a reference to this query in WITH");
        };
        self.note(&outer);
        Ok(plan)
    }

    fn recursive(&mut self, cte: &Cte, operation: &SetOperation) -> Result<LogicalPlan> {
        let query = &cte.query;
        let is_plain = query.order_by.is_empty()
            && query.limit.count.is_none()
            && query.limit.offset.is_none();
        if !is_plain || operation.operator != SetOperator::Union {
            return missing("this form of a recursive query");
        }
        if query.columns.is_empty() && !operation.all {
            return missing("a recursive UNION of rows without columns");
        }
        self.with(&query.with)?;
        let first = self.query(&operation.left)?;
        let outputs = outputs_of(&first, &operation.left);
        let values = self.with_outputs(outputs, |of| of.exprs(&operation.left_columns))?;
        let values = values.into_iter().map(open).collect();
        let names = names::unique(query.columns.iter().map(|column| &*column.name));
        let first = projected(first, values, &names)?;
        let name = self.qualifiers.add(&cte.name);
        let fields = first.schema().fields().iter().zip(&names);
        let fields = fields.map(|(field, name)| {
            // Rows of later rounds may have NULLs.
            Field::new(name, field.data_type().clone(), true)
                .with_metadata(field.metadata().clone())
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let types: Vec<DataType> =
            schema.fields().iter().map(|field| field.data_type().clone()).collect();
        let table = provider_as_source(Arc::new(CteWorkTable::new(&name, schema)));
        let work = LogicalPlanBuilder::scan(name.clone(), table, None)?.build()?;
        self.ctes.insert(cte.id, CtePlan { plan: work, outer: Default::default() });
        let next = self.query(&operation.right)?;
        let outputs = outputs_of(&next, &operation.right);
        let values = self.with_outputs(outputs, |of| of.exprs(&operation.right_columns))?;
        let values = values.into_iter().zip(&types).map(|(value, to)| value.converted(to));
        let next = projected(next, values.collect(), &names)?;
        let builder = LogicalPlanBuilder::from(first);
        Ok(builder.to_recursive_query(name, next, !operation.all)?.build()?)
    }
}

/// Numerics of later rounds may have other digits than those of the first.
fn open(value: Typed) -> Typed {
    match value.data_type {
        DataType::Decimal128(..) if value.sql_type.modifier < 0 => value.opened(),
        _ => value,
    }
}

fn projected(plan: LogicalPlan, values: Vec<Typed>, names: &[String]) -> Result<LogicalPlan> {
    let named = values.into_iter().zip(names).map(|(value, name)| value.expr.alias(name));
    let named: Vec<Engine> = named.collect();
    Ok(LogicalPlanBuilder::from(plan).project(named)?.build()?)
}

/// Whether a plan gives other rows when it runs again.
fn is_volatile(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            found |= expr.is_volatile();
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}
