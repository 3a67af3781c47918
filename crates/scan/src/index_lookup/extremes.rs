//! The first rows in the order of an index: for ORDER BY with LIMIT, and for `min` and `max`.
//!
//! If the entries of an index are just the rows that a query selects, in its order, then the scan reads the rows of the first
//! entries only. The operators above it stay as they are.

use super::way::Way;
use super::{Known, Looked, known, unqualified};
use crate::key_ranges::{self, split_conjuncts};
use crate::provider::BucketTable;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, Projection, TableScan};
use datafusion::prelude::SessionConfig;
use sdds::KeyRange;
use std::sync::Arc;
use store::catalog::{SqlType, Table};
use store::{End, TableView};
use values::translate::external;

/// The most rows that are read in the order of an index.
const ROWS_MAX: usize = 1024;

/// How many times as many rows a table must have.
const GAIN_MIN: u64 = 4;

/// The most calls of `min` and `max` of a query.
const CALLS_MAX: usize = 8;

/// The plan, whose scans read only the first rows of an index where that is enough.
///
/// # Errors
/// Those of the store and the engine.
pub async fn chosen(plan: LogicalPlan, config: &SessionConfig) -> Result<LogicalPlan> {
    let mut wanted = Vec::new();
    plan.apply(|node| {
        wanted.extend(Wanted::of(node));
        Ok(TreeNodeRecursion::Continue)
    })?;
    if wanted.is_empty() {
        return Ok(plan);
    }
    let mut rows = Vec::with_capacity(wanted.len());
    for wanted in &wanted {
        rows.push(wanted.look_up(config).await.map_err(|error| external(error.into()))?);
    }
    let mut rows = rows.into_iter();
    let replaced = plan.transform_down(|node| {
        if Wanted::of(&node).is_none() {
            return Ok(Transformed::no(node));
        }
        match rows.next().flatten() {
            Some(rows) => node.transform_down(|below| with_rows(below, &rows)),
            None => Ok(Transformed::no(node)),
        }
    })?;
    Ok(replaced.data)
}

/// A scan of only some rows.
fn with_rows(node: LogicalPlan, rows: &Looked) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::TableScan(scan) = &node else { return Ok(Transformed::no(node)) };
    let provider = source_as_provider(&scan.source)?;
    let Some(table) = provider.downcast_ref::<BucketTable>() else {
        return Ok(Transformed::no(node));
    };
    let source = provider_as_source(Arc::new(table.with_chosen(rows.clone())));
    Ok(Transformed::yes(LogicalPlan::TableScan(TableScan { source, ..scan.clone() })))
}

/// The rows that are wanted of one table.
struct Wanted {
    view: TableView,
    conditions: Vec<Expr>,
    ends: Vec<Ends>,
}

/// The first rows in an order.
struct Ends {
    order: Vec<Ordered>,
    rows: usize,
    /// Whether rows with NULL in the first key do not count.
    skips_nulls: bool,
}

/// A key of an order.
struct Ordered {
    expr: Expr,
    descends: bool,
    nulls_first: bool,
}

impl Wanted {
    fn of(node: &LogicalPlan) -> Option<Self> {
        match node {
            LogicalPlan::Sort(sort) => {
                let rows = sort.fetch.filter(|rows| (1..=ROWS_MAX).contains(rows))?;
                let exprs = sort.expr.iter().map(|key| key.expr.clone()).collect();
                let (view, conditions, exprs) = below(&sort.input, exprs)?;
                let order = exprs.into_iter().zip(&sort.expr).map(|(expr, key)| Ordered {
                    expr,
                    descends: !key.asc,
                    nulls_first: key.nulls_first,
                });
                let ends = vec![Ends { order: order.collect(), rows, skips_nulls: false }];
                Some(Self { view, conditions, ends }).filter(Self::has_gain)
            }
            LogicalPlan::Aggregate(aggregate) => Self::of_calls(aggregate).filter(Self::has_gain),
            _ => None,
        }
    }

