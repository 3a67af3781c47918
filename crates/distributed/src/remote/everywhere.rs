//! A fragment on all of its servers.

use super::forward::is_reducible;
use super::fragment::RemoteFragment;
use super::gather::turns;
use super::leaves::order_of;
use super::tree;
use crate::sites::{Site, Sites};
use datafusion::common::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::union::UnionExec;
use scan::shipping::Gathering;
use scan::spread_scan::SpreadScan;
use std::sync::Arc;

/// The rows of a scan on all of their owners, without operators above it.
pub fn read_everywhere(scan: &SpreadScan) -> Result<Arc<dyn ExecutionPlan>> {
    let sites = Sites::owners(vec![scan.elsewhere.clone()]);
    sites.everywhere(Arc::new(scan.here.clone()), Gathering::PUSH, usize::MAX)
}

impl Sites {
    /// The fragment on this server, and an operator for each other server.
    pub(crate) fn each(
        &self,
        fragment: &Arc<dyn ExecutionPlan>,
    ) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
        self.branches(fragment, Gathering::PUSH, usize::MAX)
    }

    /// The rows of a fragment on all servers. If partial results can be combined on the way, each
    /// server receives them from at most `fan_in` others.
    pub(crate) fn everywhere(
        &self,
        fragment: Arc<dyn ExecutionPlan>,
        gathering: Gathering,
        fan_in: usize,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let is_tree = self.is_of_one_scan() && is_reducible(&fragment)?;
        let fan_in = if is_tree { fan_in } else { usize::MAX };
        // A merge of ordered rows waits for any one server, so servers must not take turns.
        let is_merged = order_of(&fragment)?.is_some();
        let gathering = if is_merged { Gathering::PUSH } else { gathering };
        let parts = self.branches(&fragment, gathering, fan_in)?;
        match parts.len() {
            1 => Ok(fragment),
            _ => UnionExec::try_new(parts),
        }
    }

    /// The fragment on this server, and an operator for each branch of the tree of the other
    /// servers.
    fn branches(
        &self,
        fragment: &Arc<dyn ExecutionPlan>,
        gathering: Gathering,
        fan_in: usize,
    ) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
        let mut parts = vec![Arc::clone(fragment)];
        let branches = tree::branches(self.others().len(), fan_in);
        let turns = turns(gathering, branches.len());
        for branch in branches {
            let site = Site::new(self.clone(), branch, fan_in);
            let part = RemoteFragment::new(Arc::clone(fragment), site, turns.clone())?;
            parts.push(Arc::new(part));
        }
        Ok(parts)
    }
}
