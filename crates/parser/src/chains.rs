//! Long chains of operators: `a OR b OR c ...`, `a + b - c ...`, `SELECT ... UNION ALL SELECT ...`.
//!
//! The SQL parser makes a tree of a chain whose depth is the chain's length. [`balance`] gives a chain of more than
//! [`SHORT`] operands a tree of logarithmic depth. Its text is the same, so what is stored as text keeps its meaning.
//! Its operators still apply from left to right: the planner takes a chain apart again ([`Chain::of`]).
//!
//! A right operand that is an operator of the same precedence, without parentheses, is only in balanced trees.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, SetExpr, SetOperator, SetQuantifier, Value, Values,
};

/// Chains of up to this many operands are left as they are.
pub const SHORT: usize = 64;

/// The operands of a chain and the operators between them, from left to right.
#[derive(Debug)]
pub struct Chain {
    /// The first operand.
    pub first: Expr,
    /// The operators, each with the operand to its right.
    pub rest: Vec<(BinaryOperator, Expr)>,
}

impl Chain {
    /// Takes a long chain apart. Other expressions are not changed.
    pub fn of(expr: &mut Expr) -> Option<Self> {
        let level = Level::of(expr)?;
        let mut open = vec![&*expr];
        let mut operands = 0;
        while let Some(part) = open.pop() {
            match part {
                Expr::BinaryOp { left, op, right } if Level::of_operator(op) == Some(level) => {
                    open.extend([&**right, &**left]);
                }
                _ => operands += 1,
            }
            if operands + open.len() > SHORT {
                return Some(Self::apart(take(expr), level));
            }
        }
        None
    }

    fn apart(expr: Expr, level: Level) -> Self {
        let (mut first, mut rest) = (None, Vec::new());
        let mut open = vec![(None, expr)];
        while let Some((before, part)) = open.pop() {
            match (part, before) {
                (Expr::BinaryOp { left, op, right }, before)
                    if Level::of_operator(&op) == Some(level) =>
                {
                    open.extend([(Some(op), *right), (before, *left)]);
                }
                (operand, Some(before)) => rest.push((before, operand)),
                (operand, None) => first = Some(operand),
            }
        }
        Self { first: first.unwrap_or_else(null), rest }
    }
}

/// Operators of one precedence, which apply from left to right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Or,
    And,
    Sum,
    Product,
    Concatenation,
    BitwiseOr,
    BitwiseAnd,
    BitwiseXor,
}

impl Level {
    fn of(expr: &Expr) -> Option<Self> {
        match expr {
            Expr::BinaryOp { op, .. } => Self::of_operator(op),
            _ => None,
        }
    }

    fn of_operator(op: &BinaryOperator) -> Option<Self> {
        Some(match op {
            BinaryOperator::Or => Self::Or,
            BinaryOperator::And => Self::And,
            BinaryOperator::Plus | BinaryOperator::Minus => Self::Sum,
            BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::Modulo => {
                Self::Product
            }
            BinaryOperator::StringConcat => Self::Concatenation,
            BinaryOperator::BitwiseOr => Self::BitwiseOr,
            BinaryOperator::BitwiseAnd => Self::BitwiseAnd,
            BinaryOperator::PGBitwiseXor => Self::BitwiseXor,
            _ => return None,
        })
    }
}

/// Balances the tree of a chain, if it is deep.
pub(crate) fn balance(expr: &mut Expr) {
    let Some(level) = Level::of(expr) else { return };
    let (mut depth, mut part) = (0, &*expr);
    while let Expr::BinaryOp { left, op, .. } = part
        && Level::of_operator(op) == Some(level)
    {
        (depth, part) = (depth + 1, &**left);
    }
    if depth > SHORT {
        let Chain { first, rest } = Chain::apart(take(expr), level);
        *expr = balanced(first, rest, &|left, op, right| Expr::BinaryOp {
            left: Box::new(left),
            op,
            right: Box::new(right),
        });
    }
}

type SetOperation = (SetOperator, SetQuantifier);

/// Like [`balance`], for UNION, UNION ALL and INTERSECT, whose order does not matter, and for all set operations within.
pub(crate) fn balance_sets(body: &mut SetExpr) {
    let mut open = vec![body];
    while let Some(body) = open.pop() {
        balance_operation(body);
        if let SetExpr::SetOperation { left, right, .. } = body {
            open.extend([&mut **left, &mut **right]);
        }
    }
}

fn balance_operation(body: &mut SetExpr) {
    let Some(chained) = associative(body) else { return };
    let (mut depth, mut part) = (0, &*body);
    while associative(part) == Some(chained)
        && let SetExpr::SetOperation { left, .. } = part
    {
        (depth, part) = (depth + 1, &**left);
    }
    if depth > SHORT {
        let (first, rest) = operands(take_set(body), chained);
        *body = balanced(first, rest, &|left, (op, set_quantifier), right| {
            let (left, right) = (Box::new(left), Box::new(right));
            SetExpr::SetOperation { op, set_quantifier, left, right }
        });
    }
}

/// The set operation of a query, if its order does not matter.
fn associative(body: &SetExpr) -> Option<SetOperation> {
    match body {
        SetExpr::SetOperation { op, set_quantifier, .. } if *op != SetOperator::Except => {
            Some((*op, *set_quantifier))
        }
        _ => None,
    }
}

/// Takes a chain of one set operation apart.
fn operands(body: SetExpr, chained: SetOperation) -> (SetExpr, Vec<(SetOperation, SetExpr)>) {
    let mut rest = Vec::new();
    let mut part = body;
    loop {
        match part {
            SetExpr::SetOperation { op, set_quantifier, left, right }
                if (op, set_quantifier) == chained =>
            {
                rest.push((chained, *right));
                part = *left;
            }
            first => {
                rest.reverse();
                return (first, rest);
            }
        }
    }
}

/// Joins neighbours until one is left.
fn balanced<T, O>(mut first: T, mut rest: Vec<(O, T)>, join: &impl Fn(T, O, T) -> T) -> T {
    while !rest.is_empty() {
        let mut operands = rest.into_iter();
        if let Some((op, right)) = operands.next() {
            first = join(first, op, right);
        }
        rest = Vec::new();
        while let Some((before, left)) = operands.next() {
            let pair = match operands.next() {
                Some((op, right)) => join(left, op, right),
                None => left,
            };
            rest.push((before, pair));
        }
    }
    first
}

fn null() -> Expr {
    Expr::value(Value::Null)
}

fn take(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, null())
}

fn take_set(body: &mut SetExpr) -> SetExpr {
    let empty =
        SetExpr::Values(Values { explicit_row: false, value_keyword: false, rows: Vec::new() });
    std::mem::replace(body, empty)
}
