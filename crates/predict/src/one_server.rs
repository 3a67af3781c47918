//! The engine as it would plan on one server that has all rows and works on them in one stream.
//!
//! The simulator divides the work among its own sites and exchanges rows as they would: neither this server's threads nor
//! what was shipped to other servers may be in the plan.

use datafusion::execution::{SessionState, SessionStateBuilder};
use planner::correlated::ByRow;
use std::sync::Arc;

/// Rules that are left out: one answers from what only Pando's tables know, one sends operators to other servers, and
/// one stores rows between operators.
const LEFT_OUT: [&str; 3] = ["aggregate_statistics", "ship_fragments", "cut_bundles"];

/// The engine of a statement, for one server and one stream.
pub(super) fn of(engine: &SessionState) -> SessionState {
    let rules = engine.physical_optimizers().iter();
    let rules = rules.filter(|rule| !LEFT_OUT.contains(&rule.name())).cloned().collect();
    let mut engine = SessionStateBuilder::new_from_existing(engine.clone())
        .with_physical_optimizer_rules(rules)
        .build();
    let options = engine.config_mut().options_mut();
    options.execution.target_partitions = 1;
    // A subquery of one value is a join then, which the simulator has.
    options.optimizer.enable_physical_uncorrelated_scalar_subquery = false;
    engine.config_mut().set_extension(Arc::new(ByRow::default()));
    engine
}
