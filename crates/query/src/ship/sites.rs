//! Which servers run a bundle.

use super::remote::RemoteBundle;
use crate::scan::places::Elsewhere;
use datafusion::common::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::union::UnionExec;
use sdds::{GroupId, KeyRange};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use store::{Peers, Reader};

/// The servers that run a bundle, and what each of them reads.
#[derive(Clone)]
pub(super) enum Sites {
    /// Owners of the rows of a table, or of several that lie together: each reads its own.
    Owners(Arc<Owners>),
    /// Servers among which rows are dealt out: each reads its parts.
    Participants(Arc<Participants>),
}

/// Owners of what some scans read.
pub(super) struct Owners {
    /// Other servers that own some of it.
    groups: Vec<GroupId>,
    /// What each scan reads of whom, at least one.
    pub(super) scans: Vec<Elsewhere>,
}

/// Servers among which rows are dealt out.
pub(super) struct Participants {
    /// This server first.
    pub(super) groups: Vec<GroupId>,
    pub(super) peers: Arc<dyn Peers>,
    reader: Reader,
}

impl Participants {
    /// This server, and all others that run some of the bundles whose rows are dealt out.
    pub(super) fn of(producers: &[&Sites]) -> Result<Option<Self>> {
        let others: BTreeSet<GroupId> =
            producers.iter().flat_map(|sites| sites.others().iter().copied()).collect();
        let Some(sites) = producers.first() else { return Ok(None) };
        let (peers, reader) = sites.peers()?;
        let groups = std::iter::once(peers.here()).chain(others).collect();
        Ok(Some(Self { groups, peers: Arc::clone(peers), reader: reader.clone() }))
    }
}

impl Sites {
    /// Those who own what some scans read.
    pub(super) fn owners(scans: Vec<Elsewhere>) -> Self {
        let all = scans.iter().flat_map(|scan| scan.owners().iter().map(|(group, _)| *group));
        let groups: BTreeSet<GroupId> = all.collect();
        Self::Owners(Arc::new(Owners { groups: groups.into_iter().collect(), scans }))
    }

    fn others(&self) -> &[GroupId] {
        match self {
            Self::Owners(owners) => &owners.groups,
            Self::Participants(participants) => &participants.groups[1..],
        }
    }

    /// How many servers there are.
    pub(super) fn count(&self) -> usize {
        1 + self.others().len()
    }

    fn peers(&self) -> Result<(&Arc<dyn Peers>, &Reader)> {
        match self {
            Self::Owners(owners) => {
                let (peers, reader) = owners.scans[0].peers()?;
                Ok((peers, reader))
            }
            Self::Participants(participants) => Ok((&participants.peers, &participants.reader)),
        }
    }

    /// What people call a server.
    fn name_of(&self, group: GroupId) -> String {
        match self {
            Self::Owners(owners) => owners.scans[0].server(group),
            Self::Participants(participants) => participants.peers.server_name(group),
        }
    }

    /// A bundle on each of the servers: as it is on this one, and what comes from the others.
    pub(super) fn each(
        &self,
        bundle: &Arc<dyn ExecutionPlan>,
    ) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
        let mut parts = vec![Arc::clone(bundle)];
        for index in 0..self.others().len() {
            let site = Site { sites: self.clone(), index };
            parts.push(Arc::new(RemoteBundle::new(Arc::clone(bundle), site)?));
        }
        Ok(parts)
    }

    /// The rows of a bundle on all of the servers.
    pub(super) fn everywhere(
        &self,
        bundle: Arc<dyn ExecutionPlan>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let parts = self.each(&bundle)?;
        match parts.len() {
            1 => Ok(bundle),
            _ => UnionExec::try_new(parts),
        }
    }
}

/// One of the others.
#[derive(Clone)]
pub(super) struct Site {
    sites: Sites,
    index: usize,
}

impl Site {
    pub(super) fn group(&self) -> GroupId {
        self.sites.others()[self.index]
    }

    /// The other servers, and as whom this one is asked.
    pub(super) fn peers(&self) -> Result<(&Arc<dyn Peers>, &Reader)> {
        self.sites.peers()
    }

    /// Its rows of what each scan of a bundle reads, and how often they will have been sent on.
    pub(super) fn ranges(&self) -> Result<Vec<(&[KeyRange], u8)>> {
        match &self.sites {
            Sites::Owners(owners) => {
                let scans = owners.scans.iter();
                scans.map(|scan| Ok((scan.ranges_of(self.group()), scan.next_hop()?))).collect()
            }
            Sites::Participants(_) => Ok(Vec::new()),
        }
    }

    /// Whose the rows are of the one scan of a bundle, if it has no other input.
    pub(super) fn elsewhere(&self) -> Option<&Elsewhere> {
        match &self.sites {
            Sites::Owners(owners) if owners.scans.len() == 1 => owners.scans.first(),
            Sites::Owners(_) | Sites::Participants(_) => None,
        }
    }

    /// Its place among the servers that rows are dealt out to.
    pub(super) fn consumer(&self) -> usize {
        match &self.sites {
            Sites::Owners(_) => 0,
            Sites::Participants(_) => self.index + 1,
        }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "server={}", self.sites.name_of(self.group()))?;
        if let Sites::Owners(owners) = &self.sites {
            for scan in &owners.scans {
                write!(f, ", ranges={}", scan.shown(scan.ranges_of(self.group())))?;
            }
        }
        Ok(())
    }
}
