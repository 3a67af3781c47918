//! SELECT.

use crate::names;
use crate::refusal::{Result, missing, unsupported};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::SqlType;
use analyzer::tree::{Distinct, Expr, Kind, Select, SortKey};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{Expr as Engine, LogicalPlan, LogicalPlanBuilder, when};
use std::collections::HashSet;

/// Begins the names of columns that only sort keys need.
const KEY: &str = "?key";

impl Lowering<'_> {
    /// The rows of a SELECT, in the order of keys.
    pub(crate) fn select(&mut self, select: &Select, keys: &[SortKey]) -> Result<LogicalPlan> {
        if let Some(Distinct::On(on)) = &select.distinct {
            return self.in_frame(|lowering| lowering.distinct_on(select, on, keys));
        }
        let (plan, order) = self.select_with_keys(select, keys)?;
        let width = select.output.len();
        let plan = match select.distinct {
            Some(_) if plan.schema().fields().len() > width.max(1) => {
                return missing("DISTINCT in the order of other values");
            }
            Some(_) => {
                let types: Vec<SqlType> =
                    select.output.iter().map(|output| output.expr.sql_type).collect();
                self.distinct_rows(plan, &types)?
            }
            None => plan,
        };
        if order.is_empty() {
            return Ok(plan);
        }
        let columns = plan.schema().columns();
        let plan = LogicalPlanBuilder::from(plan).sort(order)?;
        if columns.len() <= width.max(1) {
            return Ok(plan.build()?);
        }
        let own: Vec<Engine> = columns.into_iter().take(width.max(1)).map(Engine::Column).collect();
        Ok(plan.project(own)?.build()?)
    }

    /// The rows of a SELECT without DISTINCT, and the order that its keys make. Columns that only the order needs follow the
    /// others.
    pub(crate) fn select_with_keys(
        &mut self,
        select: &Select,
        keys: &[SortKey],
    ) -> Result<(LogicalPlan, Vec<Sort>)> {
        self.in_frame(|lowering| {
            let plan = lowering.rows(select)?;
            lowering.projected(plan, select, keys)
        })
    }

    /// The rows of FROM, WHERE, GROUP BY and HAVING, with window functions and sets.
    fn rows(&mut self, select: &Select) -> Result<LogicalPlan> {
        let mut plan = self.from(&select.from)?;
        if let Some(filter) = &select.filter {
            let filter = self.filter(filter)?;
            plan = LogicalPlanBuilder::from(plan).filter(filter)?.build()?;
        }
        if select.is_grouped {
            plan = self.grouped(plan, select)?;
            if let Some(having) = &select.having {
                let having = self.condition(having)?;
                plan = LogicalPlanBuilder::from(plan).having(having)?.build()?;
            }
        }
        plan = self.windows(plan, select)?;
        self.sets(plan, select)
    }

    fn projected(
        &mut self,
        plan: LogicalPlan,
        select: &Select,
        keys: &[SortKey],
    ) -> Result<(LogicalPlan, Vec<Sort>)> {
        let names = names::unique(select.output.iter().map(|output| &*output.name));
        let mut columns = Columns::default();
        let anchor = anchor(&plan, select);
        for (output, name) in select.output.iter().zip(&names) {
            if matches!(output.expr.kind, Kind::WholeRow(_)) {
                return unsupported("a row of a relation as a value");
            }
            let value = self.expr(&output.expr)?;
            columns.add(anchored(value, anchor.as_ref())?, name.clone());
        }
        if columns.exprs.is_empty() {
            // The engine has no rows without columns.
            let nothing =
                Typed::constant(ScalarValue::Boolean(None), analyzer::system::Oid::BOOL.into());
            columns.add(nothing, "nothing".to_owned());
        }
        let mut places = Vec::with_capacity(keys.len());
        for key in keys {
            let output = match key.expr.kind {
                Kind::Output(place) => Some(place),
                _ => select.output.iter().position(|output| output.expr == key.expr),
            };
            places.push(match output {
                Some(place) => place,
                None => {
                    let value = self.expr(&key.expr)?;
                    columns.place_of(value)
                }
            });
        }
        let Columns { exprs, values, .. } = columns;
        let plan = LogicalPlanBuilder::from(plan).project(exprs)?.build()?;
        let made = plan.schema().columns();
        let order = keys.iter().zip(places).map(|(key, place)| {
            let value =
                Typed { expr: Engine::Column(made[place].clone()), ..values[place].clone() };
            self.sorted(key, value)
        });
        let order = order.collect::<Result<_>>()?;
        Ok((plan, order))
    }

    fn distinct_on(
        &mut self,
        select: &Select,
        on: &[Expr],
        keys: &[SortKey],
    ) -> Result<LogicalPlan> {
        let plan = self.rows(select)?;
        let names = names::unique(select.output.iter().map(|output| &*output.name));
        let mut columns = Columns::default();
        for (output, name) in select.output.iter().zip(names) {
            columns.add(self.expr(&output.expr)?, name);
        }
        let outputs = columns.values.clone();
        let (on, order) = self.with_outputs(outputs, |lowering| {
            let on = lowering.exprs(on)?.into_iter().map(|value| value.expr).collect();
            let order = keys.iter().map(|key| lowering.sort_key(key));
            Ok((on, order.collect::<Result<Vec<Sort>>>()?))
        })?;
        let order = (!order.is_empty()).then_some(order);
        Ok(LogicalPlanBuilder::from(plan).distinct_on(on, columns.exprs, order)?.build()?)
    }
}

/// A column of the rows of a SELECT whose groups exist without rows: for aggregates of all rows, and the set of ROLLUP that
/// has no keys.
fn anchor(plan: &LogicalPlan, select: &Select) -> Option<Engine> {
    let has_empty = match &select.grouping_sets {
        Some(sets) => sets.iter().any(Vec::is_empty),
        None => select.group_by.is_empty(),
    };
    let column = || plan.schema().columns().into_iter().next_back().map(Engine::Column);
    (select.is_grouped && has_empty).then(column).flatten()
}

/// A constant that seems to depend on a column. The engine moves conditions without columns below aggregates, where they do
/// not keep such groups away.
fn anchored(value: Typed, anchor: Option<&Engine>) -> Result<Typed> {
    let Some(anchor) = anchor else { return Ok(value) };
    if value.expr.any_column_refs() || value.is_null() {
        return Ok(value);
    }
    let same = value.expr.clone();
    let expr = when(anchor.clone().is_null(), value.expr).otherwise(same)?;
    Ok(Typed { expr, ..value })
}

/// The columns of a projection.
#[derive(Default)]
struct Columns {
    exprs: Vec<Engine>,
    values: Vec<Typed>,
    names: HashSet<String>,
}

impl Columns {
    fn add(&mut self, value: Typed, name: String) {
        self.exprs.push(match &value.expr {
            Engine::Column(column) if column.name == name => value.expr.clone(),
            other => other.clone().alias(&name),
        });
        self.names.insert(name);
        self.values.push(value);
    }

    /// The place of a value, which is added if it is not there.
    fn place_of(&mut self, value: Typed) -> usize {
        if let Some(place) = self.values.iter().position(|known| known.expr == value.expr) {
            return place;
        }
        let name = match &value.expr {
            Engine::Column(column) if !self.names.contains(&column.name) => column.name.clone(),
            _ => format!("{KEY}{}", self.values.len()),
        };
        self.add(value, name);
        self.values.len() - 1
    }
}
