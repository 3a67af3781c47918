//! WITH.

use crate::expressions::outputs_of;
use crate::names;
use crate::refusal::{Result, missing, unsupported};
use crate::scope::{CtePlan, Lowering};
use crate::typed::Typed;
use crate::unread::Errors;
use analyzer::tree::read::is_moved;
use analyzer::tree::{Body, Cte, CteId, SetOperation, SetOperator};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::catalog::cte_worktable::CteWorkTable;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr as Engine, LogicalPlan, LogicalPlanBuilder, Sort};
use executor::kept::{self, KeptRows};
use optimizer::{Carried, carried};
use std::sync::Arc;

impl Lowering<'_> {
    /// Makes the plans of queries in WITH.
    pub(crate) fn with(&mut self, ctes: &[Cte]) -> Result<()> {
        for cte in ctes {
            // What nothing reads is not planned.
            self.ctes_around += 1;
            let lowered = self.filtered_by(cte.references == 0 || is_moved(cte), |lowering| {
                lowering.skipping(cte.references == 0, |lowering| {
                    lowering.in_subquery(|lowering| match &cte.query.body {
                        Body::SetOperation(operation) if cte.is_recursive => {
                            Ok((lowering.recursive(cte, operation)?, Errors::new()))
                        }
                        _ => lowering.readable_cte(cte),
                    })
                })
            });
            self.ctes_around -= 1;
            let ((mut plan, errors), outer) = lowered?;
            self.note(&outer);
            if errors.is_empty() || !kept::is_volatile(&plan)? {
                self.unread.queries.insert(cte.id, errors);
            } else if let Some((_, error)) = errors.into_iter().next() {
                // It is computed once, with all columns.
                self.constant_error.get_or_insert(error);
            }
            if self.around.is_of_view && !is_moved(cte) && optimizer::has_subquery(&plan)? {
                plan = LogicalPlanBuilder::from(plan).alias(optimizer::WHOLE)?.build()?;
            }
            let planned = self.kept(cte, CtePlan { plan, outer, kept: None })?;
            self.ctes.insert(cte.id, planned);
        }
        Ok(())
    }

    /// A volatile query is computed once for all who read it, and for who reads it several times.
    fn kept(&self, cte: &Cte, planned: CtePlan) -> Result<CtePlan> {
        if cte.references == 0 || !kept::is_volatile(&planned.plan)? {
            return Ok(planned);
        }
        if !planned.outer.is_empty() || kept::reads(&planned.plan, &self.rounds)? {
            return match cte.references {
                1 => Ok(planned),
                _ => unsupported("a volatile query in WITH that is read twice for each outer row"),
            };
        }
        let (rows, width) = (self.around.kept.of(cte.id.0), planned.plan.schema().fields().len());
        let plan = match carried(&planned.plan)? {
            Some(Carried { plan, order: expr }) => {
                // Who reads the rows asks for their order, as of those of other queries.
                let own = plan.schema().columns().into_iter().take(width).map(Engine::Column);
                let own: Vec<Engine> = own.collect();
                let input = Arc::new(KeptRows::over(plan, &cte.name, rows));
                let sorted = LogicalPlan::Sort(Sort { expr, input, fetch: None });
                LogicalPlanBuilder::from(sorted).project(own)?.build()?
            }
            None => KeptRows::over(planned.plan.clone(), &cte.name, rows),
        };
        Ok(match cte.references {
            1 => CtePlan { kept: Some((self.repetitions(), plan)), ..planned },
            _ => CtePlan { plan, ..planned },
        })
    }

    /// The rows of a query in WITH.
    pub(crate) fn cte(&mut self, id: CteId) -> Result<LogicalPlan> {
        if let Some((_, source)) = self.around.returned.iter().find(|(of, _)| *of == id) {
            return Ok(LogicalPlanBuilder::scan("?returned", Arc::clone(source), None)?.build()?);
        }
        let Some(CtePlan { plan, outer, kept }) = self.ctes.get(&id).cloned() else {
            return missing("a reference to this query in WITH");
        };
        self.note(&outer);
        let kept = kept.filter(|(repetitions, _)| self.repetitions() > *repetitions);
        Ok(kept.map_or(plan, |(_, kept)| kept))
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
        let work = CtePlan { plan: work, outer: Default::default(), kept: None };
        self.ctes.insert(cte.id, work);
        self.rounds.push(name.clone().into());
        let next = self.query(&operation.right);
        self.rounds.pop();
        let next = next?;
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
