//! Plans that are made once and executed several times ([`scan::renewal`]). They have no dynamic filters, which belong to
//! one execution.

use crate::{Planner, astray, deep};
use datafusion::common::Result;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use scan::extremes;
use scan::parameters::Parameters;
use scan::renewal::is_lasting;
use std::sync::Arc;

impl Planner<'_> {
    /// The physical plan of a query with places for its parameters. `None` if it depends on more than tables and values.
    ///
    /// # Errors
    /// Errors of the engine, also if the query cannot be planned without values.
    pub async fn reusable(
        &self,
        plan: &LogicalPlan,
        parameters: &Arc<Parameters>,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        if !is_lasting(plan)? {
            return Ok(None);
        }
        let engine = astray::prevented(self.engine);
        let planned = async {
            let plan = parameters.fixed_in(plan.clone())?;
            let plan = functions::limited_copies(functions::folding(|| engine.optimize(&plan))?)?;
            let Some(plan) = parameters.called_in(plan)? else { return Ok(None) };
            let plan = extremes::looked_up_again(plan)?;
            engine.query_planner().create_physical_plan(&plan, &engine).await.map(Some)
        };
        deep::Growing(Box::pin(planned)).await
    }
}
