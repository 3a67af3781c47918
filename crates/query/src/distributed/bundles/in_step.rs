//! `InStep`: bundles one after another.
//!
//! The boundaries nearest to a bundle are opened in the order of the plan, each when the one before has all its rows;
//! then the bundle begins. A boundary opens those below it in the same way.

use super::stored::Stored;
use crate::distributed::carries_rows;
use crate::distributed::kinds::{Role, role_of};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::scalar_subquery::ScalarSubqueryExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::future::{BoxFuture, Shared};
use futures::{FutureExt, TryStreamExt, stream};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// Lets the boundaries below a bundle get all their rows, one after another.
pub(super) async fn open_below(
    bundle: &Arc<dyn ExecutionPlan>,
    context: &Arc<TaskContext>,
) -> Result<()> {
    let mut found = Vec::new();
    find(bundle, &mut found);
    for boundary in found {
        if let Some(stored) = boundary.downcast_ref::<Stored>() {
            stored.opened(context).await?;
        }
    }
    Ok(())
}

/// The nearest boundaries from an operator on. Operators of which nothing is known may have to do something before those below
/// them run: they open theirs themselves, by reading them. So does the input of one that evaluates subqueries.
fn find(plan: &Arc<dyn ExecutionPlan>, found: &mut Vec<Arc<dyn ExecutionPlan>>) {
    if plan.downcast_ref::<Stored>().is_some() {
        return found.push(Arc::clone(plan));
    }
    let inputs = plan.children();
    if plan.downcast_ref::<ScalarSubqueryExec>().is_some() {
        return inputs.into_iter().skip(1).for_each(|subquery| find(subquery, found));
    }
    let is_unknown = role_of(plan) == Role::Operator(Vec::new());
    if !is_unknown || carries_rows(plan) || plan.downcast_ref::<UnionExec>().is_some() {
        inputs.into_iter().for_each(|input| find(input, found));
    }
}

/// What an opening ends with; everybody who waits for it gets the same.
type Answer = Result<(), Arc<DataFusionError>>;

/// The last bundle of a plan, which begins when those below it are done.
pub(super) struct InStep {
    bundle: Arc<dyn ExecutionPlan>,
    opening: Mutex<Option<Shared<BoxFuture<'static, Answer>>>>,
}

impl InStep {
    pub(super) fn new(bundle: Arc<dyn ExecutionPlan>) -> Self {
        Self { bundle, opening: Mutex::new(None) }
    }

    /// That bundle.
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
    fn name(&self) -> &'static str {
        "InStep"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.bundle.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.bundle]
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::new(children.swap_remove(0))))
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
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
