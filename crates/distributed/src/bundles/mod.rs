//! Operation bundling (PAPERS E2): groups of operators that run together, with rows stored between
//! the groups.
//!
//! With `SET pando.bundling = none | optimal | excessive` a plan is cut greedily from the root by
//! the relation of bindable operators (`rule`, the crate `bundling`). Between two bundles is a
//! boundary (`crate::boundary`), which stores all rows of the bundle below. Bundles run one after
//! another (`in_step`): no server begins a bundle before those below it are stored everywhere.
//! `shown` describes the bundles for EXPLAIN.
//!
//! With the scheme `pipelined` a plan is not cut.

mod in_step;
mod rule;
mod shown;

pub use shown::Shown;

use bundling::Scheme;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use executor::Checks;
use rule::CutBundles;
use std::sync::Arc;

/// The setting for the scheme.
const BUNDLING: &str = "pando.bundling";

/// The setting for the bytes of a bundle's rows that a server keeps in memory.
const BUNDLE_BYTES: &str = "pando.bundle_bytes";

/// How the plans of a statement are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bundling {
    scheme: Scheme,
    /// Bytes that each boundary keeps in memory on a server at most.
    bytes_max: usize,
}

impl Bundling {
    /// The configuration of a session; `None` if plans are not cut. `setting` returns the value of
    /// a setting.
    pub fn of(setting: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let scheme = setting(BUNDLING)?.parse().ok()?;
        if scheme == Scheme::Pipelined {
            return None;
        }
        let bytes_max = setting(BUNDLE_BYTES)?.parse().ok()?;
        Some(Self { scheme, bytes_max })
    }

    /// The engine with a rule that cuts plans before they get checks, and operators are shipped.
    pub fn engine(self, engine: &SessionState) -> SessionState {
        let mut rules = engine.physical_optimizers().to_vec();
        let checks = rules.iter().position(|rule| rule.name() == Checks.name());
        let rule: Arc<dyn PhysicalOptimizerRule + Send + Sync> = Arc::new(CutBundles(self));
        rules.insert(checks.unwrap_or(rules.len()), rule);
        SessionStateBuilder::new_from_existing(engine.clone())
            .with_physical_optimizer_rules(rules)
            .build()
    }
}
