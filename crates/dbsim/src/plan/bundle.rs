//! The bundles of a plan: [`bundling`] over [`Plan`].

pub use bundling::{Bundle, Tree, cut};

use super::{Kind, OperatorId, Plan, Scheme};
use crate::hardware::catalog;

impl Tree for Plan {
    type Node = OperatorId;

    fn root(&self) -> OperatorId {
        self.root()
    }

    fn kinds(&self, node: OperatorId) -> Vec<Kind> {
        vec![self.operators()[node].kind]
    }

    fn children(&self, node: OperatorId) -> Vec<OperatorId> {
        self.operators()[node].children.clone()
    }
}

/// The default scheme of an architecture: the paper's own on its machines, pipelined execution on all others.
pub fn usual_scheme(architecture: &str) -> Scheme {
    if catalog::is_published(architecture) { Scheme::Optimal } else { Scheme::Pipelined }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_published_architectures_store_intermediate_results() {
        assert_eq!(usual_scheme("smart-disk"), Scheme::Optimal);
        assert_eq!(usual_scheme("nvme-server"), Scheme::Pipelined);
    }
}
