//! The stations of an architecture.

use super::work::Place;
use crate::engine::{FlowId, Network, StationId};
use crate::hardware::Processor;
use crate::{Architecture, Coefficients};

/// An architecture as stations, and the phases that it will run.
#[derive(Debug)]
pub(super) struct Machine<'a> {
    pub(super) architecture: &'a Architecture,
    pub(super) coefficients: &'a Coefficients,
    pub(super) network: Network,
    pub(super) sites: Vec<Site>,
    pub(super) phases: Vec<Phase>,
}

/// The stations of a site.
#[derive(Debug, Clone)]
pub(super) struct Site {
    pub(super) processor: Processor,
    pub(super) cores: StationId,
    pub(super) disks: StationId,
    pub(super) interconnect: StationId,
    pub(super) memory: StationId,
    pub(super) link_out: StationId,
    pub(super) link_in: StationId,
}

/// A phase as it was put into the network.
#[derive(Debug)]
pub(super) struct Phase {
    pub(super) bundle: usize,
    pub(super) begin: FlowId,
    /// Sites and their shares.
    pub(super) shares: Vec<(usize, FlowId)>,
    /// All shares are done.
    pub(super) computed: FlowId,
    /// So is the exchange.
    pub(super) end: FlowId,
    /// How often it takes place, each time as long: it is simulated once.
    pub(super) times: f64,
}

impl<'a> Machine<'a> {
    pub(super) fn new(
        architecture: &'a Architecture,
        coefficients: &'a Coefficients,
        seed: u64,
    ) -> Self {
        let mut network = Network::new(seed);
        let holders = (0..architecture.sites).map(|_| architecture.site.processor);
        let processors: Vec<Processor> = holders.chain(architecture.central).collect();
        let sites = processors.iter().map(|processor| site(&mut network, architecture, processor));
        let sites = sites.collect();
        Self { architecture, coefficients, network, sites, phases: Vec::new() }
    }

    /// The site that coordinates: the central unit, or the first.
    pub(super) fn coordinator(&self) -> usize {
        if self.architecture.central.is_some() { self.architecture.sites } else { 0 }
    }

    /// The sites of a place.
    pub(super) fn sites_of(&self, place: Place) -> Vec<usize> {
        match place {
            Place::Sites => (0..self.architecture.sites).collect(),
            Place::Coordinator => vec![self.coordinator()],
        }
    }
}

/// Adds a site's stations. Those that the hardware does not have are never visited.
fn site(network: &mut Network, architecture: &Architecture, processor: &Processor) -> Site {
    let cores = network.station(processor.cores);
    let interconnect = network.station(1);
    // A bus is shared by all cores; each core has its own loads from a pool under way.
    let pooled = architecture.site.pool.is_some();
    let memory = network.station(if pooled { processor.cores } else { 1 });
    let (link_out, link_in) = (network.station(1), network.station(1));
    let disks = architecture.site.disk.map(|disk| {
        let disks: Vec<_> = (0..architecture.site.disks).map(|_| network.disk(disk)).collect();
        disks[0]
    });
    let disks = disks.unwrap_or(interconnect);
    Site { processor: *processor, cores, disks, interconnect, memory, link_out, link_in }
}
