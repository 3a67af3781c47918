//! GROUP BY and aggregates.

use crate::aggregates::Made;
use crate::refusal::{Result, missing};
use crate::scope::{Lowering, Slot};
use crate::typed::Typed;
use analyzer::system::{Oid, SqlType};
use analyzer::tree::{GroupingSets, Select, SelectId};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::expr::{GroupingSet, Sort};
use datafusion::logical_expr::{
    Aggregate, Expr, LogicalPlan, LogicalPlanBuilder, Operator, binary_expr, cast, when,
};
use optimizer::Carried;
use std::collections::HashSet;

impl Lowering<'_> {
    /// The groups of a SELECT, with its aggregates, which take the rows in an order.
    pub(crate) fn grouped(&mut self, rows: Carried, select: &Select) -> Result<LogicalPlan> {
        let Carried { plan, order } = rows;
        let keys = self.exprs(&select.group_by)?;
        let mut key_exprs: Vec<Expr> = Vec::with_capacity(keys.len());
        let mut aggregates: Vec<Expr> = Vec::new();
        // Of a key whose equal values may differ, a group has one of its values.
        let mut firsts: Vec<Option<usize>> = Vec::with_capacity(keys.len());
        for key in &keys {
            let has_key = Self::has_equality_key(key.sql_type, &key.data_type);
            let first =
                if has_key { Some(self.first_of(key.expr.clone(), Vec::new())?) } else { None };
            firsts.push(first.map(|first| place(&mut aggregates, first)));
            key_exprs.push(self.equality_key(key.clone())?.expr);
        }
        let sets = select.grouping_sets.as_ref().filter(|_| !keys.is_empty());
        let plan = match share_names(&key_exprs) || sets.is_some() && need_columns(&key_exprs) {
            true => with_keys(plan, &mut key_exprs)?,
            false => plan,
        };
        let has_firsts = firsts.iter().any(Option::is_some);
        let made = self.aggregates_of(select, order, has_firsts, &mut aggregates)?;
        if keys.is_empty() && aggregates.is_empty() {
            // The engine has no group without an aggregate.
            aggregates.push(self.count_of_rows()?);
        }
        // The keys of the plan, each once, with its place.
        let mut distinct: Vec<Expr> = Vec::new();
        let group_by = match sets {
            None => {
                key_exprs.iter().for_each(|key| {
                    place(&mut distinct, key.clone());
                });
                distinct.clone()
            }
            Some(sets) => vec![grouping_sets(sets, &key_exprs, &mut distinct)?],
        };
        let aggregates = with_names(aggregates);
        let plan = LogicalPlanBuilder::from(plan).aggregate(group_by, aggregates)?.build()?;
        let columns = plan.schema().columns();
        // The number of the grouping set stands between keys and aggregates.
        let first = distinct.len() + usize::from(sets.is_some());
        for (index, key) in keys.into_iter().enumerate() {
            let of_key = distinct.iter().position(|known| *known == key_exprs[index]);
            let Some(of_key) = of_key.and_then(|place| columns.get(place)) else {
                return missing("a key of GROUP BY outside of all grouping sets");
            };
            let of_key = Expr::Column(of_key.clone());
            let of_key = if sets.is_some() { varying(of_key)? } else { of_key };
            let expr = match firsts[index].and_then(|place| columns.get(first + place)) {
                // Sets without the key have NULL.
                Some(value) if sets.is_some() => {
                    when(of_key.is_not_null(), Expr::Column(value.clone())).end()?
                }
                Some(value) => Expr::Column(value.clone()),
                None => of_key,
            };
            let value = Typed { expr, ..key };
            self.add_slot(select.id, Slot::GroupKey(index), value, plan.schema());
        }
        for (index, (aggregate, places)) in made.into_iter().enumerate() {
            let parts = places.iter().filter_map(|place| columns.get(first + place));
            let parts = parts.cloned().map(Expr::Column).collect();
            let value = aggregate.with_keys(self)?.value(self, parts)?;
            self.add_slot(select.id, Slot::Aggregate(index), value, plan.schema());
        }
        if sets.is_some() {
            self.add_grouping_id(select, &key_exprs, &distinct, &plan);
        }
        repeated(plan, select)
    }

    /// The aggregates of a SELECT, with the places of their parts among all of the engine's. The engine does not sort the rows
    /// if the keys or an aggregate take them as they come.
    fn aggregates_of(
        &mut self,
        select: &Select,
        order: Vec<Sort>,
        has_firsts: bool,
        all: &mut Vec<Expr>,
    ) -> Result<Vec<(Made, Vec<usize>)>> {
        let order = std::mem::replace(&mut self.input_order, order);
        let first = self.aggregate_order.take();
        let mut calls = select.aggregates.iter();
        if has_firsts || calls.any(|call| self.takes_rows_as_they_come(call)) {
            self.aggregate_order = Some(Vec::new());
        }
        let mut made = Vec::with_capacity(select.aggregates.len());
        for call in &select.aggregates {
            let (aggregate, exprs) = self.aggregate(call)?;
            let places = exprs.into_iter().map(|expr| place(all, expr)).collect();
            made.push((aggregate, places));
        }
        self.input_order = order;
        self.aggregate_order = first;
        Ok(made)
    }

    /// Keeps the number of the grouping set, with a bit for each key of GROUP BY, the last one lowest.
    fn add_grouping_id(
        &mut self,
        select: &Select,
        keys: &[Expr],
        distinct: &[Expr],
        plan: &LogicalPlan,
    ) {
        let number = Expr::Column(Column::from_name(Aggregate::INTERNAL_GROUPING_ID));
        let number = cast(number, DataType::Int64);
        let bit = |key: &Expr| {
            let place = distinct.iter().position(|known| known == key).unwrap_or_default();
            i64::try_from(distinct.len() - 1 - place).unwrap_or_default()
        };
        let bits = keys.iter().map(|key| shifted(number.clone(), bit(key)));
        let count = i64::try_from(keys.len()).unwrap_or_default();
        let bits = bits
            .zip((0..count).rev())
            .map(|(bit, place)| binary_expr(bit, Operator::Multiply, whole(1 << place)));
        let sum = bits.reduce(|left, right| binary_expr(left, Operator::Plus, right));
        let value = Typed {
            expr: sum.unwrap_or_else(|| whole(0)),
            sql_type: Oid::INT8.into(),
            data_type: DataType::Int64,
        };
        self.set_grouping_keys(select.id, keys.len());
        self.add_slot(select.id, Slot::GroupingId, value, plan.schema());
    }

    /// GROUPING of some keys: a bit for each, the last one lowest, which tells that it is not grouped by.
    pub(crate) fn grouping(
        &mut self,
        select: SelectId,
        keys: &[usize],
        sql_type: SqlType,
    ) -> Result<Typed> {
        let Some(count) = self.grouping_keys(select) else {
            return Ok(Typed::constant(ScalarValue::Int32(Some(0)), sql_type));
        };
        let number = self.slot(select, Slot::GroupingId)?;
        let place = |key: usize| i64::try_from(count - 1 - key).unwrap_or_default();
        let last = keys.len().saturating_sub(1);
        let bits = keys.iter().enumerate().map(|(index, key)| {
            let bit = shifted(number.expr.clone(), place(*key));
            let weight = i64::try_from(last - index).unwrap_or_default();
            binary_expr(bit, Operator::Multiply, whole(1 << weight))
        });
        let sum = bits.reduce(|left, right| binary_expr(left, Operator::Plus, right));
        let sum = sum.unwrap_or_else(|| whole(0));
        Typed::of(cast(sum, DataType::Int32), DataType::Int32, sql_type)
    }
}

