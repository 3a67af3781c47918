//! A statistic of many groups at once.

use super::state::{Measure, Moments};
use super::{PARTS, Pairs, States, parts};
use crate::aggregates::takes;
use datafusion::arrow::array::{ArrayRef, BooleanArray, Float64Array};
use datafusion::common::Result;
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};
use std::sync::Arc;

/// The moments of each group.
#[derive(Debug)]
pub(super) struct Groups {
    measure: Measure,
    groups: Vec<Moments>,
}

impl Groups {
    pub(super) fn new(measure: Measure) -> Self {
        Self { measure, groups: Vec::new() }
    }
}

fn columns(states: &[Moments]) -> Vec<ArrayRef> {
    let column = |part| -> ArrayRef {
        Arc::new(states.iter().map(|state| Some(parts(state)[part])).collect::<Float64Array>())
    };
    (0..PARTS.len()).map(column).collect()
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.groups.resize(total_num_groups, Moments::default());
        let pairs = Pairs::of(values);
        for (row, group) in group_indices.iter().enumerate() {
            if let Some(pair) = pairs.at(row).filter(|_| takes(opt_filter, row)) {
                self.groups[*group].add(pair)?;
            }
        }
        Ok(())
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        self.groups.resize(total_num_groups, Moments::default());
        let states = States::of(values);
        for (row, group) in group_indices.iter().enumerate() {
            self.groups[*group].merge(&states.at(row))?;
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let groups = emit_to.take_needed(&mut self.groups);
        Ok(Arc::new(groups.iter().map(|group| self.measure.of(group)).collect::<Float64Array>()))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(columns(&emit_to.take_needed(&mut self.groups)))
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let pairs = Pairs::of(values);
        let state = |row| {
            let mut moments = Moments::default();
            if let Some(pair) = pairs.at(row).filter(|_| takes(opt_filter, row)) {
                moments.add(pair)?;
            }
            Ok(moments)
        };
        let states = (0..pairs.len()).map(state).collect::<Result<Vec<_>>>()?;
        Ok(columns(&states))
    }

    fn size(&self) -> usize {
        self.groups.capacity() * size_of::<Moments>()
    }
}
