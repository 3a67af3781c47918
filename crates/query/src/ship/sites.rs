//! Which servers run a bundle.

use super::remote::RemoteBundle;
use crate::scan::places::{Elsewhere, Shown};
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
    /// Owners of a table's rows: each reads its own.
    Owners(Elsewhere),
    /// Servers among which rows are dealt out: each reads its parts.
    Participants(Arc<Participants>),
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
        let others: BTreeSet<GroupId> = producers.iter().flat_map(|sites| sites.others()).collect();
        let Some(sites) = producers.first() else { return Ok(None) };
        let (peers, reader) = sites.peers()?;
        let groups = std::iter::once(peers.here()).chain(others).collect();
        Ok(Some(Self { groups, peers: Arc::clone(peers), reader: reader.clone() }))
    }
}

impl Sites {
    fn others(&self) -> Vec<GroupId> {
        match self {
            Self::Owners(elsewhere) => elsewhere.owners().iter().map(|(group, _)| *group).collect(),
            Self::Participants(participants) => participants.groups[1..].to_vec(),
        }
    }

    /// How many servers there are.
    pub(super) fn count(&self) -> usize {
        1 + self.others().len()
    }

    fn peers(&self) -> Result<(&Arc<dyn Peers>, &Reader)> {
        match self {
            Self::Owners(elsewhere) => elsewhere.peers().map(|(peers, reader)| (peers, reader)),
            Self::Participants(participants) => Ok((&participants.peers, &participants.reader)),
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
        match &self.sites {
            Sites::Owners(elsewhere) => elsewhere.owners()[self.index].0,
            Sites::Participants(participants) => participants.groups[self.index + 1],
        }
    }

    /// The other servers, and as whom this one is asked.
    pub(super) fn peers(&self) -> Result<(&Arc<dyn Peers>, &Reader)> {
        self.sites.peers()
    }

    /// Its rows of the table that a bundle scans, and how often they will have been sent on.
    pub(super) fn ranges(&self) -> Result<(&[KeyRange], u8)> {
        match &self.sites {
            Sites::Owners(elsewhere) => {
                Ok((&elsewhere.owners()[self.index].1, elsewhere.next_hop()?))
            }
            Sites::Participants(_) => Ok((&[], 0)),
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
        write!(f, "group={}", self.group().0)?;
        match &self.sites {
            Sites::Owners(elsewhere) => {
                write!(f, ", ranges={}", Shown(&elsewhere.owners()[self.index].1))
            }
            Sites::Participants(_) => Ok(()),
        }
    }
}