/// A key of grouping sets, as a value that depends on the set. The engine takes a key that is the same for all rows of the
/// input for the same in all sets, and does not order by it.
fn varying(key: Expr) -> Result<Expr> {
    let number = Expr::Column(Column::from_name(Aggregate::INTERNAL_GROUPING_ID));
    let is_all = cast(number, DataType::Int64).eq(whole(0));
    Ok(when(is_all, key.clone()).otherwise(key)?)
}

/// Whether keys of grouping sets are to be made columns: one that another one is; constants, of which the engine takes those of
/// the select list for keys; and other expressions, since the engine gives sets in which it rewrites one a name, and takes them
/// for one key then.
fn need_columns(keys: &[Expr]) -> bool {
    let is_taken =
        |(at, key): (usize, &Expr)| keys[..at].contains(key) || !matches!(key, Expr::Column(_));
    keys.iter().enumerate().any(is_taken)
}

/// Whether keys that differ have the same name: a cast has the name of what it converts.
fn share_names(keys: &[Expr]) -> bool {
    let name = |key: &Expr| key.schema_name().to_string();
    let is_taken = |(at, key): (usize, &Expr)| {
        keys[..at].iter().any(|other| other != key && name(other) == name(key))
    };
    keys.iter().enumerate().any(is_taken)
}

