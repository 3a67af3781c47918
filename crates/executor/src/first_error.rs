//! Which of several rows in error counts: the first one, and of its expressions the first.
//!
//! PostgreSQL evaluates the expressions of a row from left to right, row by row. The engine evaluates them for all rows of a
//! batch, one after the other, so that it finds the error of another row. After an error [`first_error`] looks for the first row
//! that has one, by halves.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{FieldRef, Schema};
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The first of `rows` rows in error, and its error. `error` is that of all rows together; `evaluate` evaluates those between
/// two places.
pub fn first_error<E>(
    rows: usize,
    mut error: E,
    mut evaluate: impl FnMut(usize, usize) -> std::result::Result<(), E>,
) -> (usize, E) {
    let (mut sound, mut end) = (0, rows);
    while end - sound > 1 {
        let middle = sound.midpoint(end);
        match evaluate(sound, middle) {
            Ok(()) => sound = middle,
            Err(found) => (end, error) = (middle, found),
        }
    }
    (sound, error)
}

/// An expression of an operator that evaluates several for each row. Its error is that of the first row in error.
#[derive(Debug)]
pub(crate) struct OfFirstRow {
    expression: Arc<dyn PhysicalExpr>,
    /// All expressions of the operator that may fail, in order.
    all: Arc<[Arc<dyn PhysicalExpr>]>,
}

impl OfFirstRow {
    /// The same expression, among those of its operator.
    pub(crate) fn among(
        expression: Arc<dyn PhysicalExpr>,
        all: &Arc<[Arc<dyn PhysicalExpr>]>,
    ) -> Arc<dyn PhysicalExpr> {
        Arc::new(Self { expression, all: Arc::clone(all) })
    }

    fn error(&self, batch: &RecordBatch, error: DataFusionError) -> DataFusionError {
        let evaluate = |begin: usize, end: usize| {
            let rows = batch.slice(begin, end - begin);
            self.all.iter().try_for_each(|expression| expression.evaluate(&rows).map(drop))
        };
        first_error(batch.num_rows(), error, evaluate).1
    }
}

impl PartialEq for OfFirstRow {
    fn eq(&self, other: &Self) -> bool {
        *self.expression == *other.expression
    }
}

impl Eq for OfFirstRow {}

impl Hash for OfFirstRow {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.expression.hash(state);
    }
}

impl fmt::Display for OfFirstRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expression.fmt(f)
    }
}

impl PhysicalExpr for OfFirstRow {
    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        self.expression.evaluate(batch).map_err(|error| self.error(batch, error))
    }

    fn return_field(&self, input: &Schema) -> Result<FieldRef> {
        self.expression.return_field(input)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.expression]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        match <[_; 1]>::try_from(children) {
            Ok([expression]) => Ok(Self::among(expression, &self.all)),
            Err(_) => internal_err!("one expression has the errors of its first row"),
        }
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expression.fmt_sql(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{ArrayRef, StringArray};
    use datafusion::arrow::datatypes::DataType;
    use datafusion::physical_expr::expressions::{cast, col};

    #[test]
    fn the_first_row_in_error_is_found() {
        for place in 0..9 {
            let evaluate = |begin: usize, end: usize| match (begin..end).contains(&place) {
                true => Err(end - begin),
                false => Ok(()),
            };
            assert_eq!(first_error(9, 9, evaluate).0, place);
        }
    }

    #[test]
    fn the_error_of_an_earlier_row_counts() {
        let text = |values: [&str; 3]| Arc::new(StringArray::from(values.to_vec())) as ArrayRef;
        let columns = [("x", text(["1", "2", "late"])), ("y", text(["1", "early", "3"]))];
        let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
        let number = |name| {
            let column = col(name, &batch.schema()).expect("a column");
            cast(column, &batch.schema(), DataType::Int32).expect("typed")
        };
        let all: Arc<[Arc<dyn PhysicalExpr>]> = vec![number("x"), number("y")].into();
        let alone = all[0].evaluate(&batch).expect_err("the third row").to_string();
        let first = OfFirstRow::among(Arc::clone(&all[0]), &all).evaluate(&batch);
        let first = first.expect_err("the second row").to_string();
        assert!(alone.contains("late") && first.contains("early"), "{alone}, {first}");
    }
}
