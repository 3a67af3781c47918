//! Aggregates of ordered values: a function of the array of all values in their order.

use super::{Direct, Made, Part};
use crate::aggregates::table::Plan;
use crate::functions::{parse, take, with_one_zero};
use crate::numbers::is_open_number;
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use ::functions::json::gather::SETS;
use ::functions::numbers::open::SET;
use analyzer::system::{Oid, SqlType, functions};
use analyzer::tree::{AggregateCall, Expr as Tree, Kind};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{Expr, when};
use optimizer::where_filtered;
use std::sync::Arc;

/// The aggregates with WITHIN GROUP, and the functions of their arrays.
const ORDERED: &[(&str, &str)] = &[
    ("mode(anyelement)", "ordered_mode"),
    ("percentile_disc(float8,anyelement)", "ordered_discrete"),
    ("percentile_disc(_float8,anyelement)", "ordered_discrete"),
    ("percentile_cont(float8,float8)", "ordered_continuous"),
    ("percentile_cont(_float8,float8)", "ordered_continuous"),
    ("percentile_cont(float8,interval)", "ordered_continuous"),
    ("percentile_cont(_float8,interval)", "ordered_continuous"),
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
    /// The arguments in front of WITHIN GROUP, which are constants.
    pub(super) fn direct_arguments(&mut self, call: &AggregateCall) -> Result<Vec<Typed>> {
        let mut direct = self.exprs(&call.arguments[..call.direct_arguments])?;
        for argument in &mut direct {
            let Some(value) = self.constant(argument)? else {
                return missing("computed arguments in front of WITHIN GROUP");
            };
            *argument = Typed::constant(value, argument.sql_type);
        }
        Ok(direct)
    }

    /// An aggregate with WITHIN GROUP, and its engine's expression.
    pub(super) fn ordered_set(&mut self, call: &AggregateCall) -> Result<(Made, Vec<Expr>)> {
        let (Some(function), [key]) = (function_of(call.function), &call.order_by[..]) else {
            return missing("this aggregate WITHIN GROUP");
        };
        let value = self.expr(&key.expr)?;
        let item = value.sql_type;
        let known = value.expr.clone().is_not_null();
        let filter = match &call.filter {
            Some(filter) => self.condition(filter)?.and(known),
            None => known,
        };
        let order = vec![self.sorted(key, value.clone())?];
        let part = Part { order, ..self.part("array_agg", vec![self.padded(value)?])? };
        let expr = self.in_order(&part, part.order.clone(), false, Some(Box::new(filter)));
        let Some(array) = item.oid.array() else {
            return missing(format!("WITHIN GROUP of {item}"));
        };
        let plan = Plan::Ordered(function);
        let array = SqlType { oid: array, modifier: item.modifier };
        let mut exprs = vec![expr];
        let mut direct = Vec::with_capacity(call.direct_arguments);
        for argument in &call.arguments[..call.direct_arguments] {
            let is_key = &mut |part: &Tree| matches!(part.kind, Kind::GroupKey(..));
            direct.push(match analyzer::contains(argument, is_key) {
                true => Direct::OfKeys(Box::new(argument.clone())),
                false => self.direct_argument(argument, &mut exprs)?,
            });
        }
        Ok((Made { parts: vec![part], plan, sql_type: call.sql_type, array, direct }, exprs))
    }

    /// An argument in front of WITHIN GROUP. Where it depends on rows, it is the same for all rows of a group, and an aggregate
    /// returns it.
    fn direct_argument(&mut self, argument: &Tree, aggregates: &mut Vec<Expr>) -> Result<Direct> {
        let argument = self.expr(argument)?;
        let is_list = |of: &DataType| matches!(of, DataType::List(_));
        if matches!(&argument.data_type, DataType::List(item) if is_list(item.data_type())) {
            return missing("an array of several dimensions in front of WITHIN GROUP");
        }
        if let Some(value) = self.constant(&argument)? {
            return Ok(Direct::Value(Typed::constant(value, argument.sql_type)));
        }
        let is_of_row = |part: &Expr| {
            Ok(match part {
                Expr::Column(_) => true,
                Expr::ScalarSubquery(query) => !query.outer_ref_columns.is_empty(),
                Expr::Exists(_) | Expr::InSubquery(_) | Expr::SetComparison(_) => true,
                _ => false,
            })
        };
        if !argument.expr.exists(is_of_row)? {
            return Ok(Direct::Value(argument));
        }
        aggregates.push(self.first_of(argument.expr, Vec::new())?);
        Ok(Direct::OfGroup(argument.sql_type, argument.data_type))
    }
}

