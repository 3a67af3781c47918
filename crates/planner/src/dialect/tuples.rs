//! Row comparisons, which become comparisons of columns: `(a, b) = (1, 2)`, `(a, b) < (1, 2)`,
//! `(a, b) IN ((1, 2), (3, 4))`.

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};

pub(super) fn rewrite(expr: &mut Expr) {
    let rewritten = match expr {
        Expr::BinaryOp { left, op, right } => compared(left, op, right),
        Expr::InList { expr: of, list, negated } => {
            let equal = list.iter().map(|row| compared(of, &BinaryOperator::Eq, row));
            let equal = equal.collect::<Option<Vec<_>>>();
            let any = equal.and_then(|equal| joined(equal, &BinaryOperator::Or));
            any.map(|any| {
                if *negated {
                    Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(any) }
                } else {
                    any
                }
            })
        }
        _ => None,
    };
    if let Some(rewritten) = rewritten {
        *expr = rewritten;
    }
}

fn columns(expr: &Expr) -> Option<&[Expr]> {
    match expr {
        Expr::Tuple(columns) => Some(columns),
        _ => None,
    }
}

/// The comparison of two rows; `None` unless both are rows of the same number of columns.
fn compared(left: &Expr, op: &BinaryOperator, right: &Expr) -> Option<Expr> {
    use BinaryOperator as B;
    let (left, right) = (columns(left)?, columns(right)?);
    if left.len() != right.len() {
        return None;
    }
    let pairs = || left.iter().zip(right);
    let each = |op: &B| pairs().map(|(left, right)| binary(left, op, right)).collect::<Vec<_>>();
    match op {
        B::Eq => joined(each(&B::Eq), &B::And),
        B::NotEq => joined(each(&B::NotEq), &B::Or),
        B::Lt | B::LtEq | B::Gt | B::GtEq => {
            let strict = match op {
                B::Lt | B::LtEq => B::Lt,
                _ => B::Gt,
            };
            // The first columns that differ decide.
            let mut pairs = pairs().rev();
            let (last_left, last_right) = pairs.next()?;
            Some(pairs.fold(binary(last_left, op, last_right), |rest, (left, right)| {
                let same = nested(both(binary(left, &B::Eq, right), &B::And, rest));
                nested(both(binary(left, &strict, right), &B::Or, same))
            }))
        }
        _ => None,
    }
}

fn joined(parts: Vec<Expr>, op: &BinaryOperator) -> Option<Expr> {
    parts.into_iter().reduce(|left, right| both(left, op, right)).map(nested)
}

fn both(left: Expr, op: &BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op: op.clone(), right: Box::new(right) }
}

fn nested(expr: Expr) -> Expr {
    Expr::Nested(Box::new(expr))
}

fn binary(left: &Expr, op: &BinaryOperator, right: &Expr) -> Expr {
    both(left.clone(), op, right.clone())
}
