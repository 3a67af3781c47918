//! Conditions as conjuncts, each about one column.

use crate::names::{Named, bare};
use crate::operand::Operand;
use grammar::tree::{AExpr, AExprKind, BoolExprType, Node, NodeEnum};

/// A comparison of a column with a value: the column is on the left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    fn of(operator: &str) -> Option<Self> {
        Some(match operator {
            "=" => Self::Equal,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            _ => return None,
        })
    }

    /// The same comparison with its sides exchanged.
    fn swapped(self) -> Self {
        match self {
            Self::Equal => Self::Equal,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
        }
    }
}

/// What a conjunct says about its column.
#[derive(Debug, Clone)]
pub(crate) enum Test {
    Compared(Comparison, Operand),
    /// `IN (...)`
    OneOf(Vec<Operand>),
    /// `= ANY (array)`
    AnyOf(Operand),
}

/// A column of the table, and what a conjunct says about it.
pub(crate) type Conjunct = (usize, Test);

/// Adds the conjuncts of a condition; `None` if one of them is of another kind.
pub(crate) fn collect(
    named: Named<'_>,
    condition: &NodeEnum,
    out: &mut Vec<Conjunct>,
) -> Option<()> {
    match condition {
        NodeEnum::BoolExpr(all) if all.boolop() == BoolExprType::AndExpr => all
            .args
            .iter()
            .try_for_each(|part| grammar::growing(|| collect(named, part.node.as_ref()?, out))),
        NodeEnum::AExpr(test) => test_of(named, test, out),
        _ => None,
    }
}

fn test_of(named: Named<'_>, test: &AExpr, out: &mut Vec<Conjunct>) -> Option<()> {
    let left = test.lexpr.as_deref()?.node.as_ref()?;
    let right = test.rexpr.as_deref()?.node.as_ref()?;
    let (operator, list) = (bare(&test.name)?, list_of(right));
    match test.kind() {
        AExprKind::AexprOp => {
            let comparison = Comparison::of(operator)?;
            let (column, comparison, value) = match (named.column(left), named.column(right)) {
                (Some(column), _) => (column, comparison, right),
                (None, Some(column)) => (column, comparison.swapped(), left),
                (None, None) => return None,
            };
            out.push((column, Test::Compared(comparison, Operand::compared(value)?)));
        }
        AExprKind::AexprBetween => {
            let column = named.column(left)?;
            let [low, high] = list? else { return None };
            for (comparison, bound) in
                [(Comparison::GreaterOrEqual, low), (Comparison::LessOrEqual, high)]
            {
                let bound = Operand::compared(bound.node.as_ref()?)?;
                out.push((column, Test::Compared(comparison, bound)));
            }
        }
        AExprKind::AexprIn if operator == "=" => {
            let column = named.column(left)?;
            let values = list?.iter().map(|value| Operand::compared(value.node.as_ref()?));
            out.push((column, Test::OneOf(values.collect::<Option<_>>()?)));
        }
        AExprKind::AexprOpAny if operator == "=" => {
            let column = named.column(left)?;
            let array = Operand::compared(right).filter(|array| array.number().is_some())?;
            out.push((column, Test::AnyOf(array)));
        }
        _ => return None,
    }
    Some(())
}

fn list_of(node: &NodeEnum) -> Option<&[Node]> {
    match node {
        NodeEnum::List(list) => Some(&list.items),
        _ => None,
    }
}
