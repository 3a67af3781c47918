//! SELECT.

use crate::names;
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::{Oid, SqlType};
use analyzer::tree::{Distinct, Expr, From, Kind, Limit, Select, SortKey};
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{
    Expr as Engine, ExprSchemable, Limit as Cut, LogicalPlan, LogicalPlanBuilder, when,
};
use executor::logical_may_fail;
use optimizer::{Carried, carried};
use std::collections::HashSet;
use std::sync::Arc;

/// Begins the names of columns that only sort keys need.
const KEY: &str = "?key";

impl Lowering<'_> {
    /// The rows of a SELECT, in the order of keys, cut by LIMIT.
    pub(crate) fn select(
        &mut self,
        select: &Select,
        keys: &[SortKey],
        limit: &Limit,
    ) -> Result<LogicalPlan> {
        let width = select.output.len();
        if let Some(Distinct::On(on)) = &select.distinct {
            let (plan, order) = self.in_frame(|lowering| lowering.distinct_on(select, on, keys))?;
            return self.ordered(plan, order, limit, width);
        }
        let (plan, order) = self.in_frame(|lowering| {
            let Carried { plan, order } = lowering.rows(select, keys)?;
            let order = if select.distinct.is_some() { Vec::new() } else { order };
            let may_stay_unread = lowering.may_stay_unread(select);
            let postponed = lowering.skipping(may_stay_unread, |lowering| {
                lowering.postponed(&plan, select, keys, &order, limit)
            })?;
            if let Some(plan) = postponed {
                return Ok((plan, None));
            }
            let (plan, order) = lowering.projected(plan, select, keys, order)?;
            Ok((plan, Some(order)))
        })?;
        let Some(order) = order else { return Ok(plan) };
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
        self.ordered(plan, order, limit, width)
    }

    /// A SELECT whose values are computed in the order of its keys or of what it reads, and only for the rows that LIMIT leaves:
    /// those of `SELECT nextval('s') FROM t ORDER BY k LIMIT 2` for two. `None` if none is volatile and none may fail for other
    /// rows, or such a value is a key.
    fn postponed(
        &mut self,
        plan: &LogicalPlan,
        select: &Select,
        keys: &[SortKey],
        read: &[Sort],
        limit: &Limit,
    ) -> Result<Option<LogicalPlan>> {
        if keys.is_empty() && read.is_empty() || select.distinct.is_some() || select.is_grouped {
            return Ok(None);
        }
        let values = self.exprs(select.output.iter().map(|output| &output.expr))?;
        let is_volatile = values.iter().any(|value| value.expr.is_volatile());
        let may_fail = |value: &Typed| limit.count.is_some() && logical_may_fail(&value.expr);
        if !is_volatile && !values.iter().any(may_fail) {
            return Ok(None);
        }
        let mut order = Vec::with_capacity(keys.len() + read.len());
        for key in keys {
            let value = match key.expr.kind {
                Kind::Output(place) => values[place].clone(),
                _ => self.expr(&key.expr)?,
            };
            if value.expr.is_volatile() || !is_volatile && may_fail(&value) {
                return Ok(None);
            }
            order.push(self.sorted(key, value)?);
        }
        order.extend_from_slice(read);
        let width = plan.schema().fields().len();
        let plan = self.ordered(plan.clone(), order, limit, width)?;
        let names = names::unique(select.output.iter().map(|output| &*output.name));
        let mut columns = Columns::default();
        for (value, name) in values.into_iter().zip(names) {
            columns.add(value, name);
        }
        let (exprs, width) = (columns.exprs, select.output.len());
        let project =
            |plan: LogicalPlan| LogicalPlanBuilder::from(plan).project(exprs.clone())?.build();
        // The joins that the engine makes of subqueries lose the order.
        if exprs.iter().any(has_subquery) {
            let Some(Carried { plan, order }) = carried(&project(plan)?)? else { return Ok(None) };
            return Ok(Some(self.ordered(plan, order, &Limit::default(), width)?));
        }
        Ok(Some(match plan {
            // The engine takes the limit below the values; subqueries are known by the limit on top of them.
            LogicalPlan::Limit(cut) if !is_volatile => {
                let input = Arc::new(project(Arc::unwrap_or_clone(cut.input))?);
                LogicalPlan::Limit(Cut { input, ..cut })
            }
            plan => project(plan)?,
        }))
    }

    /// The rows of a SELECT without DISTINCT, and the order that its keys make. Columns that only the order needs follow the
    /// others.
    pub(crate) fn select_with_keys(
        &mut self,
        select: &Select,
        keys: &[SortKey],
    ) -> Result<(LogicalPlan, Vec<Sort>)> {
        self.in_frame(|lowering| {
            let Carried { plan, order } = lowering.rows(select, keys)?;
            lowering.projected(plan, select, keys, order)
        })
    }

    /// The rows of FROM, WHERE, GROUP BY and HAVING, with window functions and sets, and the order behind that of the keys:
    /// without keys the one that a subquery, which is all of FROM, gives the rows, and the one of the items of sets.
    fn rows(&mut self, select: &Select, keys: &[SortKey]) -> Result<Carried> {
        let is_filtered = select.filter.is_some() || select.having.is_some();
        let plan = self.filtered_by(is_filtered, |lowering| lowering.from(&select.from))?;
        let ordered = match &select.from[..] {
            [From::Relation(_)] => carried(&plan)?,
            _ => None,
        };
        let Carried { mut plan, mut order } =
            ordered.unwrap_or_else(|| Carried { plan, order: Vec::new() });
        if let Some(filter) = &select.filter {
            let filter = self.filtered_by(true, |lowering| lowering.filter(filter))?;
            plan = LogicalPlanBuilder::from(plan).filter(filter)?.build()?;
        }
        if select.is_grouped {
            let rows = Carried { plan, order: std::mem::take(&mut order) };
            plan = self.grouped(rows, select)?;
            if let Some(having) = &select.having {
                let having = self.condition(having)?;
                plan = LogicalPlanBuilder::from(plan).having(having)?.build()?;
            }
        }
        plan = self.windows(plan, select, &order)?;
        if !keys.is_empty() && select.distinct.is_none() {
            order.clear();
        }
        let is_ordered = !keys.is_empty() || !order.is_empty();
        self.sets(plan, select, order, is_ordered)
    }

    /// The select list, with columns behind it that only the order needs, and the order: that of the keys, and behind it
    /// another one of the rows.
    fn projected(
        &mut self,
        plan: LogicalPlan,
        select: &Select,
        keys: &[SortKey],
        of_rows: Vec<Sort>,
    ) -> Result<(LogicalPlan, Vec<Sort>)> {
        let names = names::unique(select.output.iter().map(|output| &*output.name));
        let mut columns = Columns::default();
        let anchor = anchor(&plan, select);
        for (place, name) in names.iter().enumerate() {
            let value = self.output(select, place, keys)?;
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
            // A column may be there with another type, as which a value is only named.
            places.push(match output {
                Some(place) => (place, columns.values[place].sql_type),
                None => {
                    let value = self.expr(&key.expr)?;
                    let sql_type = value.sql_type;
                    (columns.place_of(value), sql_type)
                }
            });
        }
        let mut behind = Vec::with_capacity(of_rows.len());
        for key in of_rows {
            let data_type = key.expr.get_type(plan.schema())?;
            let value = Typed { expr: key.expr.clone(), sql_type: Oid::UNKNOWN.into(), data_type };
            behind.push((columns.place_of(value), key));
        }
        let Columns { exprs, values, .. } = columns;
        let plan = LogicalPlanBuilder::from(plan).project(exprs)?.build()?;
        let made = plan.schema().columns();
        let order = keys.iter().zip(places).map(|(key, (place, sql_type))| {
            let expr = Engine::Column(made[place].clone());
            self.sorted(key, Typed { expr, sql_type, ..values[place].clone() })
        });
        let behind = behind
            .into_iter()
            .map(|(place, key)| Ok(Sort { expr: Engine::Column(made[place].clone()), ..key }));
        let order = order.chain(behind).collect::<Result<_>>()?;
        Ok((plan, order))
    }

    /// The first row of those with the same values of DISTINCT ON, in the order of keys, and behind them of the values: as
    /// PostgreSQL, which sorts the rows to find the first ones, returns them.
    fn distinct_on(
        &mut self,
        select: &Select,
        on: &[Expr],
        keys: &[SortKey],
    ) -> Result<(LogicalPlan, Vec<Sort>)> {
        let is_sorted_set = |key: &SortKey| {
            let output = match key.expr.kind {
                Kind::Output(place) => select.output.get(place),
                _ => None,
            };
            let expr = output.map_or(&key.expr, |output| &output.expr);
            analyzer::contains(expr, &mut |part| matches!(part.kind, Kind::Set(..)))
        };
        // PostgreSQL computes these sets for the first rows.
        if !select.sets.is_empty() && !keys.is_empty() && !keys.iter().any(is_sorted_set) {
            return missing("DISTINCT ON with a set by which the rows are not ordered");
        }
        let same = on.iter();
        let same =
            same.map(|on| SortKey { expr: on.clone(), descending: false, nulls_first: false });
        let all: Vec<SortKey> = same.chain(keys.iter().cloned()).collect();
        let Carried { plan, order: read } = self.rows(select, keys)?;
        let (plan, mut same) = self.projected(plan, select, &all, read)?;
        let order = same.split_off(on.len());
        let mut sorted = order[..keys.len()].to_vec();
        let mut groups: Vec<Engine> = Vec::with_capacity(on.len());
        for key in same {
            if !groups.contains(&key.expr) {
                groups.push(key.expr.clone());
            }
            if !sorted.iter().any(|known| known.expr == key.expr) {
                sorted.push(key);
            }
        }
        let (mut firsts, mut kept) = (Vec::new(), Vec::new());
        for column in plan.schema().columns() {
            let name = format!("?first{}", firsts.len());
            let first = self.first_of(Engine::Column(column.clone()), order.clone())?;
            firsts.push(first.alias(&name));
            let first = Engine::Column(Column::new_unqualified(name));
            kept.push(first.alias_qualified(column.relation, column.name));
        }
        let groups = groups.into_iter().enumerate();
        let groups: Vec<_> = groups.map(|(at, key)| key.alias(format!("?same{at}"))).collect();
        let plan = LogicalPlanBuilder::from(plan).aggregate(groups, firsts)?.project(kept)?;
        Ok((plan.build()?, sorted))
    }
}

fn has_subquery(value: &Engine) -> bool {
    use Engine::{Exists, InSubquery, ScalarSubquery, SetComparison};
    let is_one = |part: &Engine| {
        Ok(matches!(part, ScalarSubquery(_) | Exists(_) | InSubquery(_) | SetComparison(_)))
    };
    value.exists(is_one).unwrap_or(true)
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
