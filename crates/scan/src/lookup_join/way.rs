//! The choice of what rows are looked up by: the primary key, or an index whose leading columns are compared with left
//! values or have one value.

use super::joined::{Joined, can_be_looked_up};
use crate::key_ranges::{Bounded, array_of, bound_on, split_conjuncts};
use datafusion::arrow::array::ArrayRef;
use datafusion::logical_expr::{Expr, Operator};
use std::sync::Arc;
use store::TableView;
use store::catalog::{Index, SqlType, Table, TableId};

/// A way to the rows of a join.
pub(super) struct Way<'a> {
    pub(super) table: &'a Arc<Table>,
    /// The index and its file; `None` for the primary key.
    pub(super) index: Option<(&'a Arc<Index>, &'a TableView)>,
    /// The values of the leading columns.
    pub(super) values: Vec<Value<'a>>,
    /// Whether a key has one row at most.
    pub(super) is_unique: bool,
}

/// The value of a column in a key.
pub(super) enum Value<'a> {
    /// That of each left row.
    Left(&'a Joined),
    /// One value, in an array.
    Fixed(ArrayRef),
}

impl Way<'_> {
    /// The name of the index, for EXPLAIN.
    pub(super) fn name(&self) -> Arc<str> {
        match self.index {
            Some((index, _)) => index.file.name.as_str().into(),
            None => self.table.key_name().into(),
        }
    }
}

/// The best way to the rows of a table that fulfil `filters` and are compared with left values. The partial indexes `implied`
/// have all of these rows.
pub(super) fn way<'a>(
    view: &'a TableView,
    filters: &[Expr],
    joined: &'a [Joined],
    implied: &[TableId],
) -> Option<Way<'a>> {
    let table = view.table();
    let mut conjuncts = Vec::new();
    filters.iter().for_each(|filter| split_conjuncts(filter, &mut conjuncts));
    let value = |&column: &usize| {
        let left = joined.iter().find(|joined| joined.column == column);
        left.map(Value::Left).or_else(|| fixed(table, column, &conjuncts).map(Value::Fixed))
    };
    let through = |columns: &[usize], index: Option<(&'a Arc<Index>, &'a TableView)>| {
        let values: Vec<Value<'a>> = columns.iter().map_while(value).collect();
        let all = index.map_or(columns.len(), |(index, _)| index.columns.len());
        let is_whole = values.len() == all;
        let is_unique = is_whole && index.is_none_or(|(index, _)| index.is_enforced());
        let is_joined = values.iter().any(|value| matches!(value, Value::Left(_)));
        is_joined.then_some(Way { table, index, values, is_unique })
    };
    let has_all = |index: &Index| index.predicate.is_none() || implied.contains(&index.file.id);
    let by_index = view.indexes().iter().filter(|(index, _)| has_all(index));
    let by_index = by_index.filter_map(|(index, file)| {
        let columns = index.columns.iter().map_while(|column| table.position(column.key.column()?));
        through(&columns.collect::<Vec<_>>(), Some((index, file)))
    });
    let by_key = through(&table.key_indices(), None);
    // Of equal ones the first.
    let better = |best: Way<'a>, other: Way<'a>| {
        let rank = |way: &Way<'_>| (way.is_unique, way.values.len());
        if rank(&other) > rank(&best) { other } else { best }
    };
    by_key.into_iter().chain(by_index).reduce(better)
}

/// The only value that a column has in rows which fulfil all conditions.
fn fixed(table: &Table, column: usize, conjuncts: &[&Expr]) -> Option<ArrayRef> {
    let column = &table.columns[column];
    let data_type = column.sql_type.arrow();
    // Blanks at the end of a char(n) do not count.
    if matches!(column.sql_type, SqlType::Char(_)) || !can_be_looked_up(&data_type) {
        return None;
    }
    conjuncts.iter().find_map(|condition| match bound_on(condition, &column.name)? {
        Bounded::Compared(Operator::Eq, value) => array_of(value, &data_type),
        _ => None,
    })
}
