//! An architecture: sites with processors, memory and storage, a network, and optionally a central
//! unit.

use super::field::{COUNT_MAX, count, positive};
use super::{Bus, Disk, Interconnect, KIB, Link, MIB, Pool, Processor};
use crate::Error;
use serde::Deserialize;

/// A hardware architecture.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// The name.
    pub name: String,
    /// A description in one sentence, with its source.
    pub about: String,
    /// How the sites cooperate.
    pub kind: Arrangement,
    /// Number of hosts, smart disks or servers with tables, all alike.
    #[serde(deserialize_with = "count")]
    pub sites: usize,
    /// Groups of sites, each with a sub-coordinator; 1 for no groups.
    #[serde(deserialize_with = "count")]
    pub groups: usize,
    /// Page size in KiB: the unit of a storage request.
    #[serde(deserialize_with = "positive")]
    pub page_kb: f64,
    /// Outstanding storage requests of a site; 1 is synchronous reading.
    #[serde(deserialize_with = "count")]
    pub outstanding: usize,
    /// A host, smart disk or server.
    pub site: Site,
    /// The processor of a coordinator without tables; if there is none, the first site coordinates.
    pub central: Option<Processor>,
    /// The network between the sites.
    pub network: Option<Link>,
}

/// How sites cooperate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrangement {
    /// One host.
    SingleHost,
    /// Hosts with disks; joins replicate the smaller side (E3).
    Cluster,
    /// Disks with processors and a central unit; joins replicate the smaller side (E3).
    SmartDisk,
    /// Pando's servers: tables in memory, joins hash-partition both sides.
    Pando,
}

/// A host, a smart disk or a server.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// Memory for operators and intermediate results, in MiB.
    #[serde(deserialize_with = "positive")]
    pub memory_mb: f64,
    /// The processor.
    pub processor: Processor,
    /// Number of disks; 0 if tables are in memory.
    pub disks: usize,
    /// The kind of disk.
    pub disk: Option<Disk>,
    /// The connection of the disks to the memory; none if the processor is on the disk.
    pub interconnect: Option<Interconnect>,
    /// Main memory that stores tables.
    pub bus: Option<Bus>,
    /// Memory of other machines that stores tables.
    pub pool: Option<Pool>,
}

impl Architecture {
    /// Checks constraints between fields. An error is the offending key and a message.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        let site = &self.site;
        let homes = [site.disk.is_some(), site.bus.is_some(), site.pool.is_some()];
        let together = self.sites + usize::from(self.central.is_some());
        if homes.iter().filter(|home| **home).count() != 1 {
            return Err(("[site", "a site needs exactly one of disk, bus and pool".to_owned()));
        }
        if site.disk.is_some() != (site.disks > 0) || site.disks > COUNT_MAX {
            return Err(("disks", format!("{} disks do not match [site.disk]", site.disks)));
        }
        if together > 1 && self.network.is_none() {
            return Err(("sites", format!("{together} machines need a [network]")));
        }
        if self.kind == Arrangement::SingleHost && together > 1 {
            return Err(("sites", format!("a single host has one machine, not {together}")));
        }
        if self.groups > self.sites {
            return Err(("groups", format!("{} groups for {} sites", self.groups, self.sites)));
        }
        Ok(())
    }

    /// Page size in bytes.
    pub fn page_bytes(&self) -> f64 {
        self.page_kb * KIB
    }

    /// Memory of a site in bytes.
    pub fn memory_bytes(&self) -> f64 {
        self.site.memory_mb * MIB
    }

    /// Storage capacity of all sites, in GB.
    pub fn capacity_gb(&self) -> f64 {
        let site = &self.site;
        let disks = site.disk.map(|disk| disk.capacity_gb * (site.disks * self.sites) as f64);
        let bus = site.bus.map(|bus| bus.capacity_gb * self.sites as f64);
        disks.or(bus).or(site.pool.map(|pool| pool.capacity_gb)).unwrap_or(0.0)
    }

    /// Whether joins hash-partition both sides instead of replicating the smaller one.
    pub fn hash_partitions(&self) -> bool {
        self.kind == Arrangement::Pando
    }

    /// Sets the total number of disks: a smart disk is one, hosts share them evenly.
    ///
    /// # Errors
    /// [`Error::Setting`] if the architecture has no disks, or the hosts cannot share them evenly.
    pub fn with_disks(mut self, disks: usize) -> Result<Self, Error> {
        let wrong = |message: String| Error::Setting { setting: format!("disks={disks}"), message };
        if self.site.disk.is_none() {
            return Err(wrong(format!("{} stores its tables in memory", self.name)));
        }
        if !(1..=COUNT_MAX).contains(&disks) {
            return Err(wrong(format!("the number must be from 1 to {COUNT_MAX}")));
        }
        if self.kind == Arrangement::SmartDisk {
            self.sites = disks;
            self.groups = self.groups.min(disks);
        } else if disks.is_multiple_of(self.sites) {
            self.site.disks = disks / self.sites;
        } else {
            return Err(wrong(format!(
                "the number must be a multiple of the {} hosts",
                self.sites
            )));
        }
        Ok(self)
    }
}
