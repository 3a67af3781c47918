//! Whether conditions imply another one, as far as the use of partial indexes needs it (PostgreSQL's `predicate_implied_by`).
//!
//! A row for which the conditions are true is one for which the other is true. What is not recognised is not implied.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator};
use std::cmp::Ordering;

/// Whether a predicate is true wherever all of `conditions` are. Columns have no qualifiers.
pub fn implies(conditions: &[&Expr], predicate: &Expr) -> bool {
    if conditions.contains(&predicate) {
        return true;
    }
    if let Expr::BinaryExpr(both) = predicate {
        match both.op {
            Operator::And => {
                return implies(conditions, &both.left) && implies(conditions, &both.right);
            }
            Operator::Or if implies(conditions, &both.left) || implies(conditions, &both.right) => {
                return true;
            }
            _ => {}
        }
    }
    conditions.iter().any(|condition| alone_implies(condition, predicate))
}

/// Whether one condition implies a predicate.
fn alone_implies(condition: &Expr, predicate: &Expr) -> bool {
    if condition == predicate {
        return true;
    }
    match condition {
        Expr::BinaryExpr(either) if either.op == Operator::Or => {
            implies(&[&either.left], predicate) && implies(&[&either.right], predicate)
        }
        Expr::BinaryExpr(both) if both.op == Operator::And => {
            implies(&[&both.left, &both.right], predicate)
        }
        _ => match predicate {
            Expr::IsNotNull(value) => is_strict(condition, value),
            Expr::IsTrue(value) => condition == &**value,
            Expr::IsNotFalse(value) => condition == &**value,
            Expr::IsNotTrue(value) | Expr::IsFalse(value) => is_not(condition, value),
            Expr::Not(value) => {
                matches!(condition, Expr::IsFalse(of) if of == value) || excludes(condition, value)
            }
            Expr::InList(list) if !list.negated => values_of(condition, &list.expr)
                .is_some_and(|values| values.iter().all(|value| list.list.contains(value))),
            Expr::BinaryExpr(_) => bounds_imply(condition, predicate),
            _ => matches!(condition, Expr::IsTrue(of) if **of == *predicate),
        },
    }
}

/// Whether a condition is `NOT value`, or says that it is false.
fn is_not(condition: &Expr, value: &Expr) -> bool {
    match condition {
        Expr::Not(of) | Expr::IsFalse(of) => **of == *value,
        _ => false,
    }
}

/// Whether a condition says that another one is false: it compares the same with another value.
fn excludes(condition: &Expr, other: &Expr) -> bool {
    match other {
        Expr::BinaryExpr(compared) => match compared.op.negate() {
            Some(op) => {
                let mut negated = compared.clone();
                negated.op = op;
                alone_implies(condition, &Expr::BinaryExpr(negated))
            }
            None => false,
        },
        _ => false,
    }
}

/// Whether a condition is not true where a value is NULL.
fn is_strict(condition: &Expr, value: &Expr) -> bool {
    let is_value = |expr: &Expr| *expr == *value || is_null_with(expr, value);
    match condition {
        Expr::BinaryExpr(compared) if is_comparison(compared.op) => {
            is_value(&compared.left) || is_value(&compared.right)
        }
        Expr::Like(like) | Expr::SimilarTo(like) => is_value(&like.expr),
        Expr::InList(list) => is_value(&list.expr),
        Expr::Between(between) => is_value(&between.expr),
        Expr::Not(of) => is_value(of) || is_strict(of, value),
        Expr::IsTrue(of) | Expr::IsFalse(of) => is_value(of),
        other => is_value(other),
    }
}

/// Whether an expression is NULL where a part of it is.
fn is_null_with(expr: &Expr, part: &Expr) -> bool {
    match expr {
        Expr::Cast(cast) => *cast.expr == *part || is_null_with(&cast.expr, part),
        Expr::Negative(of) => **of == *part || is_null_with(of, part),
        Expr::BinaryExpr(binary) if is_arithmetic(binary.op) => [&binary.left, &binary.right]
            .iter()
            .any(|side| ***side == *part || is_null_with(side, part)),
        _ => false,
    }
}

