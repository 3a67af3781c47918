//! AND and OR that evaluate their second operand only for the rows that the first one leaves undecided.
//!
//! PostgreSQL evaluates operands from left to right, row by row, so that `x <> 0 AND 1 / x > 2` does not divide by zero. The
//! engine evaluates both operands for all rows of a batch. [`short_circuit`] replaces its AND and OR where this matters:
//! where the second operand may fail, or costs more than a comparison of columns with constants.

mod operators;

use crate::fallible::physical_may_fail;
use datafusion::arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use datafusion::arrow::compute::{and_kleene, or_kleene};
use datafusion::arrow::datatypes::{FieldRef, Schema};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{ColumnarValue, Operator};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column};
use datafusion::physical_expr::utils::collect_columns;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub(crate) use operators::{is_needed_in, with_short_circuits};

/// The same expression, whose AND and OR evaluate operands that may fail only for the rows that need them.
///
/// # Errors
/// Errors of the engine.
pub fn short_circuit(expression: Arc<dyn PhysicalExpr>) -> Result<Arc<dyn PhysicalExpr>> {
    let replace = |part: Arc<dyn PhysicalExpr>| {
        Ok(match needed(&part) {
            Some(binary) => Transformed::yes(ShortCircuit::of(binary)? as Arc<dyn PhysicalExpr>),
            None => Transformed::no(part),
        })
    };
    expression.transform_up(replace).data()
}

/// Whether [`short_circuit`] changes an expression.
fn is_needed(expression: &Arc<dyn PhysicalExpr>) -> bool {
    expression.exists(|part| Ok(needed(part).is_some())).unwrap_or(false)
}

/// AND or OR whose second operand may fail.
fn needed(part: &Arc<dyn PhysicalExpr>) -> Option<&BinaryExpr> {
    let binary = part.downcast_ref::<BinaryExpr>()?;
    let is_logical = matches!(binary.op(), Operator::And | Operator::Or);
    (is_logical && physical_may_fail(binary.right())).then_some(binary)
}

/// AND or OR that evaluates its second operand for some rows.
#[derive(Debug)]
struct ShortCircuit {
    is_and: bool,
    /// The operands, over all columns.
    operands: [Arc<dyn PhysicalExpr>; 2],
    /// The columns that the second operand needs.
    columns: Vec<usize>,
    /// The second operand over these columns only.
    narrow: Arc<dyn PhysicalExpr>,
}

impl ShortCircuit {
    fn of(binary: &BinaryExpr) -> Result<Arc<Self>> {
        let operands = [binary.left(), binary.right()].map(Arc::clone);
        Self::new(*binary.op() == Operator::And, operands)
    }

    fn new(is_and: bool, operands: [Arc<dyn PhysicalExpr>; 2]) -> Result<Arc<Self>> {
        let used = collect_columns(&operands[1]);
        let mut columns: Vec<usize> = used.iter().map(Column::index).collect();
        columns.sort_unstable();
        columns.dedup();
        let narrowed = |part: Arc<dyn PhysicalExpr>| {
            let Some(column) = part.downcast_ref::<Column>() else {
                return Ok(Transformed::no(part));
            };
            Ok(match columns.binary_search(&column.index()) {
                Ok(at) => Transformed::yes(Arc::new(Column::new(column.name(), at)) as _),
                Err(_) => Transformed::no(part),
            })
        };
        let narrow = Arc::clone(&operands[1]).transform_up(narrowed).data()?;
        Ok(Arc::new(Self { is_and, operands, columns, narrow }))
    }

    /// The rows that the first operand does not decide: for AND those where it is not false, for OR those where it is not
    /// true.
    fn undecided(&self, first: &BooleanArray) -> BooleanArray {
        let deciding = if self.is_and { !first.values() } else { first.values().clone() };
        let decided = match first.nulls() {
            Some(nulls) => &deciding & nulls.inner(),
            None => deciding,
        };
        BooleanArray::from(!&decided)
    }
}

impl PartialEq for ShortCircuit {
    fn eq(&self, other: &Self) -> bool {
        self.is_and == other.is_and && self.operands == other.operands
    }
}

