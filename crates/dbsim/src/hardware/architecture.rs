//! An architecture: sites with processors, memory and storage, a network between them, perhaps a central unit.

use super::field::{COUNT_MAX, count, positive};
use super::{Bus, Disk, Interconnect, KIB, Link, MIB, Pool, Processor};
use crate::Error;
use serde::Deserialize;

/// What runs a query.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// Its name.
    pub name: String,
    /// What it is, in a sentence, with its source.
    pub about: String,
    /// How its sites work together.
    pub kind: Arrangement,
    /// Hosts, smart disks or servers that hold tables, all alike.
    #[serde(deserialize_with = "count")]
    pub sites: usize,
    /// Groups of sites, each with a sub-coordinator; 1 is none.
    #[serde(deserialize_with = "count")]
    pub groups: usize,
    /// KiB of a page: what a request of storage brings.
    #[serde(deserialize_with = "positive")]
    pub page_kb: f64,
    /// Requests of a site that are under way at a time: 1 waits for each page, more work on while pages come.
    #[serde(deserialize_with = "count")]
    pub outstanding: usize,
    /// A host, smart disk or server.
    pub site: Site,
    /// The processor that coordinates and holds no tables; without it the first site coordinates.
    pub central: Option<Processor>,
    /// What joins the sites.
    pub network: Option<Link>,
}

/// How sites work together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrangement {
    /// One host alone.
    SingleHost,
    /// Hosts with disks of their own; joins replicate the smaller side (E3).
    Cluster,
    /// Disks with processors and a central unit; joins replicate the smaller side (E3).
    SmartDisk,
    /// Pando's servers: tables in memory, joins deal both sides out by key.
    Pando,
}

/// A host, a smart disk or a server.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// MiB for operators and intermediate results.
    #[serde(deserialize_with = "positive")]
    pub memory_mb: f64,
    /// What computes.
    pub processor: Processor,
    /// How many disks it has; 0 where tables lie in memory.
    pub disks: usize,
    /// Each of them.
    pub disk: Option<Disk>,
    /// What joins them to the memory; none where the processor sits on the disk.
    pub interconnect: Option<Interconnect>,
    /// Main memory that holds tables.
    pub bus: Option<Bus>,
    /// Memory of other machines that holds tables.
    pub pool: Option<Pool>,
}

impl Architecture {
    /// What no field alone can say; the key that is to blame, and why.
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

    /// Bytes of a page.
    pub fn page_bytes(&self) -> f64 {
        self.page_kb * KIB
    }

    /// Bytes of memory of a site.
    pub fn memory_bytes(&self) -> f64 {
        self.site.memory_mb * MIB
    }

    /// Decimal gigabytes that all sites' storage holds together.
    pub fn capacity_gb(&self) -> f64 {
        let site = &self.site;
        let disks = site.disk.map(|disk| disk.capacity_gb * (site.disks * self.sites) as f64);
        let bus = site.bus.map(|bus| bus.capacity_gb * self.sites as f64);
        disks.or(bus).or(site.pool.map(|pool| pool.capacity_gb)).unwrap_or(0.0)
    }

    /// Whether joins deal both sides out by key instead of replicating the smaller one.
    pub fn hash_partitions(&self) -> bool {
        self.kind == Arrangement::Pando
    }

    /// Gives an architecture this many disks in all: smart disks are one each, hosts share them evenly.
    ///
    /// # Errors
    /// Where the number does not divide, or there are no disks.
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
