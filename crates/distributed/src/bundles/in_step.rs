//! `InStep`: runs the bundles of a plan one after another.
//!
//! It opens the nearest boundaries in the order of the plan, each when the one before has all its
//! rows. Then the last bundle begins. A boundary opens those below it in the same way.

use crate::boundary::open_below;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use executor::one_input;
use futures::future::{BoxFuture, Shared};
use futures::{FutureExt, TryStreamExt, stream};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// The result of opening, shared by all who wait for it.
type Answer = Result<(), Arc<DataFusionError>>;

/// The last bundle of a plan.
pub(super) struct InStep {
    bundle: Arc<dyn ExecutionPlan>,
    opening: Mutex<Option<Shared<BoxFuture<'static, Answer>>>>,
}

impl InStep {
    pub(super) fn new(bundle: Arc<dyn ExecutionPlan>) -> Self {
        Self { bundle, opening: Mutex::new(None) }
    }

    /// The bundle.
    pub(super) fn bundle(&self) -> &Arc<dyn ExecutionPlan> {
        &self.bundle
    }
}

impl fmt::Debug for InStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InStep({})", self.bundle.name())
    }
}

impl DisplayAs for InStep {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InStep")
    }
}

impl ExecutionPlan for InStep {
    one_input!("InStep", bundle, |_step, bundle| Ok(Arc::new(Self::new(bundle))));

    fn properties(&self) -> &Arc<PlanProperties> {
        self.bundle.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let begin = || {
            let (bundle, context) = (Arc::clone(&self.bundle), Arc::clone(&context));
            async move { open_below(&bundle, &context).await.map_err(Arc::new) }.boxed().shared()
        };
        let opening = self.opening.lock().get_or_insert_with(begin).clone();
        let bundle = Arc::clone(&self.bundle);
        let rows = async move {
            opening.await.map_err(DataFusionError::Shared)?;
            bundle.execute(partition, context)
        };
        let rows = stream::once(rows).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}
