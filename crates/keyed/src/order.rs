//! ORDER BY, where it is key order or its reverse.

use crate::condition::Condition;
use crate::names::{Named, bare};
use crate::outputs::Output;
use grammar::tree::{Node, NodeEnum, SortByDir};
use store::End;

/// The end at which rows in this order begin; `None` for other orders. Key columns that the
/// condition fixes do not matter. Keys are never NULL.
pub(crate) fn of(
    named: Named<'_>,
    condition: &Condition,
    outputs: &[Output],
    order: &[Node],
) -> Option<End> {
    let key = named.table.key_indices();
    let (fixed, free) = key.split_at(condition.prefix.len());
    let mut free = free.iter();
    let mut from = None;
    for item in order {
        let Some(NodeEnum::SortBy(item)) = &item.node else { return None };
        let column = column(named, outputs, item.node.as_deref()?.node.as_ref()?)?;
        let end = match item.sortby_dir() {
            SortByDir::SortbyDefault | SortByDir::SortbyAsc => End::First,
            SortByDir::SortbyDesc => End::Last,
            SortByDir::SortbyUsing | SortByDir::Undefined => return None,
        };
        if fixed.contains(&column) {
            continue;
        }
        free.next().filter(|index| **index == column)?;
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
