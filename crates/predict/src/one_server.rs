//! The engine configured for one server that has all rows and processes them in one partition.
//!
//! The simulator divides the work among its own sites and exchanges rows between them. So the plan
//! must contain neither partitions for this server's threads nor fragments for other servers.

use datafusion::execution::{SessionState, SessionStateBuilder};
use planner::correlated::ByRow;
use std::sync::Arc;

/// Rules that are removed: the first answers from statistics of Pando's tables, the second ships
/// operators to other servers, the third stores rows between operators.
const LEFT_OUT: [&str; 3] = ["aggregate_statistics", "ship_fragments", "cut_bundles"];

/// The engine of a statement, for one server and one partition.
pub(super) fn of(engine: &SessionState) -> SessionState {
    let rules = engine.physical_optimizers().iter();
    let rules = rules.filter(|rule| !LEFT_OUT.contains(&rule.name())).cloned().collect();
    let mut engine = SessionStateBuilder::new_from_existing(engine.clone())
        .with_physical_optimizer_rules(rules)
        .build();
    let options = engine.config_mut().options_mut();
    options.execution.target_partitions = 1;
    // A scalar subquery becomes a join, which the simulator has.
    options.optimizer.enable_physical_uncorrelated_scalar_subquery = false;
    engine.config_mut().set_extension(Arc::new(ByRow::default()));
    engine
}
