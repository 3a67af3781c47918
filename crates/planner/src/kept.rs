//! Plans of rows that are computed once ([`executor::kept`]).

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::Result;
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};
use executor::kept::KeptRows;
use std::sync::Arc;

/// The engine's planner, which knows [`KeptRows`] in addition.
#[derive(Debug)]
pub struct PlansKept;

#[async_trait]
impl QueryPlanner for PlansKept {
    async fn create_physical_plan(
        &self,
        plan: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(Operators)]);
        planner.create_physical_plan(plan, session).await
    }
}

/// The operators of nodes that the engine does not have.
struct Operators;

#[async_trait]
impl ExtensionPlanner for Operators {
    async fn plan_extension(
        &self,
        _planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _logical: &[&LogicalPlan],
        inputs: &[Arc<dyn ExecutionPlan>],
        _session: &dyn Session,
        _context: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        Ok(match (node.as_any().downcast_ref::<KeptRows>(), inputs) {
            (Some(kept), [input]) => Some(kept.operator(Arc::clone(input))),
            _ => None,
        })
    }
}
