//! Aggregates of ordered values: a function of the array of all values in their order.

use super::{Made, Part};
use crate::aggregates::table::Plan;
use crate::functions::parse;
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use analyzer::system::{Oid, SqlType, functions};
use analyzer::tree::AggregateCall;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::AggregateFunction;
use std::sync::Arc;

/// The aggregates with WITHIN GROUP, and the functions of their arrays.
const ORDERED: &[(&str, &str)] = &[
    ("mode(anyelement)", "ordered_mode"),
    ("percentile_disc(float8,anyelement)", "ordered_discrete"),
    ("percentile_disc(_float8,anyelement)", "ordered_discrete"),
    ("percentile_cont(float8,float8)", "ordered_continuous"),
    ("percentile_cont(_float8,float8)", "ordered_continuous"),
];

/// The function of the array of an aggregate's values.
fn function_of(aggregate: Oid) -> Option<&'static str> {
    let found = functions::of(aggregate)?;
    let is_it = |signature: &str| {
        parse(signature).is_some_and(|(name, types)| name == found.name && types == found.arguments)
    };
    ORDERED.iter().find(|(signature, _)| is_it(signature)).map(|(_, function)| *function)
}

impl Lowering<'_> {
    /// An aggregate with WITHIN GROUP, and its engine's expression.
    pub(super) fn ordered_set(&mut self, call: &AggregateCall) -> Result<(Made, Vec<Expr>)> {
        let (Some(function), [key]) = (function_of(call.function), &call.order_by[..]) else {
            return missing("this aggregate WITHIN GROUP");
        };
        let direct = self.exprs(&call.arguments[..call.direct_arguments])?;
        if direct.iter().any(|argument| argument.value().is_none()) {
            return missing("computed arguments in front of WITHIN GROUP");
        }
        let value = self.expr(&key.expr)?;
        let item = value.sql_type;
        let known = value.expr.clone().is_not_null();
        let filter = match &call.filter {
            Some(filter) => self.condition(filter)?.and(known),
            None => known,
        };
        let order = vec![self.sorted(key, value.clone())?];
        let part = Part { order, ..self.part("array_agg", vec![value])? };
        let expr = Expr::AggregateFunction(AggregateFunction::new_udf(
            Arc::clone(&part.function),
            part.arguments.clone(),
            false,
            Some(Box::new(filter)),
            part.order.clone(),
            None,
        ));
        let Some(array) = item.oid.array() else {
            return missing(format!("WITHIN GROUP of {item}"));
        };
        let plan = Plan::Ordered(function);
        let array = SqlType { oid: array, modifier: item.modifier };
        Ok((Made { parts: vec![part], plan, sql_type: call.sql_type, array, direct }, vec![expr]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signature_is_of_the_catalog() {
        for (signature, _) in ORDERED {
            let (name, types) = parse(signature).expect("a signature");
            assert!(functions::named(name).any(|f| f.arguments == types), "{signature}");
        }
    }
}
