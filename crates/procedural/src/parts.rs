//! The rows of a query in parts, so that a loop has the values of few rows at a time.

use crate::done::Done;
use crate::value::{Value, answer};
use datafusion::arrow::array::RecordBatch;
use plpgsql::Answer;
use std::vec::IntoIter;
use values::error::Result;
use values::field::Field;

/// Rows of a part, at most.
const ROWS_MAX: usize = 256;

/// The rows of a query. There is at least one part.
pub struct Parts {
    fields: Vec<Field>,
    /// A part without rows, if there may be no other.
    first: Option<Answer<Value>>,
    /// The rest of a batch.
    rest: Option<RecordBatch>,
    batches: IntoIter<RecordBatch>,
}

impl Parts {
    /// What a statement has returned.
    ///
    /// # Errors
    /// None.
    pub(crate) fn of(done: Done) -> Result<Self> {
        let Some(fields) = done.fields else {
            let (columns, rows, nulls) = Default::default();
            let none = Answer { columns, rows, nulls, count: done.count, has_rows: false };
            return Ok(Self::from(none));
        };
        let first = Some(answer(&fields, &[])?);
        Ok(Self { fields, first, rest: None, batches: done.batches.into_iter() })
    }
}

impl From<Answer<Value>> for Parts {
    fn from(whole: Answer<Value>) -> Self {
        let (fields, batches) = (Vec::new(), Vec::new().into_iter());
        Self { fields, first: Some(whole), rest: None, batches }
    }
}

impl Iterator for Parts {
    type Item = Result<Answer<Value>>;

    fn next(&mut self) -> Option<Self::Item> {
        let has_rows = |batch: &RecordBatch| batch.num_rows() > 0;
        let Some(batch) = self.rest.take().or_else(|| self.batches.find(has_rows)) else {
            return self.first.take().map(Ok);
        };
        self.first = None;
        let count = batch.num_rows().min(ROWS_MAX);
        let behind = batch.num_rows() - count;
        self.rest = (behind > 0).then(|| batch.slice(count, behind));
        Some(answer(&self.fields, &[batch.slice(0, count)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{ArrayRef, Int32Array};
    use datafusion::common::ScalarValue;
    use std::sync::Arc;
    use store::catalog::SqlType;

    fn parts(batches: Vec<Vec<i32>>) -> Vec<Vec<i32>> {
        let batch = |numbers: Vec<i32>| {
            let column: ArrayRef = Arc::new(Int32Array::from(numbers));
            RecordBatch::try_from_iter([("n", column)]).expect("a batch")
        };
        let fields = Some(vec![Field::new("n", SqlType::Integer)]);
        let batches = batches.into_iter().map(batch).collect();
        let done = Done { fields, schema: None, batches, count: 0 };
        let number = |row: &Vec<Value>| match row[0].scalar {
            ScalarValue::Int32(Some(number)) => number,
            _ => -1,
        };
        let numbers = |part: Result<Answer<Value>>| -> Vec<i32> {
            part.expect("a part").rows.iter().map(number).collect()
        };
        Parts::of(done).expect("parts").map(numbers).collect()
    }

    #[test]
    fn all_rows_come_in_order() {
        let long: Vec<i32> = (0..600).collect();
        let all = parts(vec![vec![], vec![7], long.clone()]);
        assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [1, 256, 256, 88]);
        assert_eq!(all[1..].concat(), long);
    }

    #[test]
    fn without_rows_there_is_a_part() {
        assert_eq!(parts(vec![]), [Vec::<i32>::new()]);
        assert_eq!(parts(vec![vec![], vec![]]), [Vec::<i32>::new()]);
    }
}
