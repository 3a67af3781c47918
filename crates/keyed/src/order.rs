//! ORDER BY, where it is key order or its reverse.

use crate::condition::Condition;
use crate::names::Named;
use crate::outputs::Output;
use datafusion::sql::sqlparser::ast::{Expr, OrderBy, OrderByKind};
use parser::names::fold;
use store::End;

/// The end at which rows in this order begin; `None` for other orders. Key columns that the
/// condition fixes do not matter.
pub(crate) fn of(
    named: Named<'_>,
    condition: &Condition,
    outputs: &[Output],
    order: Option<&OrderBy>,
) -> Option<End> {
    let Some(order) = order else { return Some(End::First) };
    let OrderByKind::Expressions(items) = &order.kind else { return None };
    if order.interpolate.is_some() {
        return None;
    }
    let key = named.table.key_indices();
    let (fixed, free) = key.split_at(condition.prefix.len());
    let mut free = free.iter();
    let mut from = None;
    for item in items {
        if item.with_fill.is_some() {
            return None;
        }
        let column = column(named, outputs, &item.expr)?;
        if fixed.contains(&column) {
            continue;
        }
        free.next().filter(|index| **index == column)?;
        let end = if item.options.asc == Some(false) { End::Last } else { End::First };
        if from.is_some_and(|from| from != end) {
            return None;
        }
        from = Some(end);
    }
    Some(from.unwrap_or(End::First))
}

/// The column that a key of ORDER BY names. A name alone is first that of a result's column.
fn column(named: Named<'_>, outputs: &[Output], key: &Expr) -> Option<usize> {
    let Expr::Identifier(name) = key else { return named.column(key) };
    let name = fold(name);
    let mut meant = outputs.iter().filter(|(_, output)| *output == name).map(|(index, _)| *index);
    match meant.next() {
        Some(first) => meant.all(|other| other == first).then_some(first),
        None => named.column(key),
    }
}