fn is_arithmetic(operator: Operator) -> bool {
    use Operator::{Divide, Minus, Modulo, Multiply, Plus};
    matches!(operator, Plus | Minus | Multiply | Divide | Modulo)
}

fn is_comparison(operator: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    matches!(operator, Eq | NotEq | Lt | LtEq | Gt | GtEq)
}

/// A comparison of an expression with a constant, which is on the right.
fn compared(expr: &Expr) -> Option<(&Expr, Operator, &ScalarValue)> {
    let Expr::BinaryExpr(binary) = expr else { return None };
    if !is_comparison(binary.op) {
        return None;
    }
    match (&*binary.left, &*binary.right) {
        (left, Expr::Literal(value, _)) => Some((left, binary.op, value)),
        (Expr::Literal(value, _), right) => Some((right, binary.op.swap()?, value)),
        _ => None,
    }
}

/// The constants of which a condition says that an expression is one.
fn values_of(condition: &Expr, of: &Expr) -> Option<Vec<Expr>> {
    match condition {
        Expr::InList(list) if !list.negated && *list.expr == *of => Some(list.list.clone()),
        _ => match compared(condition)? {
            (left, Operator::Eq, value) if left == of => {
                Some(vec![Expr::Literal(value.clone(), None)])
            }
            _ => None,
        },
    }
}

/// Whether what a condition says about an expression implies a comparison of it.
fn bounds_imply(condition: &Expr, predicate: &Expr) -> bool {
    let Some((of, wanted, limit)) = compared(predicate) else { return false };
    if let Some(values) = values_of(condition, of) {
        let fulfils = |value: &Expr| match value {
            Expr::Literal(value, _) => {
                value.is_null() || order(value, limit).is_some_and(|order| holds(order, wanted))
            }
            _ => false,
        };
        return !values.is_empty() && values.iter().all(fulfils);
    }
    let Some((same, given, bound)) = compared(condition) else { return false };
    if same != of {
        return false;
    }
    let Some(order) = order(bound, limit) else { return false };
    use Operator::{Gt, GtEq, Lt, LtEq, NotEq};
    match (given, wanted) {
        (Lt, Lt | LtEq | NotEq) | (LtEq, LtEq) => order != Ordering::Greater,
        (LtEq, Lt | NotEq) => order == Ordering::Less,
        (Gt, Gt | GtEq | NotEq) | (GtEq, GtEq) => order != Ordering::Less,
        (GtEq, Gt | NotEq) => order == Ordering::Greater,
        (NotEq, NotEq) => order == Ordering::Equal,
        _ => false,
    }
}

/// Whether a comparison is true of values in this order.
fn holds(order: Ordering, operator: Operator) -> bool {
    match operator {
        Operator::Eq => order == Ordering::Equal,
        Operator::NotEq => order != Ordering::Equal,
        Operator::Lt => order == Ordering::Less,
        Operator::LtEq => order != Ordering::Greater,
        Operator::Gt => order == Ordering::Greater,
        Operator::GtEq => order != Ordering::Less,
        _ => false,
    }
}

