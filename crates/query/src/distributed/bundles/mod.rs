//! Operation bundling (PAPERS E2): operators of a plan that run together, between two places where rows are stored.
//!
//! With `SET pando.bundling = none | optimal | excessive` a plan is cut greedily from the root by the relation of bindable
//! operators ([`rule`], [`dbsim::plan::bundle`]). A boundary between two bundles is an operator, [`Stored`]: it takes all rows of the bundle
//! below before it hands any on, in memory or on disk ([`storage`]), on every server that runs the bundle. Bundles
//! run one after another ([`in_step`]): a bundle has begun nowhere before those below it are stored everywhere.
//! [`shown`] tells EXPLAIN about them. How bundles and stored rows get to other servers is for [`crate::distributed`].
//!
//! Without a scheme, `pipelined`, there are no boundaries, and nothing of this is in a plan.

mod amounts;
mod in_step;
mod results;
mod rule;
mod shown;
mod storage;
mod stored;

pub(crate) use amounts::Amounts;
pub(crate) use results::Results;
pub(crate) use shown::Shown;
pub(crate) use stored::Stored;

use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use dbsim::plan::Scheme;
use rule::CutBundles;
use std::sync::Arc;

/// The setting that says how plans are cut.
const BUNDLING: &str = "pando.bundling";

/// The setting that says how many bytes of a bundle's rows a server keeps in memory.
const BUNDLE_BYTES: &str = "pando.bundle_bytes";

/// How the plans of a statement are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bundling {
    scheme: Scheme,
    /// Bytes that each boundary keeps in memory on a server, at most.
    bytes_max: usize,
}

impl Bundling {
    /// What a session's settings say; `None` where plans are not cut.
    pub(crate) fn of(setting: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let scheme = setting(BUNDLING)?.parse().ok()?;
        if scheme == Scheme::Pipelined {
            return None;
        }
        let bytes_max = setting(BUNDLE_BYTES)?.parse().ok()?;
        Some(Self { scheme, bytes_max })
    }

    /// An engine that cuts its plans, before anything is shipped.
    pub(crate) fn engine(self, engine: &SessionState) -> SessionState {
        let mut rules = engine.physical_optimizers().to_vec();
        let shipping = rules.iter().position(|rule| rule.name() == "ship_bundles");
        let rule: Arc<dyn PhysicalOptimizerRule + Send + Sync> = Arc::new(CutBundles(self));
        rules.insert(shipping.unwrap_or(rules.len()), rule);
        SessionStateBuilder::new_from_existing(engine.clone())
            .with_physical_optimizer_rules(rules)
            .build()
    }
}
