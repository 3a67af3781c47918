//! A statistic over a window frame that moves.

use super::state::{Measure, Moments};
use super::{Pairs, parts};
use datafusion::arrow::array::ArrayRef;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::Accumulator;
use std::collections::VecDeque;

/// The rows in a frame. Their moments are computed for each frame, as PostgreSQL does it: what leaves a frame would leave its
/// rounding errors, and an infinite number would never leave.
#[derive(Debug)]
pub(super) struct InFrame {
    measure: Measure,
    pairs: VecDeque<[f64; 2]>,
}

impl InFrame {
    pub(super) fn new(measure: Measure) -> Self {
        Self { measure, pairs: VecDeque::new() }
    }

    fn moments(&self) -> Result<Moments> {
        let mut moments = Moments::default();
        self.pairs.iter().try_for_each(|pair| moments.add(*pair))?;
        Ok(moments)
    }
}

impl Accumulator for InFrame {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.pairs.extend(Pairs::of(values).each());
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let left = Pairs::of(values).each().count();
        self.pairs.drain(..left.min(self.pairs.len()));
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        internal_err!("frames of windows are not merged")
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64(self.measure.of(&self.moments()?)))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(parts(&self.moments()?).map(ScalarValue::from).to_vec())
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.pairs.capacity() * size_of::<[f64; 2]>()
    }
}
