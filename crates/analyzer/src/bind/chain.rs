//! Long chains of operators: `a + b - c ...`.

use super::Binder;
use super::names::{self, qualified};
use crate::error::{Error, Result};
use crate::tree::{Chain, Expr, Kind};
use grammar::tree::{AExpr, AExprKind, NodeEnum};

/// The number of operators from which on a chain is long. Shorter ones are trees like other expressions.
const LONG: usize = 64;

/// The operators of a long chain that ends with one, from the left.
pub(super) fn operators(last: &AExpr) -> Option<Vec<&AExpr>> {
    let mut all = Vec::new();
    let mut next = Some(last);
    while let Some(operator) = next {
        all.push(operator);
        next = before(operator);
    }
    all.reverse();
    (all.len() >= LONG).then_some(all)
}

/// The operator whose result is the left operand of another.
fn before(operator: &AExpr) -> Option<&AExpr> {
    let Some(NodeEnum::AExpr(left)) = operator.lexpr.as_deref().and_then(|left| left.node.as_ref())
    else {
        return None;
    };
    let is_plain = left.kind() == AExprKind::AexprOp && left.lexpr.is_some();
    (is_plain && qualified(&left.name).0.is_none()).then_some(left)
}

impl Binder<'_> {
    /// A long chain.
    pub(super) fn chain(&mut self, operators: &[&AExpr]) -> Result<Expr> {
        let [first, others @ ..] = operators else { return Err(Error::missing("this form")) };
        let left = self.required(first.lexpr.as_deref())?;
        let first = self.link(first, left)?;
        let (mut sql_type, location) = (first.sql_type, first.location);
        let mut steps = Vec::with_capacity(others.len());
        for operator in others {
            let running = Expr { kind: Kind::Running, sql_type, location };
            let step = self.link(operator, running)?;
            sql_type = step.sql_type;
            steps.push(step);
        }
        let kind = Kind::Chain(Box::new(Chain { first, steps }));
        Ok(Expr { kind, sql_type, location })
    }

    /// An operator of a chain over its left operand.
    fn link(&mut self, operator: &AExpr, left: Expr) -> Result<Expr> {
        let right = names::node(operator.rexpr.as_deref())?;
        let right = self.expression(right)?;
        if matches!(left.kind, Kind::Row(_)) || matches!(right.kind, Kind::Row(_)) {
            return Err(Error::missing("a row in a chain").at(operator.location));
        }
        let (_, name) = qualified(&operator.name);
        self.apply(name, Some(left), right, operator.location)
    }
}
