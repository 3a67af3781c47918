//! The servers that run a fragment.

use crate::wire::output::Branch;
use datafusion::common::Result;
use scan::places::Elsewhere;
use sdds::{KeyRange, ServerId};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use store::{ExchangeId, Peers, Reader};

/// The servers that run a fragment, and what each of them reads.
#[derive(Clone)]
pub(crate) enum Sites {
    /// The owners of the rows of a table, or of several colocated tables: each reads its own rows.
    Owners(Arc<Owners>),
    /// Servers among which rows are hash-partitioned: each reads its parts.
    Participants(Arc<Participants>),
}

/// The owners of what scans read.
pub(crate) struct Owners {
    /// Other servers that own some of it.
    servers: Vec<ServerId>,
    /// The ranges of each scan by owner; at least one scan.
    pub(crate) scans: Vec<Elsewhere>,
}

/// Servers among which rows are hash-partitioned, or that store the rows of a fragment.
pub(crate) struct Participants {
    /// This server first.
    pub(crate) servers: Vec<ServerId>,
    pub(crate) peers: Arc<dyn Peers>,
    reader: Reader,
}

impl Participants {
    /// This server, and all others that run one of the fragments that produce the rows; `None`
    /// without a fragment.
    pub(crate) fn of(producers: &[&Sites]) -> Result<Option<Self>> {
        let others: BTreeSet<ServerId> =
            producers.iter().flat_map(|sites| sites.others().iter().copied()).collect();
        let Some(sites) = producers.first() else { return Ok(None) };
        let (peers, reader) = sites.peers()?;
        let servers = std::iter::once(peers.here()).chain(others).collect();
        Ok(Some(Self { servers, peers: Arc::clone(peers), reader: reader.clone() }))
    }

    /// A new id for an exchange or for stored rows.
    pub(crate) fn exchange_id(&self) -> ExchangeId {
        ExchangeId { coordinator: self.peers.here(), number: self.peers.transaction_id().number }
    }

    /// Their names.
    pub(crate) fn names(&self) -> Vec<String> {
        self.servers.iter().map(|server| self.peers.server_name(*server)).collect()
    }
}

impl Sites {
    /// The owners of what scans read.
    pub(crate) fn owners(scans: Vec<Elsewhere>) -> Self {
        let servers: BTreeSet<ServerId> = scans.iter().flat_map(Elsewhere::servers).collect();
        Self::Owners(Arc::new(Owners { servers: servers.into_iter().collect(), scans }))
    }

    pub(crate) fn others(&self) -> &[ServerId] {
        match self {
            Self::Owners(owners) => &owners.servers,
            Self::Participants(participants) => &participants.servers[1..],
        }
    }

    /// Number of servers, with this one.
    pub(crate) fn count(&self) -> usize {
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

    /// Whether a hash partitioning of the fragment's rows holds for all servers together: equal
    /// keys are never on two of them.
    pub(crate) fn is_hash_partitioned(&self) -> bool {
        match self {
            Self::Owners(owners) => owners.scans.len() > 1,
            Self::Participants(_) => true,
        }
    }

    /// The name of a server.
    fn name_of(&self, server: ServerId) -> String {
        match self {
            Self::Owners(owners) => owners.scans[0].name_of(server),
            Self::Participants(participants) => participants.peers.server_name(server),
        }
    }

    pub(crate) fn is_of_one_scan(&self) -> bool {
        matches!(self, Self::Owners(owners) if owners.scans.len() == 1)
    }
}

/// One of the other servers, and those that it asks in turn.
#[derive(Clone)]
pub(crate) struct Site {
    sites: Sites,
    /// Positions among the others; the first is asked by this server.
    branch: Range<usize>,
    /// Others that a server asks at most.
    fan_in: usize,
}

impl Site {
    /// The servers at these positions among the others.
    pub(crate) fn new(sites: Sites, branch: Range<usize>, fan_in: usize) -> Self {
        Self { sites, branch, fan_in }
    }

    /// The server that is asked.
    pub(crate) fn server(&self) -> ServerId {
        self.sites.others()[self.branch.start]
    }

    /// The connections to other servers, and the reader on whose behalf this one is asked.
    pub(crate) fn peers(&self) -> Result<(&Arc<dyn Peers>, &Reader)> {
        self.sites.peers()
    }

    /// By scan of the fragment, the ranges that the branch reads, and the number of their hops.
    pub(crate) fn ranges(&self) -> Result<Vec<(Vec<KeyRange>, u8)>> {
        match &self.sites {
            Sites::Owners(owners) => {
                let scans = owners.scans.iter();
                scans.map(|scan| Ok((self.ranges_of(scan), scan.next_hop()?))).collect()
            }
            Sites::Participants(_) => Ok(Vec::new()),
        }
    }

    /// The server and those that it asks.
    pub(crate) fn branch(&self) -> Branch<'_> {
        Branch { servers: &self.sites.others()[self.branch.clone()], fan_in: self.fan_in }
    }

    /// Whether another server sent the fragment here although this server does not own these rows.
    pub(crate) fn is_misdirected(&self) -> bool {
        matches!(&self.sites, Sites::Owners(owners) if owners.scans[0].is_forwarded())
    }

    fn ranges_of(&self, scan: &Elsewhere) -> Vec<KeyRange> {
        scan.ranges_at(self.branch().servers)
    }

    /// The ranges of the fragment's scan, if that is its only input.
    pub(crate) fn elsewhere(&self) -> Option<&Elsewhere> {
        match &self.sites {
            Sites::Owners(owners) if owners.scans.len() == 1 => owners.scans.first(),
            Sites::Owners(_) | Sites::Participants(_) => None,
        }
    }

    /// A description of the rows that the branch reads, for errors; empty for participants.
    pub(crate) fn rows(&self) -> String {
        let Sites::Owners(owners) = &self.sites else { return String::new() };
        let rows = owners.scans.iter().map(|scan| scan.rows_of(&self.ranges_of(scan)));
        rows.collect::<Vec<_>>().join(" and ")
    }

    /// The names of the server and of those that it asks.
    pub(crate) fn names(&self) -> Vec<String> {
        self.branch().servers.iter().map(|server| self.sites.name_of(*server)).collect()
    }

    /// Its position among the participants.
    pub(crate) fn consumer(&self) -> usize {
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
