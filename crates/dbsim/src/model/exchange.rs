//! What sites send each other at the end of a phase (E3, E4).
//!
//! Nested loops and merges replicate a table directly: every site sends its part to every other. A hash join's local tables
//! are combined to a global one at the coordinator, which sends it to all; with groups of sites (E4) sub-coordinators combine and
//! pass on for their members. Partial groups go to the coordinator where they are few, else they are dealt out by key,
//! as Pando deals out both sides of a join. What is sent are pages, of which a pair of sites has as many under way as a site
//! has requests of storage.

use super::machine::Machine;
use crate::engine::{Arrivals, Category, Flow, FlowId, Step, Time};

/// Chunks of what one site sends another at most; a chunk stands for several messages then.
const CHUNKS_MAX: usize = 64;
/// Bytes of a bundle's description, and of the notice that a site has done it.
const BUNDLE_BYTES: f64 = 1024.0;
/// The notice.
const DONE_BYTES: f64 = 64.0;

/// What is exchanged, of all sites together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Exchange {
    /// Nothing.
    Nothing,
    /// A bundle goes to all sites and each says when it is done.
    Dispatch,
    /// Every site gets everything.
    Replicate { bytes: f64 },
    /// The coordinator gets and combines everything, and has so many bytes of each group of sites then.
    Gather { bytes: f64, group_bytes: f64, cycles: f64 },
    /// That, and all sites get the result.
    Combine { bytes: f64, cycles: f64 },
    /// All sites get what the coordinator has.
    Broadcast { bytes: f64 },
    /// Every site gets the rows of its keys.
    HashPartition { bytes: f64 },
}

/// The sender and the receiver of a message, by site.
#[derive(Debug, Clone, Copy)]
struct Route {
    from: usize,
    to: usize,
}

impl Machine<'_> {
    /// Adds an exchange; the flow that ends with it.
    pub(super) fn exchange(&mut self, exchange: &Exchange, after: FlowId) -> FlowId {
        match *exchange {
            Exchange::Nothing => after,
            Exchange::Dispatch => {
                let told = self.broadcast(BUNDLE_BYTES, 0.0, after);
                self.gather(DONE_BYTES, DONE_BYTES, 0.0, told)
            }
            Exchange::Replicate { bytes } => {
                let part = bytes / self.architecture.sites as f64;
                self.all_to_all(part, after)
            }
            Exchange::Gather { bytes, group_bytes, cycles } => {
                let part = bytes / self.architecture.sites as f64;
                self.gather(part, group_bytes, cycles, after)
            }
            Exchange::Combine { bytes, cycles } => {
                let part = bytes / self.architecture.sites as f64;
                let group_bytes = bytes / self.architecture.groups as f64;
                let combined = self.gather(part, group_bytes, cycles, after);
                self.exchange(&Exchange::Broadcast { bytes }, combined)
            }
            Exchange::Broadcast { bytes } => {
                let copied = self.coefficients.store.byte * bytes;
                self.broadcast(bytes, copied, after)
            }
            Exchange::HashPartition { bytes } => {
                let sites = self.architecture.sites as f64;
                self.all_to_all(bytes / (sites * sites), after)
            }
        }
    }

    /// Every site sends every other so many bytes: first its neighbour, so that not all begin with the same.
    fn all_to_all(&mut self, bytes: f64, after: FlowId) -> FlowId {
        let sites = self.architecture.sites;
        let pairs = (sites..sites * sites).map(|pair| (pair % sites, pair / sites));
        let sent = pairs.map(|(from, further)| {
            let to = (from + further) % sites;
            self.send(Route { from, to }, bytes, 0.0, vec![after])
        });
        let sent = sent.collect();
        self.joined(sent, after)
    }

    /// Each site's part goes to the coordinator, over sub-coordinators where there are groups, who then send so many bytes.
    /// Whoever receives parts combines them; the coordinator has only the groups' left to put together.
    fn gather(&mut self, part: f64, group_bytes: f64, cycles: f64, after: FlowId) -> FlowId {
        let (center, groups) = (self.coordinator(), self.groups());
        let share = cycles / self.architecture.sites as f64;
        let mut sent = Vec::new();
        for members in groups {
            let sub = if self.architecture.groups == 1 { center } else { members[0] };
            let to_sub = members
                .iter()
                .map(|from| self.send(Route { from: *from, to: sub }, part, share, vec![after]));
            let to_sub: Vec<_> = to_sub.collect();
            if sub == center {
                sent.extend(to_sub);
            } else {
                let copied = self.coefficients.store.byte * group_bytes;
                sent.push(self.send(Route { from: sub, to: center }, group_bytes, copied, to_sub));
            }
        }
        self.joined(sent, after)
    }

    /// The coordinator sends the same bytes to all, over sub-coordinators where there are groups.
    fn broadcast(&mut self, bytes: f64, cycles: f64, after: FlowId) -> FlowId {
        let (center, groups) = (self.coordinator(), self.groups());
        let mut sent = Vec::new();
        for members in groups {
            let grouped = self.architecture.groups > 1;
            let (sub, before) = if grouped {
                (
                    members[0],
                    self.send(Route { from: center, to: members[0] }, bytes, cycles, vec![after]),
                )
            } else {
                (center, after)
            };
            let others = members.iter().filter(|member| !(grouped && **member == sub));
            let to: Vec<_> = others.copied().collect();
            sent.push(before);
            sent.extend(
                to.iter()
                    .map(|to| self.send(Route { from: sub, to: *to }, bytes, cycles, vec![before])),
            );
        }
        self.joined(sent, after)
    }

    /// Sites by group, as even as they can be.
    fn groups(&self) -> Vec<Vec<usize>> {
        let (sites, groups) = (self.architecture.sites, self.architecture.groups);
        let group = |group: usize| group * sites / groups..(group + 1) * sites / groups;
        (0..groups).map(|index| group(index).collect()).collect()
    }

    fn joined(&mut self, flows: Vec<FlowId>, after: FlowId) -> FlowId {
        if flows.is_empty() { after } else { self.network.flow(Flow::barrier(flows)) }
    }

    /// Bytes from one site to another, which then works so many cycles on them. Who sends to itself only works.
    fn send(
        &mut self,
        Route { from, to }: Route,
        bytes: f64,
        cycles: f64,
        after: Vec<FlowId>,
    ) -> FlowId {
        let messages = (bytes / self.architecture.page_bytes()).ceil().max(1.0);
        let chunks = (messages as usize).min(CHUNKS_MAX);
        let (part, share) = (bytes / chunks as f64, cycles / chunks as f64);
        let message = self.coefficients.message.cycles(messages / chunks as f64, part);
        let steps = match self.architecture.network {
            Some(link) if from != to => {
                let machines = self.sites.len();
                let latency = link.latency(link.topology.hops(machines, from, to));
                let transfer = Time::from_seconds(link.transfer(part));
                let category = Category::Communication;
                let link = |station| Step::Serve { station, time: transfer, category };
                vec![
                    self.work_on(from, message),
                    link(self.sites[from].link_out),
                    Step::Wait { time: Time::from_seconds(latency), category },
                    link(self.sites[to].link_in),
                    self.work_on(to, message + share),
                ]
            }
            _ => vec![self.work_on(to, share)],
        };
        let arrivals = Arrivals::Window(self.architecture.outstanding);
        self.network.flow(Flow { after, chunks, arrivals, steps })
    }

    fn work_on(&self, site: usize, cycles: f64) -> Step {
        let site = &self.sites[site];
        let time = Time::from_seconds(site.processor.seconds(cycles));
        Step::Serve { station: site.cores, time, category: Category::Communication }
    }
}