/// A plan with columns for the keys, so that keys that are the same expression are told apart.
fn with_keys(plan: LogicalPlan, keys: &mut [Expr]) -> Result<LogicalPlan> {
    let mut columns: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
    for (at, key) in keys.iter_mut().enumerate() {
        let name = format!("?group{at}");
        let column = Expr::Column(Column::new_unqualified(&name));
        columns.push(std::mem::replace(key, column).alias(name));
    }
    Ok(LogicalPlanBuilder::from(plan).project(columns)?.build()?)
}

/// The only group of grouping sets without keys, once for each of them.
fn repeated(plan: LogicalPlan, select: &Select) -> Result<LogicalPlan> {
    let sets = match &select.grouping_sets {
        Some(sets) if select.group_by.is_empty() && sets.len() > 1 => sets.len(),
        _ => return Ok(plan),
    };
    let rows = (0..sets).map(|_| vec![whole(0)]).collect();
    let sets = LogicalPlanBuilder::values(rows)?.alias("?sets")?.build()?;
    Ok(LogicalPlanBuilder::from(plan).cross_join(sets)?.build()?)
}

/// The place of an expression among others, to which it is added if it is not there.
fn place(all: &mut Vec<Expr>, expr: Expr) -> usize {
    all.iter().position(|known| *known == expr).unwrap_or_else(|| {
        all.push(expr);
        all.len() - 1
    })
}

/// Aggregates under names that differ. Some functions do not appear in names.
fn with_names(aggregates: Vec<Expr>) -> Vec<Expr> {
    let mut taken = HashSet::new();
    let named = aggregates.into_iter().enumerate().map(|(index, aggregate)| {
        let name = aggregate.schema_name().to_string();
        let again = format!("{name}:{index}");
        if taken.insert(name) { aggregate } else { aggregate.alias(again) }
    });
    named.collect()
}

fn grouping_sets(sets: &GroupingSets, keys: &[Expr], distinct: &mut Vec<Expr>) -> Result<Expr> {
    let mut all = Vec::with_capacity(sets.len());
    for set in sets {
        let mut exprs = Vec::with_capacity(set.len());
        for key in set.iter().filter_map(|key| keys.get(*key)) {
            place(distinct, key.clone());
            place(&mut exprs, key.clone());
        }
        all.push(exprs);
    }
    if distinct.is_empty() {
        return missing("grouping sets without keys");
    }
    Ok(Expr::GroupingSet(GroupingSet::GroupingSets(all)))
}

fn whole(number: i64) -> Expr {
    Expr::Literal(ScalarValue::Int64(Some(number)), None)
}

/// A bit of a number.
fn shifted(number: Expr, bits: i64) -> Expr {
    let shifted = binary_expr(number, Operator::BitwiseShiftRight, whole(bits));
    binary_expr(shifted, Operator::BitwiseAnd, whole(1))
}
