//! Which servers run a fragment.

use super::forward;
use super::gather::turns;
use super::remote::{RemoteFragment, order_of};
use super::tree;
use super::wire::Branch;
use datafusion::common::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::union::UnionExec;
use scan::places::Elsewhere;
use scan::shipping::Gathering;
use sdds::{GroupId, KeyRange};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use store::{ExchangeId, Peers, Reader};

/// The servers that run a fragment, and what each of them reads.
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

/// Servers among which rows are dealt out, or that keep the rows of a fragment which they have run.
pub(crate) struct Participants {
    /// This server first.
    pub(super) groups: Vec<GroupId>,
    pub(super) peers: Arc<dyn Peers>,
    reader: Reader,
}

impl Participants {
    /// This server, and all others that run some of the fragments whose rows are dealt out.
    pub(super) fn of(producers: &[&Sites]) -> Result<Option<Self>> {
        let others: BTreeSet<GroupId> =
            producers.iter().flat_map(|sites| sites.others().iter().copied()).collect();
        let Some(sites) = producers.first() else { return Ok(None) };
        let (peers, reader) = sites.peers()?;
        let groups = std::iter::once(peers.here()).chain(others).collect();
        Ok(Some(Self { groups, peers: Arc::clone(peers), reader: reader.clone() }))
    }

    /// A new name for rows that they have together.
    pub(crate) fn exchange_id(&self) -> ExchangeId {
        ExchangeId { coordinator: self.peers.here(), number: self.peers.transaction_id().number }
    }

    /// What people call them.
    pub(crate) fn names(&self) -> Vec<String> {
        self.groups.iter().map(|group| self.peers.server_name(*group)).collect()
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

    /// Whether rows of one partition on one server and those of another one never have the same key, where they are dealt
    /// out by it.
    pub(super) fn are_dealt(&self) -> bool {
        match self {
            Self::Owners(owners) => owners.scans.len() > 1,
            Self::Participants(_) => true,
        }
    }

    /// What people call a server.
    fn name_of(&self, group: GroupId) -> String {
        match self {
            Self::Owners(owners) => owners.scans[0].server(group),
            Self::Participants(participants) => participants.peers.server_name(group),
        }
    }

    /// A fragment on each of the servers: as it is on this one, and what comes from the others.
    pub(super) fn each(
        &self,
        fragment: &Arc<dyn ExecutionPlan>,
    ) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
        self.asking(fragment, Gathering::PUSH, usize::MAX)
    }

    /// The rows of a fragment on all of the servers. Where they become less on their way, nobody hears from more than
    /// `fan_in` others.
    pub(super) fn everywhere(
        &self,
        fragment: Arc<dyn ExecutionPlan>,
        gathering: Gathering,
        fan_in: usize,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let is_tree = self.is_of_one_scan() && forward::is_reducible(&fragment)?;
        let fan_in = if is_tree { fan_in } else { usize::MAX };
        // Who merges rows by their order waits for one server, whoever's turn it is.
        let is_merged = order_of(&fragment)?.is_some();
        let gathering = if is_merged { Gathering::PUSH } else { gathering };
        let parts = self.asking(&fragment, gathering, fan_in)?;
        match parts.len() {
            1 => Ok(fragment),
            _ => UnionExec::try_new(parts),
        }
    }

    /// A fragment on this server, and on the others, so that nobody asks more than `fan_in`.
    fn asking(
        &self,
        fragment: &Arc<dyn ExecutionPlan>,
        gathering: Gathering,
        fan_in: usize,
    ) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
        let mut parts = vec![Arc::clone(fragment)];
        let branches = tree::branches(self.others().len(), fan_in);
        let turns = turns(gathering, branches.len());
        for branch in branches {
            let site = Site { sites: self.clone(), branch, fan_in };
            let part = RemoteFragment::new(Arc::clone(fragment), site, turns.clone())?;
            parts.push(Arc::new(part));
        }
        Ok(parts)
    }

    fn is_of_one_scan(&self) -> bool {
        matches!(self, Self::Owners(owners) if owners.scans.len() == 1)
    }
}

/// One of the others, and those that it asks in turn.
#[derive(Clone)]
pub(super) struct Site {
    sites: Sites,
    /// Places among the others; the first is the one that is asked.
    branch: Range<usize>,
    /// How many others a server may ask, at most.
    fan_in: usize,
}

impl Site {
    /// Who is asked.
    pub(super) fn group(&self) -> GroupId {
        self.sites.others()[self.branch.start]
    }

    /// The other servers, and as whom this one is asked.
    pub(super) fn peers(&self) -> Result<(&Arc<dyn Peers>, &Reader)> {
        self.sites.peers()
    }

    /// Its rows of what each scan of a fragment reads, and how often they will have been sent on.
    pub(super) fn ranges(&self) -> Result<Vec<(Vec<KeyRange>, u8)>> {
        match &self.sites {
            Sites::Owners(owners) => {
                let scans = owners.scans.iter();
                scans.map(|scan| Ok((self.ranges_of(scan), scan.next_hop()?))).collect()
            }
            Sites::Participants(_) => Ok(Vec::new()),
        }
    }

    /// It, and those that it asks.
    pub(super) fn branch(&self) -> Branch<'_> {
        Branch { servers: &self.sites.others()[self.branch.clone()], fan_in: self.fan_in }
    }

    /// Whether this server was taken for the owner of its rows.
    pub(super) fn is_misdirected(&self) -> bool {
        matches!(&self.sites, Sites::Owners(owners) if owners.scans[0].is_forwarded())
    }

    fn ranges_of(&self, scan: &Elsewhere) -> Vec<KeyRange> {
        scan.ranges_of_all(self.branch().servers)
    }

    /// Whose the rows are of the one scan of a fragment, if it has no other input.
    pub(super) fn elsewhere(&self) -> Option<&Elsewhere> {
        match &self.sites {
            Sites::Owners(owners) if owners.scans.len() == 1 => owners.scans.first(),
            Sites::Owners(_) | Sites::Participants(_) => None,
        }
    }

    /// What it and those that it asks have of what is read; nothing where rows are dealt out to them.
    pub(super) fn rows(&self) -> String {
        let Sites::Owners(owners) = &self.sites else { return String::new() };
        let rows = owners.scans.iter().map(|scan| scan.rows_of(&self.ranges_of(scan)));
        rows.collect::<Vec<_>>().join(" and ")
    }

    /// What people call it, and those that it asks.
    pub(super) fn names(&self) -> Vec<String> {
        self.branch().servers.iter().map(|group| self.sites.name_of(*group)).collect()
    }

    /// Its place among the servers that rows are dealt out to.
    pub(super) fn consumer(&self) -> usize {
        match &self.sites {
            Sites::Owners(_) => 0,
            Sites::Participants(_) => self.branch.start + 1,
        }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.names().as_slice() {
            [name] => write!(f, "server={name}")?,
            names => write!(f, "servers=[{}]", names.join(", "))?,
        }
        if let Sites::Owners(owners) = &self.sites {
            for scan in &owners.scans {
                write!(f, ", ranges={}", scan.shown(&self.ranges_of(scan)))?;
            }
        }
        Ok(())
    }
}
