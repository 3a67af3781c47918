//! The extreme values of many groups at once.

use super::Extreme;
use super::form::{Form, Value};
use crate::aggregates::takes;
use datafusion::arrow::array::{Array, ArrayRef, BooleanArray};
use datafusion::arrow::compute::nullif;
use datafusion::common::Result;
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};

/// The extreme value of each group.
#[derive(Debug)]
pub(super) struct Groups {
    extreme: Extreme,
    form: Form,
    values: Vec<Option<Value>>,
    /// The bytes of all values.
    bytes: usize,
}

impl Groups {
    pub(super) fn new(extreme: Extreme, form: Form) -> Self {
        Self { extreme, form, values: Vec::new(), bytes: 0 }
    }

    /// Makes room for groups.
    pub(super) fn grow_to(&mut self, groups: usize) {
        self.values.resize_with(groups, || None);
    }

    /// Takes rows, each for a group if it is for one.
    pub(super) fn take(
        &mut self,
        columns: &[ArrayRef],
        group_of: impl Fn(usize) -> Option<usize>,
    ) -> Result<()> {
        let input = self.form.input(columns)?;
        for row in 0..columns[0].len() {
            let Some((group, parts)) = group_of(row).zip(input.at(row)) else { continue };
            match &mut self.values[group] {
                Some(best) if self.extreme.replaces(parts.0, best.key()) => {
                    self.bytes -= best.size();
                    best.set(parts);
                    self.bytes += best.size();
                }
                Some(_) => {}
                empty => {
                    let first = Value::of(parts);
                    self.bytes += first.size();
                    *empty = Some(first);
                }
            }
        }
        Ok(())
    }

    /// The columns of all groups.
    pub(super) fn columns(&self) -> Result<Vec<ArrayRef>> {
        self.form.columns(self.values.iter().map(Option::as_ref))
    }

    /// The columns of some groups, which are forgotten.
    fn emit(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let values = emit_to.take_needed(&mut self.values);
        self.bytes -= values.iter().flatten().map(Value::size).sum::<usize>();
        self.form.columns(values.iter().map(Option::as_ref))
    }
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.grow_to(total_num_groups);
        self.take(values, |row| takes(opt_filter, row).then(|| group_indices[row]))
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        self.grow_to(total_num_groups);
        self.take(values, |row| Some(group_indices[row]))
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        Ok(self.emit(emit_to)?.swap_remove(0))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        self.emit(emit_to)
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let Some(filter) = opt_filter else { return Ok(values.to_vec()) };
        let left_out = (0..filter.len()).map(|row| Some(!takes(opt_filter, row)));
        let left_out: BooleanArray = left_out.collect();
        values.iter().map(|column| Ok(nullif(column, &left_out)?)).collect()
    }

    fn size(&self) -> usize {
        self.values.capacity() * size_of::<Option<Value>>() + self.bytes
    }
}