impl Lowering<'_> {
    /// `array_agg` or `string_agg` of distinct values, which PostgreSQL finds by sorting: their array, sorted. `None` for
    /// other aggregates.
    pub(super) fn sorted_set(&mut self, call: &AggregateCall) -> Result<Option<(Made, Vec<Expr>)>> {
        let is_of = |signature: &str| {
            let known = parse(signature).zip(functions::of(call.function));
            known.is_some_and(|((name, types), of)| name == of.name && types == of.arguments)
        };
        let of = ["array_agg(anynonarray)", "string_agg(text,text)"].map(is_of);
        let of_json = ["json_agg(anyelement)", "jsonb_agg(anyelement)"].map(is_of);
        let function = match (of, of_json) {
            ([true, _], _) => "array_sort",
            ([_, true], _) => "sorted_texts",
            (_, [true, _]) => SETS[0],
            (_, [_, true]) => SETS[1],
            _ => return Ok(None),
        };
        let (key, value) = (call.order_by.first(), &call.arguments[0]);
        let has_key = |value: &Typed| Self::has_order_key(value.sql_type, &value.data_type);
        let is_by_value = call.order_by.len() <= 1 && key.is_none_or(|key| key.expr == *value);
        let mut arguments = self.exprs(&call.arguments)?.into_iter();
        let is_set = |value: &Typed| is_open_number(value) && function == "array_sort";
        let is_sorted = |value: &Typed| is_by_value && (!has_key(value) || is_set(value));
        let Some(value) = arguments.next().filter(is_sorted) else { return Ok(None) };
        if of_json != [false, false] && value.sql_type.oid.array().is_none() {
            return Ok(None);
        }
        let value = with_one_zero(self.padded(value)?);
        // Equal numbers may differ.
        let (function, distinct) = if is_set(&value) { (SET, false) } else { (function, true) };
        let mut direct: Vec<Typed> = arguments.collect();
        if direct.iter().any(|argument| argument.value().is_none()) {
            return Ok(None);
        }
        let text = |text: &str| {
            let text = ScalarValue::Utf8(Some(text.to_owned()));
            Typed::constant(text, Oid::TEXT.into())
        };
        direct.push(text(if key.is_some_and(|key| key.descending) { "DESC" } else { "ASC" }));
        // Of texts, which leave NULL out, it comes last, so that there are no others if it is the first.
        let nulls_first = key.is_some_and(|key| key.nulls_first) && function != "sorted_texts";
        direct.push(text(if nulls_first { "NULLS FIRST" } else { "NULLS LAST" }));
        let filter = match &call.filter {
            Some(filter) => Some(Box::new(self.condition(filter)?)),
            None => None,
        };
        let array = value.sql_type.oid.array().unwrap_or(Oid::TEXT_ARRAY);
        let array = SqlType { oid: array, modifier: value.sql_type.modifier };
        let part = self.part("array_agg", vec![value])?;
        let arguments = part.arguments.iter().cloned();
        let arguments = arguments.map(|argument| where_filtered(argument, filter.as_deref()));
        let expr = Expr::AggregateFunction(AggregateFunction::new_udf(
            Arc::clone(&part.function),
            arguments.collect(),
            distinct,
            filter,
            Vec::new(),
            None,
        ));
        let plan = Plan::Ordered(function);
        let direct = direct.into_iter().map(Direct::Value).collect();
        let made = Made { parts: vec![part], plan, sql_type: call.sql_type, array, direct };
        Ok(Some((made, vec![expr])))
    }

    /// JSON of distinct values, sorted.
    pub(super) fn sorted_items(
        &self,
        function: &str,
        arguments: Vec<Typed>,
    ) -> Result<(Expr, DataType)> {
        let Some(sql_type) = arguments.first().map(|array| array.sql_type) else {
            return missing("this aggregate");
        };
        let sorted = self.registered("array_sort", arguments, sql_type)?;
        self.engine_function(function, vec![sorted])
    }

    /// The value of distinct texts: sorted and joined; NULL without a text.
    pub(super) fn sorted_texts(&self, mut arguments: Vec<Typed>) -> Result<(Expr, DataType)> {
        let order = arguments.split_off(arguments.len().min(2));
        let [texts, between] = take(arguments)?;
        let sql_type = texts.sql_type;
        let sorted = std::iter::once(texts).chain(order).collect();
        let sorted = self.registered("array_sort", sorted, sql_type)?;
        let first = Typed::constant(ScalarValue::Int64(Some(1)), Oid::INT8.into());
        let (first, _) = self.engine_function("array_element", vec![sorted.clone(), first])?;
        // Without a text between them, texts follow each other; NULL texts are left out.
        let empty = Typed::constant(ScalarValue::Utf8View(Some(String::new())), Oid::TEXT.into());
        let between = if between.is_null() { empty.clone() } else { between };
        let joined = self.registered("array_to_string", vec![sorted, between], Oid::TEXT.into())?;
        Ok((when(first.is_not_null(), joined.expr).end()?, joined.data_type))
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
