//! Plans that are made once and executed several times ([`scan::renewal`]). They have no dynamic filters, which belong to
//! one execution.

use crate::{Planner, astray, deep, logical};
use datafusion::common::Result;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use scan::extremes;
use scan::parameters::Parameters;
use scan::renewal::is_lasting;
use std::sync::Arc;

impl Planner<'_> {
    /// The physical plan of a query with places for its parameters, for one thread or for as many as there are. `None` if it
    /// depends on more than tables and values.
    ///
    /// # Errors
    /// Errors of the engine, also if the query cannot be planned without values.
    pub async fn reusable(
        &self,
        plan: &LogicalPlan,
        parameters: &Arc<Parameters>,
        is_for_one: bool,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        if !is_lasting(plan)? {
            return Ok(None);
        }
        let mut engine = astray::prevented(self.engine);
        if is_for_one {
            engine.config_mut().options_mut().execution.target_partitions = 1;
        }
        let planned = async {
            let plan = parameters.fixed_in(plan.clone())?;
            let plan = functions::folding(|| logical::optimized(&engine, &plan))?;
            let plan = functions::limited_copies(plan)?;
            let Some(plan) = parameters.called_in(plan)? else { return Ok(None) };
            let plan = extremes::looked_up_again(plan)?;
            engine.query_planner().create_physical_plan(&plan, &engine).await.map(Some)
        };
        deep::Growing(Box::pin(planned)).await
    }
}
