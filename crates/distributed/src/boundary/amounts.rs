//! The amount that a boundary stores.

use datafusion::arrow::array::{AsArray, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};
use std::ops::AddAssign;
use std::sync::Arc;

/// Stored rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Amounts {
    pub(crate) rows: usize,
    pub(crate) bytes: usize,
    /// Bytes written to disk.
    pub(crate) spilled: usize,
}

impl AddAssign for Amounts {
    fn add_assign(&mut self, other: Self) {
        self.rows += other.rows;
        self.bytes += other.bytes;
        self.spilled += other.spilled;
    }
}

impl Amounts {
    /// The amounts as a batch for another server.
    pub(crate) fn to_batch(self) -> datafusion::common::Result<RecordBatch> {
        let column = |value: usize| Arc::new(Int64Array::from(vec![value as i64])) as _;
        let columns = [("rows", self.rows), ("bytes", self.bytes), ("spilled", self.spilled)];
        Ok(RecordBatch::try_from_iter(columns.map(|(name, value)| (name, column(value))))?)
    }

    /// The amounts of another server; `None` if the batch has none.
    pub(crate) fn of_batch(batch: &RecordBatch) -> Option<Self> {
        let value = |at: usize| {
            let values = batch.columns().get(at)?.as_primitive_opt::<Int64Type>()?;
            values.iter().next().flatten().and_then(|value| usize::try_from(value).ok())
        };
        Some(Self { rows: value(0)?, bytes: value(1)?, spilled: value(2)? })
    }
}

/// Amounts as metrics of an operator, for EXPLAIN ANALYZE.
#[derive(Debug, Clone)]
pub(crate) struct Counts {
    rows: Count,
    bytes: Count,
    spilled: Count,
}

impl Counts {
    pub(crate) fn new(metrics: &ExecutionPlanMetricsSet) -> Self {
        let count = |name| MetricBuilder::new(metrics).global_counter(name);
        Self {
            rows: count("stored_rows"),
            bytes: count("stored_bytes"),
            spilled: count("spilled_bytes"),
        }
    }

    pub(crate) fn add(&self, amounts: Amounts) {
        self.rows.add(amounts.rows);
        self.bytes.add(amounts.bytes);
        self.spilled.add(amounts.spilled);
    }

    pub(crate) fn amounts(&self) -> Amounts {
        Amounts {
            rows: self.rows.value(),
            bytes: self.bytes.value(),
            spilled: self.spilled.value(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_of_amounts_is_read_as_written() {
        let amounts = Amounts { rows: 3, bytes: 1 << 40, spilled: 7 };
        let batch = amounts.to_batch().expect("a batch");
        assert_eq!(Amounts::of_batch(&batch), Some(amounts));
        assert_eq!(Amounts::of_batch(&batch.project(&[0, 1]).expect("two columns")), None);
        assert_eq!(Amounts::of_batch(&batch.slice(0, 0)), None);
    }
}
