//! Conditions as conjuncts, each about one column.

use crate::names::Named;
use crate::operand::Operand;
use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr};

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
    fn of(operator: &BinaryOperator) -> Option<Self> {
        Some(match operator {
            BinaryOperator::Eq => Self::Equal,
            BinaryOperator::Lt => Self::Less,
            BinaryOperator::LtEq => Self::LessOrEqual,
            BinaryOperator::Gt => Self::Greater,
            BinaryOperator::GtEq => Self::GreaterOrEqual,
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
pub(crate) fn collect(named: Named<'_>, condition: &Expr, out: &mut Vec<Conjunct>) -> Option<()> {
    match condition {
        Expr::Nested(inner) => collect(named, inner, out)?,
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            collect(named, left, out)?;
            collect(named, right, out)?;
        }
        Expr::BinaryOp { left, op, right } => {
            let comparison = Comparison::of(op)?;
            let (column, comparison, value) = match (named.column(left), named.column(right)) {
                (Some(column), _) => (column, comparison, right),
                (None, Some(column)) => (column, comparison.swapped(), left),
                (None, None) => return None,
            };
            out.push((column, Test::Compared(comparison, Operand::compared(value)?)));
        }
        Expr::Between { expr, negated: false, low, high } => {
            let column = named.column(expr)?;
            for (comparison, bound) in
                [(Comparison::GreaterOrEqual, low), (Comparison::LessOrEqual, high)]
            {
                out.push((column, Test::Compared(comparison, Operand::compared(bound)?)));
            }
        }
        Expr::InList { expr, list, negated: false } => {
            let column = named.column(expr)?;
            let values = list.iter().map(Operand::compared).collect::<Option<_>>()?;
            out.push((column, Test::OneOf(values)));
        }
        Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } => {
            let column = named.column(left)?;
            let array = Operand::compared(right).filter(|array| array.number().is_some())?;
            out.push((column, Test::AnyOf(array)));
        }
        _ => return None,
    }
    Some(())
}