    /// The rows with the values of `min` and `max`.
    fn of_calls(aggregate: &Aggregate) -> Option<Self> {
        let calls = &aggregate.aggr_expr;
        if !aggregate.group_expr.is_empty() || calls.is_empty() || calls.len() > CALLS_MAX {
            return None;
        }
        let (mut values, mut descend) = (Vec::new(), Vec::new());
        for call in calls {
            let call = match call {
                Expr::Alias(alias) => &*alias.expr,
                call => call,
            };
            let Expr::AggregateFunction(call) = call else { return None };
            let [value] = &call.params.args[..] else { return None };
            descend.push(match call.func.name() {
                "min" => false,
                "max" => true,
                _ => return None,
            });
            if call.params.filter.is_some() || !call.params.order_by.is_empty() {
                return None;
            }
            values.push(value.clone());
        }
        let (view, conditions, values) = below(&aggregate.input, values)?;
        let ends = values.into_iter().zip(descend).map(|(expr, descends)| Ends {
            order: vec![Ordered { expr, descends, nulls_first: descends }],
            rows: 1,
            skips_nulls: true,
        });
        Some(Self { view, conditions, ends: ends.collect() })
    }

    /// Whether the table has indexes, and many more rows than are wanted.
    fn has_gain(&self) -> bool {
        let rows: usize = self.ends.iter().map(|ends| ends.rows).sum();
        let is_large = self.view.row_count().is_none_or(|all| all as u64 > GAIN_MIN * rows as u64);
        is_large && !self.view.indexes().is_empty()
    }

    /// The rows; `None` if an order has no index.
    async fn look_up(&self, config: &SessionConfig) -> Result<Option<Looked>, store::Error> {
        let ranges = key_ranges::of_filters(self.view.table(), &self.conditions);
        if ranges != [KeyRange::all()] {
            return Ok(None);
        }
        let known = known(&self.view, config);
        let (mut names, mut rows) = (Vec::new(), Vec::new());
        for ends in &self.ends {
            let Some((known, way, from)) = self.by(&known, ends) else { return Ok(None) };
            let found = known.file.end_of_entries(&way.ranges, ends.rows, from).await?;
            let Some(found) = found else { return Ok(None) };
            names.push(known.index.file.name.as_str());
            rows.extend(found.iter().map(KeyRange::point));
        }
        names.dedup();
        rows.sort_by(|a, b| a.low.cmp(&b.low));
        rows.dedup();
        Ok(Some(Looked { index: names.join(" and ").into(), rows }))
    }

    /// The index whose entries are the rows in an order, and the end at which the order begins.
    fn by<'a, 'k>(&self, known: &'a [Known<'k>], ends: &Ends) -> Option<(&'a Known<'k>, Way, End)> {
        let value = ends.order.first().filter(|_| ends.skips_nulls);
        let value = value.map(|key| Expr::IsNotNull(Box::new(key.expr.clone())));
        let mut conditions: Vec<&Expr> = self.conditions.iter().collect();
        conditions.extend(value.as_ref().filter(|value| !self.conditions.contains(value)));
        known.iter().find_map(|known| {
            let way = Way::of(known.index, self.view.table(), &known.meaning, &conditions)?;
            let from = self.end(known, &way, ends).filter(|_| way.is_exact)?;
            Some((known, way, from))
        })
    }

    /// The end of an index at which an order begins; `None` if the index has another order.
    fn end(&self, known: &Known<'_>, way: &Way, ends: &Ends) -> Option<End> {
        let table = self.view.table();
        let keys = known.meaning.keys.iter().zip(&known.index.columns);
        let of_index = keys.zip(known.index.types(table)).map(|((expr, column), sql_type)| {
            let (descends, nulls_first) = (column.descending, column.nulls_first);
            let is_ordered = sql_type.is_some_and(|of| !matches!(of, SqlType::Char(_)));
            (Ordered { expr: expr.clone(), descends, nulls_first }, is_ordered)
        });
        let mut keys: Vec<(Ordered, bool)> = of_index.collect();
        if !known.index.is_unique {
            keys.extend(row_keys(table).map(|key| (key, true)));
        }
        let is_fixed = |expr: &Expr| keys[..way.fixed].iter().any(|(key, _)| key.expr == *expr);
        let mut order = ends.order.iter().filter(|key| !is_fixed(&key.expr)).peekable();
        order.peek()?;
        let (mut is_forward, mut is_backward) = (true, true);
        let mut rest = keys[way.fixed..].iter();
        for wanted in order {
            let (key, is_ordered) = rest.next()?;
            if key.expr != wanted.expr || !is_ordered {
                return None;
            }
            let has_null = !ends.skips_nulls && can_be_null(table, &key.expr);
            let same_nulls = key.nulls_first == wanted.nulls_first;
            is_forward &= key.descends == wanted.descends && (same_nulls || !has_null);
            is_backward &= key.descends != wanted.descends && (!same_nulls || !has_null);
        }
        match (is_forward, is_backward) {
            (true, _) => Some(End::First),
            (_, true) => Some(End::Last),
            _ => None,
        }
    }
}