impl Eq for ShortCircuit {}

impl Hash for ShortCircuit {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.is_and, &self.operands).hash(state);
    }
}

impl fmt::Display for ShortCircuit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.is_and { "AND" } else { "OR" };
        write!(f, "({} {word} {})", self.operands[0], self.operands[1])
    }
}

impl PhysicalExpr for ShortCircuit {
    fn return_field(&self, input: &Schema) -> Result<FieldRef> {
        let op = if self.is_and { Operator::And } else { Operator::Or };
        let [left, right] = self.operands.each_ref().map(Arc::clone);
        BinaryExpr::new(left, op, right).return_field(input)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let rows = batch.num_rows();
        let first = self.operands[0].evaluate(batch)?.into_array(rows)?;
        let Some(first) = first.as_boolean_opt() else {
            return internal_err!("an operand of AND or OR is no boolean");
        };
        let undecided = self.undecided(first);
        let count = undecided.true_count();
        if count == 0 {
            return Ok(ColumnarValue::Array(Arc::new(first.clone())));
        }
        let second = if count == rows {
            self.operands[1].evaluate(batch)?
        } else {
            self.narrow.evaluate_selection(&batch.project(&self.columns)?, &undecided)?
        };
        let second = second.into_array(rows)?;
        let Some(second) = second.as_boolean_opt() else {
            return internal_err!("an operand of AND or OR is no boolean");
        };
        let value =
            if self.is_and { and_kleene(first, second)? } else { or_kleene(first, second)? };
        Ok(ColumnarValue::Array(Arc::new(value)))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        self.operands.iter().collect()
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        match <[_; 2]>::try_from(children) {
            Ok(operands) => Ok(Self::new(self.is_and, operands)?),
            Err(_) => internal_err!("AND and OR have two operands"),
        }
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::Int64Array;
    use datafusion::common::ScalarValue;
    use datafusion::physical_expr::expressions::{binary, col, lit};

    fn batch(values: &[Option<i64>]) -> RecordBatch {
        let other = Int64Array::from(vec![7; values.len()]);
        let values = Int64Array::from(values.to_vec());
        RecordBatch::try_from_iter([("other", Arc::new(other) as _), ("x", Arc::new(values) as _)])
            .expect("columns of one length")
    }

    /// `x <> 0 AND 1 / x > 0`, or `x = 0 OR 1 / x > 0`.
    fn guarded(is_and: bool) -> Arc<dyn PhysicalExpr> {
        let schema = batch(&[None]).schema();
        let of = |left, op, right| binary(left, op, right, &schema).expect("typed");
        let x = || col("x", &schema).expect("a column");
        let number = |value: i64| lit(ScalarValue::from(value));
        let divided = of(of(number(1), Operator::Divide, x()), Operator::Gt, number(0));
        match is_and {
            true => of(of(x(), Operator::NotEq, number(0)), Operator::And, divided),
            false => of(of(x(), Operator::Eq, number(0)), Operator::Or, divided),
        }
    }

    #[test]
    fn the_second_operand_sees_only_undecided_rows() {
        let rows = batch(&[Some(0), Some(1), None, Some(2)]);
        for (is_and, expected) in [
            (true, [Some(false), Some(true), None, Some(false)]),
            (false, [Some(true), Some(true), None, Some(false)]),
        ] {
            assert!(guarded(is_and).evaluate(&rows).is_err());
            let value = short_circuit(guarded(is_and)).expect("replaced").evaluate(&rows);
            let value = value.and_then(|value| value.into_array(4)).expect("no division by zero");
            assert_eq!(value.as_boolean().iter().collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn comparisons_stay_with_the_engine() {
        let schema = batch(&[None]).schema();
        let of = |left, op, right| binary(left, op, right, &schema).expect("typed");
        let x = || col("x", &schema).expect("a column");
        let compared = |op| of(x(), op, lit(ScalarValue::from(1_i64)));
        let both = of(compared(Operator::Lt), Operator::Or, compared(Operator::Eq));
        assert!(!is_needed(&both));
        assert!(is_needed(&guarded(true)));
    }
}
