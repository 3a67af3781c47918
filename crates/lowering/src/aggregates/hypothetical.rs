//! Aggregates of the place that a row would have among others: `rank(...) WITHIN GROUP (ORDER BY ...)`.

use super::{Made, Part};
use crate::aggregates::table::Plan;
use crate::functions::{called, comparisons};
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::{Oid, functions};
use analyzer::tree::AggregateCall;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{Expr, Operator, binary_expr, lit};
use optimizer::where_filtered;
use records::Of;
use std::sync::Arc;

impl Lowering<'_> {
    /// Such an aggregate: the numbers of the rows before that row, with it, and of all, as far as it needs them.
    pub(super) fn hypothetical(&mut self, call: &AggregateCall) -> Result<(Made, Vec<Expr>)> {
        let name = functions::of(call.function).map_or("?", |function| function.name);
        let (before, keys) = self.rows_before(call, name == "cume_dist")?;
        let filter = match &call.filter {
            Some(filter) => Some(self.condition(filter)?),
            None => None,
        };
        let both =
            filter.clone().map_or_else(|| before.clone(), |filter| filter.and(before.clone()));
        let rows = self.count(Vec::new())?;
        let counted = |part: &Part, distinct: bool, filter: Option<Expr>| {
            let arguments = part.arguments.iter().cloned();
            let only = |argument| where_filtered(argument, filter.as_ref());
            Expr::AggregateFunction(AggregateFunction::new_udf(
                Arc::clone(&part.function),
                arguments.map(only).collect(),
                distinct,
                filter.map(Box::new),
                Vec::new(),
                None,
            ))
        };
        let (parts, exprs) = match name {
            "rank" => (vec![rows.clone()], vec![counted(&rows, false, Some(both))]),
            "dense_rank" => {
                let names = (0..keys.len()).map(|at| format!("f{at}")).collect();
                let (expr, data_type) = called(&Of::Fields(names).function(), keys)?;
                let row = Typed { expr, sql_type: Oid::RECORD.into(), data_type };
                let (expr, data_type) = called(&Of::Key.function(), vec![row])?;
                let key = Typed { expr, sql_type: Oid::BYTEA.into(), data_type };
                let part = self.count(vec![key])?;
                let expr = counted(&part, true, Some(both));
                (vec![part], vec![expr])
            }
            _ => {
                let exprs = vec![counted(&rows, false, Some(both)), counted(&rows, false, filter)];
                (vec![rows.clone(), rows], exprs)
            }
        };
        let plan = match name {
            "percent_rank" => Plan::ShareBefore,
            "cume_dist" => Plan::ShareWith,
            "rank" | "dense_rank" => Plan::Place,
            _ => return missing(format!("aggregate {name}")),
        };
        let sql_type = call.sql_type;
        Ok((Made { parts, plan, sql_type, array: sql_type, direct: Vec::new() }, exprs))
    }

    /// Whether a row comes before the given values, or with them; and its keys.
    fn rows_before(&mut self, call: &AggregateCall, with: bool) -> Result<(Expr, Vec<Typed>)> {
        let direct = self.exprs(&call.arguments[..call.direct_arguments])?;
        let mut result = lit(with);
        let mut keys = Vec::with_capacity(direct.len());
        for (key, value) in call.order_by.iter().zip(direct).rev() {
            let of_row = self.expr(&key.expr)?;
            let (of_row, value) = comparisons::sides(self, of_row, value)?;
            let (of_row, value) = (self.order_key(of_row)?, self.order_key(value)?);
            keys.push(of_row.clone());
            let (of_row, value) = (of_row.expr, value.expr);
            let operator = if key.descending { Operator::Gt } else { Operator::Lt };
            let differs = binary_expr(of_row.clone(), operator, value.clone());
            let (first, last) = match key.nulls_first {
                true => (of_row.clone(), value.clone()),
                false => (value.clone(), of_row.clone()),
            };
            let null_first = first.is_null().and(last.is_not_null());
            let same = binary_expr(of_row, Operator::IsNotDistinctFrom, value);
            result = differs.or(null_first).or(same.and(result));
        }
        Ok((result, keys))
    }
}
