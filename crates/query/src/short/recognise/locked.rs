//! Rows that a query in a condition finds and locks.

use super::select::{mode_of, policy_of};
use super::{indexes_of, only_table};
use crate::context::Frame;
use crate::short::chosen::Locked;
use datafusion::common::ScalarValue;
use grammar::tree::{
    AExpr, AExprKind, AStar, ColumnRef, Node, NodeEnum, ResTarget, SelectStmt, SubLink, SubLinkType,
};
use keyed::{Operand, Read, is_plain};
use parser::commands::locking::{self, LockingClause};
use scan::tables::Tables;
use std::sync::Arc;
use store::catalog::{Privileges, Table};

/// The rows of `key = (SELECT key FROM the same table ... LIMIT 1 FOR UPDATE ...)`, or `key IN (...)` with any constant limit.
pub(super) fn locked(
    frame: &Frame<'_>,
    tables: &dyn Tables,
    (table, called): (&Arc<Table>, &str),
    condition: &NodeEnum,
) -> Option<Locked> {
    let is_in = |sublink: &SubLink| {
        sublink.sub_link_type() == SubLinkType::AnySublink && sublink.oper_name.is_empty()
    };
    let (column, sublink) = match condition {
        NodeEnum::AExpr(test) if is_equation(test) => {
            let Some(NodeEnum::SubLink(sublink)) = &test.rexpr.as_deref()?.node else {
                return None;
            };
            (test.lexpr.as_deref()?, sublink)
        }
        NodeEnum::SubLink(sublink) if is_in(sublink) => (sublink.testexpr.as_deref()?, sublink),
        _ => return None,
    };
    let is_value = sublink.sub_link_type() == SubLinkType::ExprSublink;
    if !is_value && !is_in(sublink) {
        return None;
    }
    let [key] = table.key_indices()[..] else { return None };
    let Some(NodeEnum::SelectStmt(query)) = &sublink.subselect.as_deref()?.node else {
        return None;
    };
    let [Node { node: Some(NodeEnum::RangeVar(range)) }] = &query.from_clause[..] else {
        return None;
    };
    let needed = Privileges::SELECT.union(Privileges::UPDATE);
    let (of, alias) = only_table(frame, tables, range, needed)?;
    let inner = alias.unwrap_or(&of.name);
    let [LockingClause { strength, wait, of: names }] = &locking::clauses(query)[..] else {
        return None;
    };
    let selected = keyed::outputs_of(&of, alias, &query.target_list)?;
    let is_key = of.id == table.id
        && matches!(&selected[..], [(at, name)] if *at == key && *name == table.columns[key].name)
        && keyed::is_column(table, called, column.node.as_ref()?, key)
        && names.iter().all(|name| name == inner);
    let Some(Operand::Constant(ScalarValue::Int64(Some(limit)))) =
        Operand::of(query.limit_count.as_deref()?.node.as_ref()?)
    else {
        return None;
    };
    let limit = usize::try_from(limit).ok().filter(|limit| is_key && (!is_value || *limit == 1))?;
    let mut plain = SelectStmt::clone(query);
    plain.locking_clause.clear();
    plain.limit_count = None;
    if !is_plain(&plain) || plain.limit_offset.is_some() {
        return None;
    }
    let all = NodeEnum::ColumnRef(ColumnRef {
        fields: vec![Node { node: Some(NodeEnum::AStar(AStar {})) }],
        location: -1,
    });
    let all = ResTarget { val: Some(Box::new(Node { node: Some(all) })), ..ResTarget::default() };
    plain.target_list = vec![Node { node: Some(NodeEnum::ResTarget(Box::new(all))) }];
    let read = Read::recognise((&of, indexes_of(tables, &of)), alias, &plain)?;
    let (mode, policy) = (mode_of(*strength), policy_of(*wait));
    Some(Locked { read, limit, mode, policy })
}

fn is_equation(test: &AExpr) -> bool {
    let is_equal =
        |node: &Node| matches!(&node.node, Some(NodeEnum::String(name)) if name.sval == "=");
    test.kind() == AExprKind::AexprOp && test.name.len() == 1 && test.name.iter().all(is_equal)
}
