//! Select lists of columns.

use crate::names::{Named, bare, text};
use grammar::tree::{FuncCall, Node, NodeEnum};
use store::catalog::Table;

/// A column of a result: the table's column, and its name in the result.
pub type Output = (usize, String);

/// An item of a select list, and the name that it is given.
pub(crate) fn item_of(item: &Node) -> Option<(&NodeEnum, Option<&str>)> {
    let Some(NodeEnum::ResTarget(target)) = &item.node else { return None };
    let name = Some(target.name.as_str()).filter(|name| !name.is_empty());
    Some((target.val.as_deref()?.node.as_ref()?, name))
}

/// The name of the only item of a select list, if that is `count(*)`.
pub(crate) fn count_of(items: &[Node]) -> Option<String> {
    let [item] = items else { return None };
    let (NodeEnum::FuncCall(call), name) = item_of(item)? else { return None };
    let is_count = is_bare_call(call, "count") && call.agg_star;
    is_count.then(|| name.unwrap_or("count").to_owned())
}

/// Whether it is a call of a function without arguments and clauses.
pub(crate) fn is_bare_call(call: &FuncCall, name: &str) -> bool {
    bare(&call.funcname) == Some(name)
        && call.args.is_empty()
        && call.agg_order.is_empty()
        && call.agg_filter.is_none()
        && call.over.is_none()
        && !call.agg_within_group
        && !call.agg_distinct
        && !call.func_variadic
}

/// The columns of a select list or a RETURNING; `None` if one of its items is no column. The table has another name in it
/// if it is given one.
pub fn outputs_of(table: &Table, called: Option<&str>, items: &[Node]) -> Option<Vec<Output>> {
    of(Named { table, called: called.unwrap_or(&table.name) }, items)
}

/// The columns of a select list; `None` if one of its items is no column.
pub(crate) fn of(named: Named<'_>, items: &[Node]) -> Option<Vec<Output>> {
    let shown = named.table.columns.iter().enumerate().filter(|(_, column)| !column.hidden);
    let all = shown.map(|(index, column)| (index, column.name.clone()));
    let mut outputs = Vec::new();
    for item in items {
        let (value, name) = item_of(item)?;
        if is_all(named, value) {
            outputs.extend(all.clone());
            continue;
        }
        let index = named.column(value)?;
        let name = name.unwrap_or(&named.table.columns[index].name);
        outputs.push((index, name.to_owned()));
    }
    Some(outputs)
}

/// Whether an item is `*` or `t.*`.
fn is_all(named: Named<'_>, value: &NodeEnum) -> bool {
    let NodeEnum::ColumnRef(reference) = value else { return false };
    let is_star = |node: &Node| matches!(node.node, Some(NodeEnum::AStar(_)));
    match &reference.fields[..] {
        [star] => is_star(star),
        [qualifier, star] => is_star(star) && text(qualifier) == Some(named.called),
        _ => false,
    }
}