/// The order of two constants; `None` if they are NULL, of different types, or of one whose order is another in SQL.
fn order(left: &ScalarValue, right: &ScalarValue) -> Option<Ordering> {
    let (left_type, right_type) = (left.data_type(), right.data_type());
    if left.is_null() || right.is_null() {
        return None;
    }
    if left_type.is_string() && right_type.is_string() {
        let (left, right) = (left.try_as_str()??, right.try_as_str()??);
        // Blanks at the end of a char(n) do not count.
        return (!left.ends_with(' ') && !right.ends_with(' ')).then(|| left.cmp(right));
    }
    let is_moment = left_type.is_temporal() && !matches!(left_type, DataType::Interval(_));
    let is_number = left_type.is_signed_integer() || left_type.is_decimal();
    let is_known = is_moment || is_number || left_type == DataType::Boolean;
    match is_known && left_type == right_type {
        true => left.partial_cmp(right),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::{col, lit};

    fn is_implied(condition: Expr, predicate: Expr) -> bool {
        implies(&[&condition], &predicate)
    }

    #[test]
    fn conditions_imply_themselves_and_their_parts() {
        let (a, b) = (col("a").eq(lit(1)), col("b").gt(lit(2)));
        assert!(is_implied(a.clone(), a.clone()));
        assert!(implies(&[&a, &b], &a.clone().and(b.clone())));
        assert!(!is_implied(a.clone(), a.clone().and(b.clone())));
        assert!(is_implied(a.clone(), a.clone().or(b.clone())));
        assert!(is_implied(b.clone().and(a.clone()), a.clone()));
        assert!(!is_implied(a.clone().or(b.clone()), a.clone()));
        assert!(is_implied(a.clone().or(b.clone()), b.or(a)));
    }

    #[test]
    fn bounds_imply_wider_ones() {
        let with = |operator: fn(Expr, Expr) -> Expr, value: i64| operator(col("a"), lit(value));
        type Case = (fn(Expr, Expr) -> Expr, fn(i64, i64) -> bool);
        let all: [Case; 6] = [
            (Expr::eq, |a, b| a == b),
            (Expr::not_eq, |a, b| a != b),
            (Expr::lt, |a, b| a < b),
            (Expr::lt_eq, |a, b| a <= b),
            (Expr::gt, |a, b| a > b),
            (Expr::gt_eq, |a, b| a >= b),
        ];
        for (given, is_given) in all {
            for (wanted, is_wanted) in all {
                for (bound, limit) in [(0, 0), (0, 1), (1, 0)] {
                    let found = is_implied(with(given, bound), with(wanted, limit));
                    // Integers between -9 and 9 are enough, but a gap of one is not used.
                    let holds = (-9..9).all(|a| !is_given(a, bound) || is_wanted(a, limit));
                    assert!(!found || holds, "{bound} {limit}");
                    let halves =
                        (-18..18).all(|a| !is_given(a, 2 * bound) || is_wanted(a, 2 * limit));
                    assert_eq!(found, halves, "{} {}", with(given, bound), with(wanted, limit));
                }
            }
        }
        assert!(!is_implied(col("b").eq(lit(1_i64)), with(Expr::gt, 0)));
        assert!(!is_implied(col("a").eq(lit(1_i32)), with(Expr::gt, 0)));
        let list = col("a").in_list(vec![lit(1_i64), lit(2_i64)], false);
        assert!(is_implied(list.clone(), with(Expr::gt, 0)));
        assert!(!is_implied(list.clone(), with(Expr::gt, 1)));
        let wider = col("a").in_list(vec![lit(2_i64), lit(1_i64), lit(3_i64)], false);
        assert!(is_implied(list.clone(), wider.clone()) && !is_implied(wider, list));
    }

    #[test]
    fn comparisons_imply_values() {
        let predicate = col("a").is_not_null();
        assert!(is_implied(col("a").lt(lit(1)), predicate.clone()));
        assert!(is_implied((col("a") + lit(1)).eq(lit(2)), predicate.clone()));
        assert!(is_implied(col("a").like(lit("x%")), predicate.clone()));
        assert!(!is_implied(col("b").eq(lit(1)), predicate.clone()));
        assert!(!is_implied(col("a").is_null(), predicate.clone()));
        assert!(!is_implied(col("a").eq(lit(1)).or(col("b").eq(lit(1))), predicate.clone()));
        assert!(!is_implied(col("a").equal_to_null(), predicate));
    }

    trait Distinct {
        fn equal_to_null(self) -> Expr;
    }

    impl Distinct for Expr {
        fn equal_to_null(self) -> Expr {
            let null = Expr::Literal(ScalarValue::Int32(None), None);
            datafusion::logical_expr::binary_expr(self, Operator::IsNotDistinctFrom, null)
        }
    }

    #[test]
    fn flags_imply_what_they_say() {
        assert!(is_implied(col("f"), col("f")));
        assert!(is_implied(col("f"), col("f").is_true()));
        assert!(is_implied(col("f").is_true(), col("f")));
        assert!(is_implied(Expr::Not(Box::new(col("f"))), col("f").is_not_true()));
        assert!(!is_implied(col("f").is_not_true(), Expr::Not(Box::new(col("f")))));
        assert!(!is_implied(col("f"), Expr::Not(Box::new(col("f")))));
    }
}
