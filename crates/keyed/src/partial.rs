//! Partial indexes: whether the rows of a condition are all in one, as the constants of both show.

use crate::conjunct::{Comparison, Conjuncts, Test, collect};
use crate::filter::{Filter, Is};
use crate::names::{Named, expression_of};
use crate::operand::{Converted, Operand, converted};
use datafusion::common::ScalarValue;
use std::cmp::Ordering;
use std::sync::Arc;
use store::catalog::{Index, Table, TableId};

/// The partial indexes whose predicates follow from filters.
pub(crate) fn implied(table: &Table, indexes: &[Arc<Index>], filters: &[Filter]) -> Vec<TableId> {
    let is_implied = |index: &&Arc<Index>| {
        let text = index.predicate.as_ref().map(|predicate| predicate.text.as_str());
        text.is_some_and(|text| follows(table, text, filters).is_some())
    };
    indexes.iter().filter(is_implied).map(|index| index.file.id).collect()
}

/// `Some` if a predicate follows from filters.
fn follows(table: &Table, predicate: &str, filters: &[Filter]) -> Option<()> {
    let value = expression_of(predicate)?;
    let mut conjuncts = Conjuncts::default();
    collect(Named::itself(table), &value, &mut conjuncts)?;
    let Conjuncts { tests, gates } = conjuncts;
    let is_shown = |(column, test): &(usize, Test)| {
        let mut of_column = filters.iter().filter(|filter| filter.column == *column);
        of_column.any(|filter| shows(table, filter, test))
    };
    (gates.is_empty() && tests.iter().all(is_shown)).then_some(())
}

/// Whether rows that fulfil a filter fulfil a test of the same column.
fn shows(table: &Table, filter: &Filter, test: &Test) -> bool {
    match (&filter.is, test) {
        (Is::Null, Test::Null)
        | (Is::NotNull | Is::Compared(..) | Is::OneOf(_) | Is::AnyOf(_), Test::NotNull) => true,
        (Is::Compared(known, value), Test::Compared(asked, limit)) => {
            let constant = |operand| constant_of(table, filter.column, operand);
            let compared = constant(value).zip(constant(limit));
            let compared = compared.and_then(|(value, limit)| value.partial_cmp(&limit));
            compared.is_some_and(|order| implies(*known, *asked, order))
        }
        _ => false,
    }
}

/// Whether what is `known` of a value implies what is `asked`, given how the value of the first comparison is ordered to that
/// of the second.
fn implies(known: Comparison, asked: Comparison, order: Ordering) -> bool {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    let (is_less, is_equal, is_greater) = (order.is_lt(), order.is_eq(), order.is_gt());
    match (known, asked) {
        (Equal, Equal) | (NotEqual, NotEqual) => is_equal,
        (Equal, NotEqual) => !is_equal,
        (Equal | Greater | GreaterOrEqual, Greater) => is_greater || is_equal && known == Greater,
        (Equal | Greater | GreaterOrEqual, GreaterOrEqual) => is_greater || is_equal,
        (Equal | Less | LessOrEqual, Less) => is_less || is_equal && known == Less,
        (Equal | Less | LessOrEqual, LessOrEqual) => is_less || is_equal,
        (Greater, NotEqual) => is_greater || is_equal,
        (GreaterOrEqual, NotEqual) => is_greater,
        (Less, NotEqual) => is_less || is_equal,
        (LessOrEqual, NotEqual) => is_less,
        _ => false,
    }
}

/// The value of a constant, as one of a column; `None` for a parameter, NULL, and a constant of another type.
fn constant_of(table: &Table, column: usize, operand: &Operand) -> Option<ScalarValue> {
    let Operand::Constant(_) = operand else { return None };
    match converted(operand, &table.columns[column], &[]).ok()?? {
        Converted::Value(value) => ScalarValue::try_from_array(&value, 0).ok(),
        Converted::Null => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn implications_hold_for_all_values() {
        use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        let all = [Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual];
        let holds = |x: i32, comparison, limit: i32| match comparison {
            Equal => x == limit,
            NotEqual => x != limit,
            Less => x < limit,
            LessOrEqual => x <= limit,
            Greater => x > limit,
            GreaterOrEqual => x >= limit,
        };
        for known in all {
            for asked in all {
                for (value, limit) in [(0, 10), (10, 10), (20, 10)] {
                    let mut values = (-30..40).filter(|x| holds(*x, known, value));
                    let is_so = values.all(|x| holds(x, asked, limit));
                    let found = implies(known, asked, value.cmp(&limit));
                    assert_eq!(found, is_so, "{known:?} {value}, {asked:?} {limit}");
                }
            }
        }
    }
}
