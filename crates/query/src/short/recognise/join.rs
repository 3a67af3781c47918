//! Joins of two tables by the key or an index of one.

use super::{indexes_of, only_table};
use crate::context::Frame;
use crate::short::returning::fields_of;
use crate::short::{Action, Short};
use grammar::tree::{JoinType, Node, NodeEnum, RangeVar, SelectStmt};
use keyed::{Join, Side};
use scan::tables::Tables;
use std::sync::Arc;
use store::catalog::{Privileges, SqlType};
use values::field::Field;

pub(super) fn join(frame: &Frame<'_>, tables: &dyn Tables, query: &SelectStmt) -> Option<Short> {
    if frame.session.shared.store.peers().is_some() {
        return None;
    }
    let ([first, second], is_left, on) = joined(&query.from_clause)?;
    let (one, one_alias) = only_table(frame, tables, first, Privileges::SELECT)?;
    let (other, other_alias) = only_table(frame, tables, second, Privileges::SELECT)?;
    let called = [one_alias.unwrap_or(&one.name), other_alias.unwrap_or(&other.name)];
    let sides = [
        Side { table: &one, indexes: indexes_of(tables, &one), called: called[0] },
        Side { table: &other, indexes: indexes_of(tables, &other), called: called[1] },
    ];
    let join = Join::recognise(sides, (is_left, on), query)?;
    let of_output = |(table, column, name)| fields_of(table, &[column], std::slice::from_ref(name));
    let mut fields: Vec<Field> = join.outputs().flat_map(of_output).collect();
    fields.extend(join.count().map(|name| Field::new(name.clone(), SqlType::BigInt)));
    let table = Arc::clone(join.tables()[0]);
    Some(Short::unwatched(table, Action::Join { join: Box::new(join), fields: fields.into() }))
}

/// The two tables of a FROM clause that is an inner or a left join, whether it is a left one, and its condition.
fn joined(from: &[Node]) -> Option<([&RangeVar; 2], bool, Option<&NodeEnum>)> {
    let range = |node: &'_ Node| match &node.node {
        Some(NodeEnum::RangeVar(range)) => Some(range),
        _ => None,
    };
    match from {
        [Node { node: Some(NodeEnum::JoinExpr(join)) }] => {
            let is_left = join.jointype() == JoinType::JoinLeft;
            let is_plain = (is_left || join.jointype() == JoinType::JoinInner)
                && !join.is_natural
                && join.using_clause.is_empty()
                && join.alias.is_none();
            let on = join.quals.as_deref().filter(|_| is_plain)?.node.as_ref()?;
            let (left, right) = (join.larg.as_deref()?, join.rarg.as_deref()?);
            Some(([range(left)?, range(right)?], is_left, Some(on)))
        }
        [left, right] => Some(([range(left)?, range(right)?], false, None)),
        _ => None,
    }
}
