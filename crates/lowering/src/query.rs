//! Queries: the part that makes rows, with WITH, ORDER BY and LIMIT around it.

use crate::expressions::outputs_of;
use crate::refusal::Result;
use crate::scope::Lowering;
use analyzer::tree::{Body, Query, Select, SortKey};
use datafusion::logical_expr::LogicalPlan;
use datafusion::logical_expr::expr::Sort;
use grammar::growing;
use optimizer::{Carried, carried};

impl Lowering<'_> {
    /// The plan of a query, whose columns are those of the query and have names that differ.
    pub(crate) fn query(&mut self, query: &Query) -> Result<LogicalPlan> {
        let is_nullable = std::mem::replace(&mut self.is_nullable, false);
        let plan = growing(|| self.query_here(query));
        self.is_nullable = is_nullable;
        plan
    }

    fn query_here(&mut self, query: &Query) -> Result<LogicalPlan> {
        self.with(&query.with)?;
        let plan = match &query.body {
            Body::Select(select) => {
                return self.select(select, &query.order_by, &query.limit);
            }
            Body::Values(rows) => self.values_rows(rows, &query.columns)?,
            Body::SetOperation(operation) => self.set_operation(operation, &query.columns)?,
        };
        let order = self.order_of_outputs(&plan, query, &query.order_by)?;
        self.ordered(plan, order, &query.limit, query.columns.len())
    }

    /// The plan of a query for an aggregate of its first column, and the order in which it takes the rows.
    pub(crate) fn ordered_query(&mut self, query: &Query) -> Result<(LogicalPlan, Vec<Sort>)> {
        let is_cut = query.limit.count.is_some() || query.limit.offset.is_some();
        let is_plain = |select: &Select| !is_cut && select.distinct.is_none();
        match &query.body {
            Body::Select(select) if is_plain(select) => growing(|| {
                self.with(&query.with)?;
                self.select_with_keys(select, &query.order_by)
            }),
            _ => {
                let plan = self.query(query)?;
                Ok(match carried(&plan)? {
                    Some(Carried { plan, order }) => (plan, order),
                    None => (plan, Vec::new()),
                })
            }
        }
    }

    fn order_of_outputs(
        &mut self,
        plan: &LogicalPlan,
        query: &Query,
        keys: &[SortKey],
    ) -> Result<Vec<Sort>> {
        self.with_outputs(outputs_of(plan, query), |lowering| {
            keys.iter().map(|key| lowering.sort_key(key)).collect()
        })
    }
}
