//! The first rows in the order of an index.

use super::way::Way;
use super::{Known, Looked, disjoint, known};
use crate::{key_ranges, parameters};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::Expr;
use datafusion::prelude::SessionConfig;
use sdds::KeyRange;
use store::catalog::{SqlType, Table};
use store::{End, TableView};
use values::translate::external;

/// How many times as many rows a table must have.
const GAIN_MIN: u64 = 4;

/// The first rows of one table that a query wants.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// What all rows fulfil.
    pub(crate) conditions: Vec<Expr>,
    pub(crate) ends: Vec<Ends>,
}

/// The first rows in an order.
#[derive(Debug)]
pub(crate) struct Ends {
    pub(crate) order: Vec<Ordered>,
    pub(crate) rows: usize,
    /// Whether rows with NULL in the first key do not count.
    pub(crate) skips_nulls: bool,
}

/// A key of an order.
#[derive(Debug)]
pub(crate) struct Ordered {
    pub(crate) expr: Expr,
    pub(crate) descends: bool,
    pub(crate) nulls_first: bool,
}

impl Wanted {
    /// Whether the table has indexes, and many more rows than are wanted.
    pub(crate) fn has_gain(&self, view: &TableView) -> bool {
        let rows: usize = self.ends.iter().map(|ends| ends.rows).sum();
        let is_large = view.row_count().is_none_or(|all| all as u64 > GAIN_MIN * rows as u64);
        is_large && !view.indexes().is_empty()
    }

    /// The rows at a snapshot; `None` if an order has no index.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) async fn look_up(
        &self,
        view: &TableView,
        config: &SessionConfig,
    ) -> Result<Option<Looked>> {
        let conditions = parameters::with_values(&self.conditions)?;
        if key_ranges::of_filters(view.table(), &conditions) != [KeyRange::all()] {
            return Ok(None);
        }
        let known = known(view, config);
        let (mut names, mut rows) = (Vec::new(), Vec::new());
        for ends in &self.ends {
            let way = ends.by(view, &known, &conditions);
            let Some((known, way, from)) = way else { return Ok(None) };
            let found = known.file.end_of_entries(&way.ranges, ends.rows, from).await;
            let found = found.map_err(|error| external(error.into()))?;
            let Some(found) = found else { return Ok(None) };
            names.push(known.index.file.name.as_str());
            rows.extend(found.iter().map(KeyRange::point));
        }
        names.dedup();
        Ok(Some(Looked { index: names.join(" and ").into(), rows: disjoint(rows) }))
    }
}

impl Ends {
    /// The index whose entries are the rows in this order, and the end at which the order begins.
    fn by<'a, 'k>(
        &self,
        view: &TableView,
        known: &'a [Known<'k>],
        conditions: &[Expr],
    ) -> Option<(&'a Known<'k>, Way, End)> {
        let value = self.order.first().filter(|_| self.skips_nulls);
        let value = value.map(|key| Expr::IsNotNull(Box::new(key.expr.clone())));
        let mut all: Vec<&Expr> = conditions.iter().collect();
        all.extend(value.as_ref().filter(|value| !conditions.contains(value)));
        known.iter().find_map(|known| {
            let way = Way::of(known.index, view.table(), &known.meaning, &all)?;
            let from = self.end(view.table(), known, &way).filter(|_| way.is_exact)?;
            Some((known, way, from))
        })
    }

    /// The end of an index at which an order begins; `None` if the index has another order.
    fn end(&self, table: &Table, known: &Known<'_>, way: &Way) -> Option<End> {
        let keys = known.meaning.keys.iter().zip(&known.index.columns);
        let of_index = keys.zip(known.index.types(table)).map(|((expr, column), sql_type)| {
            let (descends, nulls_first) = (column.descending, column.nulls_first);
            let is_ordered = sql_type.is_some_and(|of| !matches!(of, SqlType::Char(_)));
            (Ordered { expr: expr.clone(), descends, nulls_first }, is_ordered)
        });
        let mut keys: Vec<(Ordered, bool)> = of_index.collect();
        if !known.index.is_enforced() {
            keys.extend(row_keys(table).map(|key| (key, true)));
        }
        let is_fixed = |expr: &Expr| keys[..way.fixed].iter().any(|(key, _)| key.expr == *expr);
        let mut order = self.order.iter().filter(|key| !is_fixed(&key.expr)).peekable();
        order.peek()?;
        let (mut is_forward, mut is_backward) = (true, true);
        let mut rest = keys[way.fixed..].iter();
        for wanted in order {
            let (key, is_ordered) = rest.next()?;
            if key.expr != wanted.expr || !is_ordered {
                return None;
            }
            let has_null = !self.skips_nulls && can_be_null(table, &key.expr);
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
