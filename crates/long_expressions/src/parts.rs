//! What long expressions consist of.

use crate::logic::Logic;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::async_udf::AsyncScalarUDF;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, Volatility};
use std::collections::{HashMap, HashSet};

/// Whether an expression is computed from columns and constants alone, and gives the same value for the same ones.
pub fn is_plain(expr: &Expr) -> bool {
    consists(expr, |part| match part {
        Expr::Column(_) => true,
        Expr::ScalarFunction(call) => call.func.signature().volatility == Volatility::Immutable,
        _ => false,
    })
}

/// Whether a computation with volatile functions can be one call.
pub fn is_callable(expr: &Expr) -> bool {
    consists(expr, |part| match part {
        part if is_argument(part) => true,
        Expr::ScalarFunction(call) => {
            let waits = call.func.inner().downcast_ref::<AsyncScalarUDF>().is_some();
            !waits && call.func.signature().volatility != Volatility::Stable
        }
        _ => false,
    })
}

/// Whether a part of a computation is an argument of its call: it belongs to the plan or to the moment.
pub fn is_argument(part: &Expr) -> bool {
    match part {
        Expr::Column(_) | Expr::OuterReferenceColumn(..) | Expr::ScalarSubquery(_) => true,
        Expr::Placeholder(placeholder) => placeholder.field.is_some(),
        Expr::ScalarFunction(call) => {
            // The names of users' functions have parentheses. Those may fail where they are not needed.
            call.func.signature().volatility == Volatility::Stable
                && call.args.is_empty()
                && !call.name().contains('(')
        }
        _ => false,
    }
}

/// Whether an expression consists of constants, operators, and parts that `fits` allows.
fn consists(expr: &Expr, fits: impl Fn(&Expr) -> bool) -> bool {
    let is_other = |part: &Expr| match part {
        Expr::Literal(..)
        | Expr::Alias(_)
        | Expr::BinaryExpr(_)
        | Expr::Like(_)
        | Expr::SimilarTo(_)
        | Expr::Not(_)
        | Expr::IsNotNull(_)
        | Expr::IsNull(_)
        | Expr::IsTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotTrue(_)
        | Expr::IsNotFalse(_)
        | Expr::IsNotUnknown(_)
        | Expr::Negative(_)
        | Expr::Between(_)
        | Expr::Case(_)
        | Expr::Cast(_)
        | Expr::TryCast(_)
        | Expr::InList(_) => false,
        part => !fits(part),
    };
    !expr.exists(|part| Ok(is_other(part))).unwrap_or(true)
}

/// Whether a condition may be one of a join.
pub fn is_of_join(condition: &Expr) -> bool {
    let columns = condition.column_refs();
    let relations: HashSet<_> = columns.iter().map(|column| &column.relation).collect();
    relations.len() > 1
}

/// Conditions of which several comparisons of one column with constants became a list, at the place of the first.
pub fn listed(conditions: Vec<Expr>, logic: Logic) -> Vec<Expr> {
    let mut places: HashMap<(Column, DataType), usize> = HashMap::new();
    let mut kept: Vec<Expr> = Vec::new();
    for condition in conditions {
        let Some((column, constant)) = comparison(&condition, logic) else {
            kept.push(condition);
            continue;
        };
        let key = (column.clone(), constant.data_type());
        let place = *places.entry(key).or_insert(kept.len());
        let constant = Expr::Literal(constant.clone(), None);
        match kept.get_mut(place) {
            Some(Expr::InList(found)) => found.list.push(constant),
            _ => {
                let (expr, list) = (Box::new(Expr::Column(column.clone())), vec![constant]);
                kept.push(Expr::InList(InList { expr, list, negated: logic == Logic::And }));
            }
        }
    }
    kept
}

/// The column and the constant of a comparison that a list can express: of types whose equal values have the same bits.
fn comparison(condition: &Expr, logic: Logic) -> Option<(&Column, &ScalarValue)> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = condition else { return None };
    let (column, constant) = match (&**left, &**right) {
        (Expr::Column(column), Expr::Literal(constant, None))
        | (Expr::Literal(constant, None), Expr::Column(column)) => (column, constant),
        _ => return None,
    };
    let data_type = constant.data_type();
    let is_listed =
        data_type.is_integer() || data_type.is_string() || data_type == DataType::Date32;
    (*op == logic.listed() && is_listed && !constant.is_null()).then_some((column, constant))
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::logical_expr::{col, lit};

    #[test]
    fn comparisons_of_a_column_become_a_list_where_the_first_was() {
        let [first, other, second] = [("a", 1_i64), ("b", 1), ("a", 2)];
        let equal = |(name, value): (&str, i64)| col(name).eq(lit(value));
        let conditions = vec![equal(first), equal(other), equal(second)];
        assert_eq!(listed(conditions.clone(), Logic::And), conditions);
        let list = |name: &str, values: &[i64]| {
            col(name).in_list(values.iter().map(|value| lit(*value)).collect(), false)
        };
        assert_eq!(listed(conditions, Logic::Or), [list("a", &[1, 2]), list("b", &[1])]);
    }

    #[test]
    fn conditions_over_two_relations_are_of_a_join() {
        assert!(is_of_join(&col("t.a").eq(col("u.a"))));
        assert!(!is_of_join(&col("t.a").eq(col("t.b"))));
    }
}