/// The key of the row, which ends an entry.
fn row_keys(table: &Table) -> impl Iterator<Item = Ordered> {
    table.key_indices().into_iter().map(|at| {
        let column = Column::new_unqualified(&table.columns[at].name);
        Ordered { expr: Expr::Column(column), descends: false, nulls_first: false }
    })
}

fn can_be_null(table: &Table, expr: &Expr) -> bool {
    match expr {
        Expr::Column(column) => {
            table.column(&column.name).is_none_or(|(_, column)| column.nullable)
        }
        _ => true,
    }
}

/// The table below projections and filters, the conditions of its rows, and expressions of a plan over its columns.
fn below(plan: &LogicalPlan, mut exprs: Vec<Expr>) -> Option<(TableView, Vec<Expr>, Vec<Expr>)> {
    let (mut plan, mut conditions) = (plan, Vec::new());
    loop {
        match plan {
            LogicalPlan::Projection(projection) => {
                if !conditions.is_empty() {
                    return None;
                }
                exprs = exprs
                    .into_iter()
                    .map(|expr| replaced(expr, projection))
                    .collect::<Option<_>>()?;
                plan = &projection.input;
            }
            LogicalPlan::SubqueryAlias(alias) => plan = &alias.input,
            LogicalPlan::Filter(filter) => {
                conditions.push(filter.predicate.clone());
                plan = &filter.input;
            }
            LogicalPlan::TableScan(scan) => {
                let provider = source_as_provider(&scan.source).ok()?;
                let view = provider.downcast_ref::<BucketTable>()?.view()?.clone();
                let filters = conditions.iter().chain(&scan.filters);
                let filters: Vec<Expr> =
                    filters.map(|filter| unqualified(filter.clone())).collect();
                let mut conjuncts = Vec::new();
                filters.iter().for_each(|filter| split_conjuncts(filter, &mut conjuncts));
                let mut conditions: Vec<Expr> = Vec::with_capacity(conjuncts.len());
                for conjunct in conjuncts {
                    if !conditions.contains(conjunct) {
                        conditions.push(conjunct.clone());
                    }
                }
                let exprs = exprs.into_iter().map(unqualified).collect();
                let is_limited = scan.fetch.is_some();
                return (!is_limited).then_some((view, conditions, exprs));
            }
            _ => return None,
        }
    }
}

/// An expression over the columns of a projection as one over its input; `None` if it is more than a column.
fn replaced(expr: Expr, projection: &Projection) -> Option<Expr> {
    let Expr::Column(column) = &expr else { return None };
    let at = projection.schema.maybe_index_of_column(column)?;
    Some(projection.expr.get(at)?.clone().unalias())
}
