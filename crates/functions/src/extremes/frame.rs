//! The extreme value of a window frame that moves.

use super::Extreme;
use super::form::{Form, Value};
use crate::aggregates::only_row;
use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::Accumulator;
use std::collections::VecDeque;

/// The rows of a frame that are its extreme value, or may become it when rows before them leave. None of them replaces one
/// before it.
#[derive(Debug)]
pub(super) struct InFrame {
    extreme: Extreme,
    form: Form,
    /// Values with the numbers of their rows.
    values: VecDeque<(usize, Value)>,
    /// The number of the first row in the frame.
    first: usize,
    /// The number of the next row.
    next: usize,
}

impl InFrame {
    pub(super) fn new(extreme: Extreme, form: Form) -> Self {
        Self { extreme, form, values: VecDeque::new(), first: 0, next: 0 }
    }

    fn columns(&self) -> Result<Vec<ArrayRef>> {
        self.form.columns(std::iter::once(self.values.front().map(|(_, value)| value)))
    }
}

impl Accumulator for InFrame {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let input = self.form.input(values)?;
        for row in 0..values[0].len() {
            if let Some(parts) = input.at(row) {
                let is_hidden =
                    |(_, last): &(usize, Value)| self.extreme.replaces(parts.0, last.key());
                while self.values.back().is_some_and(is_hidden) {
                    self.values.pop_back();
                }
                self.values.push_back((self.next, Value::of(parts)));
            }
            self.next += 1;
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.first += values[0].len();
        while self.values.front().is_some_and(|(row, _)| *row < self.first) {
            self.values.pop_front();
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        internal_err!("frames of windows are not merged")
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        ScalarValue::try_from_array(&self.columns()?[0], 0)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        only_row(&self.columns()?)
    }

    fn size(&self) -> usize {
        let bytes = self.values.iter().map(|(_, value)| value.size()).sum::<usize>();
        size_of::<Self>() + self.values.capacity() * size_of::<(usize, Value)>() + bytes
    }
}
