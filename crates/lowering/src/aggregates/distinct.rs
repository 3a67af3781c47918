//! Aggregates of distinct values, where equal values may differ or the engine takes all of them.

use super::table::Plan;
use super::{Made, Part};
use crate::refusal::Result;
use crate::scope::Lowering;
use analyzer::system::Oid;
use analyzer::tree::AggregateCall;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::{AggregateFunction, Sort};
use optimizer::where_filtered;
use std::sync::Arc;

impl Lowering<'_> {
    /// The keys by which an aggregate with DISTINCT sorts its rows to find distinct values. `None` where its parts take such
    /// values themselves.
    pub(super) fn distinct_keys(
        &mut self,
        made: &mut Made,
        call: &AggregateCall,
    ) -> Result<Option<Vec<Sort>>> {
        let values = self.exprs(&call.arguments)?;
        let mut with_key =
            values.iter().filter(|value| Self::has_equality_key(value.sql_type, &value.data_type));
        let of_key = with_key.next().map(|value| value.sql_type.oid);
        match (made.plan, of_key) {
            (plan, _) if !plan.is_of_distinct_values() => {}
            // The parts have to keep their values in one order.
            (plan, _) if plan.is_ordered() => {}
            (_, None) => return Ok(None),
            (Plan::Count, _) => {
                let keys = values.into_iter().map(|value| self.equality_key(value));
                made.parts = vec![self.count(keys.collect::<Result<_>>()?)?];
                return Ok(None);
            }
            // These have the same value of all values.
            (Plan::Extreme { .. }, _) => return Ok(None),
            // The totals tell numbers apart.
            (Plan::Sum | Plan::Average | Plan::Deviation(_), of) if of != Some(Oid::INTERVAL) => {
                return Ok(None);
            }
            _ => {}
        }
        let order = call.order_by.iter().map(|key| self.sort_key(key));
        let mut order: Vec<Sort> = order.collect::<Result<_>>()?;
        for value in values {
            let key = self.order_key(value)?.expr;
            if !order.iter().any(|known| known.expr == key) {
                order.push(key.sort(true, false));
            }
        }
        Ok(Some(order))
    }
}

/// The engine's expression for a part of the first rows of those with equal keys.
pub(super) fn of_first(part: &Part, keys: &[Sort], filter: Option<Box<Expr>>) -> Expr {
    let function = Arc::clone(&part.function);
    let function = frames::sorted(function, part.arguments.len(), keys, true);
    let mut arguments = part.arguments.clone();
    arguments.extend(keys.iter().map(|key| key.expr.clone()));
    let only = |argument: Expr| where_filtered(argument, filter.as_deref());
    let arguments = arguments.into_iter().map(only).collect();
    let call =
        AggregateFunction::new_udf(Arc::new(function), arguments, false, filter, Vec::new(), None);
    Expr::AggregateFunction(call)
}
