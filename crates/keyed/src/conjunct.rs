//! Conditions as conjuncts: each is about one column, or about none.

use crate::names::{Named, bare};
use crate::operand::Operand;
use datafusion::common::ScalarValue;
use grammar::tree::{AExpr, AExprKind, BoolExprType, BoolTestType, Node, NodeEnum, NullTestType};
use store::catalog::SqlType;

/// A comparison of a column with a value: the column is on the left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    fn of(operator: &str) -> Option<Self> {
        Some(match operator {
            "=" => Self::Equal,
            "<>" => Self::NotEqual,
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
            Self::NotEqual => Self::NotEqual,
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
    /// `IS NULL`
    Null,
    /// `IS NOT NULL`
    NotNull,
    /// `IN (...)`
    OneOf(Vec<Operand>),
    /// `= ANY (array)`
    AnyOf(Operand),
    /// A function of the column is equal to a value.
    Called(Function, Operand),
}

/// A function of a text that indexes often have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Lower,
    Upper,
}

impl Function {
    /// The function of a call with one column, and the column; `None` for other expressions.
    pub(crate) fn of(named: Named<'_>, expression: &NodeEnum) -> Option<(Self, usize)> {
        let NodeEnum::FuncCall(call) = expression else { return None };
        let function = match bare(&call.funcname)? {
            "lower" => Self::Lower,
            "upper" => Self::Upper,
            _ => return None,
        };
        let [argument] = &call.args[..] else { return None };
        let column = named.column(argument.node.as_ref()?)?;
        let is_text =
            matches!(named.table.columns[column].sql_type, SqlType::Text | SqlType::Varchar(_));
        let has_clauses = call.over.is_some()
            || call.agg_filter.is_some()
            || call.agg_distinct
            || call.func_variadic
            || !call.agg_order.is_empty();
        (is_text && !has_clauses).then_some((function, column))
    }
}

/// A column of the table, and what a conjunct says about it.
pub(crate) type Conjunct = (usize, Test);

/// The conjuncts of a condition.
#[derive(Default)]
pub(crate) struct Conjuncts {
    /// Those of columns.
    pub(crate) tests: Vec<Conjunct>,
    /// Values that must be true.
    pub(crate) gates: Vec<Operand>,
}

/// Adds the conjuncts of a condition; `None` if one of them is of another kind.
pub(crate) fn collect(named: Named<'_>, condition: &NodeEnum, out: &mut Conjuncts) -> Option<()> {
    match condition {
        NodeEnum::BoolExpr(all) if all.boolop() == BoolExprType::AndExpr => {
            return all.args.iter().try_for_each(|part| {
                grammar::growing(|| collect(named, part.node.as_ref()?, out))
            });
        }
        NodeEnum::AExpr(test) => return test_of(named, test, &mut out.tests),
        NodeEnum::ParamRef(_) | NodeEnum::AConst(_) => out.gates.push(Operand::of(condition)?),
        NodeEnum::NullTest(test) => {
            let column = named.column(test.arg.as_deref()?.node.as_ref()?)?;
            out.tests.push(match test.nulltesttype() {
                NullTestType::IsNull => (column, Test::Null),
                NullTestType::IsNotNull => (column, Test::NotNull),
                NullTestType::Undefined => return None,
            });
        }
        condition => out.tests.push(truth(named, condition)?),
    }
    Some(())
}

/// The conjunct that a column of truth values is true or false: `c`, `NOT c`, `c IS TRUE`, `c IS FALSE`.
fn truth(named: Named<'_>, condition: &NodeEnum) -> Option<Conjunct> {
    let (column, is) = match condition {
        NodeEnum::ColumnRef(_) => (condition, true),
        NodeEnum::BoolExpr(not) if not.boolop() == BoolExprType::NotExpr => {
            (not.args.first()?.node.as_ref()?, false)
        }
        NodeEnum::BooleanTest(test) => {
            let is = match test.booltesttype() {
                BoolTestType::IsTrue => true,
                BoolTestType::IsFalse => false,
                _ => return None,
            };
            (test.arg.as_deref()?.node.as_ref()?, is)
        }
        _ => return None,
    };
    let column = named.column(column)?;
    let is_truth = named.table.columns[column].sql_type == SqlType::Boolean;
    let value = Operand::Constant(ScalarValue::Boolean(Some(is)));
    is_truth.then_some((column, Test::Compared(Comparison::Equal, value)))
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
                (None, None) => {
                    out.push(called(named, comparison, (left, right))?);
                    return Some(());
                }
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

/// A comparison of a function of a column with a value.
fn called(
    named: Named<'_>,
    comparison: Comparison,
    (left, right): (&NodeEnum, &NodeEnum),
) -> Option<Conjunct> {
    let (called, value) = match (Function::of(named, left), Function::of(named, right)) {
        (Some(called), None) => (called, right),
        (None, Some(called)) => (called, left),
        _ => return None,
    };
    let is_equation = matches!(comparison, Comparison::Equal);
    let operand = Operand::compared(value).filter(|_| is_equation)?;
    let (function, column) = called;
    Some((column, Test::Called(function, operand)))
}

fn list_of(node: &NodeEnum) -> Option<&[Node]> {
    match node {
        NodeEnum::List(list) => Some(&list.items),
        _ => None,
    }
}
