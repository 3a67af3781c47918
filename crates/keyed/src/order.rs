//! ORDER BY: key order or its reverse, the order of an index, or an order in which the rows that are found are sorted.

use crate::condition::{Condition, is_plain};
use crate::names::{Named, bare};
use crate::outputs::Output;
use datafusion::arrow::compute::SortOptions;
use grammar::tree::{Node, NodeEnum, SortBy, SortByDir, SortByNulls};
use store::End;
use store::catalog::Table;

/// The order of a query.
#[derive(Debug)]
pub(crate) enum Order {
    /// That of the key, from this end.
    Key(End),
    /// That of columns whose values are ordered as their representations are.
    Columns(Vec<OrderKey>),
}

/// A column of ORDER BY.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OrderKey {
    pub(crate) column: usize,
    pub(crate) options: SortOptions,
}

impl Order {
    /// The end at which reading in key order begins.
    pub(crate) fn from(&self) -> End {
        match self {
            Self::Key(from) => *from,
            Self::Columns(_) => End::First,
        }
    }

    /// The columns by which rows are sorted, but for those of the key.
    pub(crate) fn columns(&self) -> &[OrderKey] {
        match self {
            Self::Key(_) => &[],
            Self::Columns(columns) => columns,
        }
    }
}

/// The order of a query; `None` for others than those of columns.
pub(crate) fn of(
    named: Named<'_>,
    condition: &Condition,
    outputs: &[Output],
    order: &[Node],
) -> Option<Order> {
    let mut keys = Vec::with_capacity(order.len());
    for item in order {
        let Some(NodeEnum::SortBy(item)) = &item.node else { return None };
        let column = column(named, outputs, item.node.as_deref()?.node.as_ref()?)?;
        keys.push(OrderKey { column, options: options_of(item)? });
    }
    if let Some(from) = of_key(named.table, condition, &keys) {
        return Some(Order::Key(from));
    }
    let is_sortable = |key: &OrderKey| is_plain(&named.table.columns[key.column].sql_type);
    keys.iter().all(is_sortable).then_some(Order::Columns(keys))
}

pub(crate) fn options_of(item: &SortBy) -> Option<SortOptions> {
    let descending = match item.sortby_dir() {
        SortByDir::SortbyDefault | SortByDir::SortbyAsc => false,
        SortByDir::SortbyDesc => true,
        SortByDir::SortbyUsing | SortByDir::Undefined => return None,
    };
    let nulls_first = match item.sortby_nulls() {
        SortByNulls::SortbyNullsDefault | SortByNulls::Undefined => descending,
        SortByNulls::SortbyNullsFirst => true,
        SortByNulls::SortbyNullsLast => false,
    };
    Some(SortOptions { descending, nulls_first })
}

/// The end at which rows in this order begin in key order; `None` for other orders. Key columns that the
/// condition fixes do not matter. Keys are never NULL.
fn of_key(table: &Table, condition: &Condition, order: &[OrderKey]) -> Option<End> {
    let key = table.key_indices();
    let (fixed, free) = key.split_at(condition.prefix.len());
    let mut free = free.iter();
    let mut from = None;
    for OrderKey { column, options } in order {
        let end = if options.descending { End::Last } else { End::First };
        if fixed.contains(column) {
            continue;
        }
        free.next().filter(|index| *index == column)?;
        if from.is_some_and(|from| from != end) {
            return None;
        }
        from = Some(end);
    }
    Some(from.unwrap_or(End::First))
}

/// The column that a key of ORDER BY names. A name alone is first that of a result's column.
fn column(named: Named<'_>, outputs: &[Output], key: &NodeEnum) -> Option<usize> {
    let NodeEnum::ColumnRef(reference) = key else { return None };
    let Some(name) = bare(&reference.fields) else { return named.column(key) };
    let mut meant = outputs.iter().filter(|(_, output)| *output == name).map(|(index, _)| *index);
    match meant.next() {
        Some(first) => meant.all(|other| other == first).then_some(first),
        None => named.column(key),
    }
}
