//! The two tables of a join, as its query calls them.

use crate::names::{Named, text};
use grammar::tree::{
    BoolExprType, ColumnRef, JoinType, Node, NodeEnum, NodeRef, ParamRef, RangeVar,
};
use std::sync::Arc;
use store::catalog::{Index, Table};

/// A table of a join.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// The table.
    pub table: &'a Arc<Table>,
    /// Its indexes.
    pub indexes: &'a [Arc<Index>],
    /// The name before the points of its columns' names.
    pub called: &'a str,
}

/// A part of a condition.
pub(crate) struct Part {
    pub(crate) condition: NodeEnum,
    /// Which tables it reads.
    pub(crate) reads: [bool; 2],
    /// Whether it is the join's.
    pub(crate) is_on: bool,
}

/// Both tables.
pub(crate) struct Sides<'a>(pub(crate) [Side<'a>; 2]);

impl Sides<'_> {
    pub(crate) fn named(&self, side: usize) -> Named<'_> {
        Named { table: self.0[side].table, called: self.0[side].called }
    }

    /// The table and the column that an expression names; `None` for other expressions, and if both tables have it.
    pub(crate) fn column(&self, expression: &NodeEnum) -> Option<(usize, usize)> {
        let [first, second] = [0, 1].map(|side| self.named(side).column(expression));
        match (first, second) {
            (Some(column), None) => Some((0, column)),
            (None, Some(column)) => Some((1, column)),
            _ => None,
        }
    }

    /// The columns of `*` or `t.*`, with their names; `None` for other expressions.
    pub(crate) fn all(&self, value: &NodeEnum) -> Option<Vec<(usize, usize, &String)>> {
        let NodeEnum::ColumnRef(ColumnRef { fields, .. }) = value else { return None };
        let is_star = |node: &Node| matches!(node.node, Some(NodeEnum::AStar(_)));
        let of = match &fields[..] {
            [star] if is_star(star) => vec![0, 1],
            [qualifier, star] if is_star(star) => {
                let called = text(qualifier)?;
                vec![self.0.iter().position(|side| side.called == called)?]
            }
            _ => return None,
        };
        let columns = of.into_iter().flat_map(|side| {
            let all = self.0[side].table.columns.iter().enumerate();
            let shown = all.filter(|(_, column)| !column.hidden);
            shown.map(move |(at, column)| (side, at, &column.name))
        });
        Some(columns.collect())
    }

    /// Adds the conjuncts of a condition, which is the join's or that of WHERE. `None` if one reads something else.
    pub(crate) fn collect(
        &self,
        condition: &NodeEnum,
        is_on: bool,
        out: &mut Vec<Part>,
    ) -> Option<()> {
        if let NodeEnum::BoolExpr(all) = condition
            && all.boolop() == BoolExprType::AndExpr
        {
            let mut parts = all.args.iter();
            return parts.try_for_each(|part| {
                grammar::growing(|| self.collect(part.node.as_ref()?, is_on, out))
            });
        }
        let mut reads = [false; 2];
        if let NodeEnum::ColumnRef(_) = condition {
            reads[self.column(condition)?.0] = true;
        }
        for (part, ..) in condition.nodes() {
            match part {
                NodeRef::ColumnRef(reference) => {
                    let (side, _) = self.column(&NodeEnum::ColumnRef(reference.clone()))?;
                    reads[side] = true;
                }
                NodeRef::SubLink(_) | NodeRef::SelectStmt(_) => return None,
                _ => {}
            }
        }
        out.push(Part { condition: condition.clone(), reads, is_on });
        Some(())
    }

    /// A comparison of both tables in which parameters behind `own` ones stand for columns of one: `passed`.
    pub(crate) fn with_parameters(
        &self,
        outer: usize,
        conjunct: &NodeEnum,
        own: usize,
        passed: &mut Vec<usize>,
    ) -> Option<NodeEnum> {
        let NodeEnum::AExpr(test) = conjunct else { return None };
        let mut test = test.clone();
        for side in test.lexpr.iter_mut().chain(&mut test.rexpr) {
            match &mut side.node {
                Some(NodeEnum::List(list)) => {
                    for item in &mut list.items {
                        self.pass(outer, item, own, passed)?;
                    }
                }
                _ => self.pass(outer, side, own, passed)?,
            }
        }
        Some(NodeEnum::AExpr(test))
    }

    fn pass(
        &self,
        outer: usize,
        node: &mut Node,
        own: usize,
        passed: &mut Vec<usize>,
    ) -> Option<()> {
        let Some((side, column)) = self.column(node.node.as_ref()?) else { return Some(()) };
        if side != outer {
            return Some(());
        }
        let known = passed.iter().position(|of| *of == column);
        let at = known.unwrap_or_else(|| {
            passed.push(column);
            passed.len() - 1
        });
        let number = i32::try_from(own + at + 1).ok()?;
        *node = Node { node: Some(NodeEnum::ParamRef(ParamRef { number, location: -1 })) };
        Some(())
    }
}

/// What a FROM clause of two tables says: the tables, whether it is a left join or an inner one, and its condition.
pub type Joined<'a> = ([&'a RangeVar; 2], bool, Option<&'a NodeEnum>);

/// The tables of a FROM clause that joins two; `None` for others.
pub fn joined(from: &[Node]) -> Option<Joined<'_>> {
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

fn range(node: &Node) -> Option<&RangeVar> {
    match &node.node {
        Some(NodeEnum::RangeVar(range)) => Some(range),
        _ => None,
    }
}
