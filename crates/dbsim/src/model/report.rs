//! The report of a simulation: total time and its breakdown.

use super::machine::{Machine, Phase};
use crate::engine::{Category, Outcome, Times};

/// Seconds by category.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Seconds {
    /// Reading tables.
    pub io: f64,
    /// Writing and reading spilled data.
    pub spill: f64,
    /// Processing of operators.
    pub compute: f64,
    /// Exchanges: sending messages and combining the received data.
    pub communication: f64,
    /// Waiting for a slower site.
    pub idle: f64,
}

/// An executed bundle.
#[derive(Debug, Clone, PartialEq)]
pub struct BundleReport {
    /// Its operators, topmost first.
    pub operators: String,
    /// Elapsed time.
    pub seconds: f64,
    /// The breakdown at the slowest site of each phase.
    pub breakdown: Seconds,
    /// The breakdown at each site; the central unit is last.
    pub sites: Vec<Seconds>,
}

/// A simulated execution of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Elapsed time.
    pub seconds: f64,
    /// The breakdown at the slowest site of each phase.
    pub breakdown: Seconds,
    /// The bundles in execution order.
    pub bundles: Vec<BundleReport>,
    /// Number of simulated events.
    pub events: u64,
}

impl Seconds {
    /// The sum of all categories.
    pub fn total(&self) -> f64 {
        self.io + self.spill + self.compute + self.communication + self.idle
    }

    fn times(self, times: f64) -> Self {
        Self {
            io: self.io * times,
            spill: self.spill * times,
            compute: self.compute * times,
            communication: self.communication * times,
            idle: self.idle * times,
        }
    }

    fn add(&mut self, other: &Self) {
        self.io += other.io;
        self.spill += other.spill;
        self.compute += other.compute;
        self.communication += other.communication;
        self.idle += other.idle;
    }

    /// Divides a period in proportion to the time of its chunks, whose categories overlap when
    /// several chunks are in progress.
    fn of(stretch: f64, breakdown: &Times) -> Self {
        let total = breakdown.total().seconds();
        if total == 0.0 {
            return Self { idle: stretch, ..Self::default() };
        }
        let part = |category| stretch * breakdown.of(category).seconds() / total;
        Self {
            io: part(Category::Io),
            spill: part(Category::Spill),
            compute: part(Category::Compute),
            communication: part(Category::Communication),
            idle: 0.0,
        }
    }
}

/// Runs the phases of the machine.
pub(super) fn report(machine: &mut Machine<'_>, labels: Vec<String>) -> Report {
    let outcomes = machine.network.run();
    let sites = vec![Seconds::default(); machine.sites.len()];
    let empty = |operators| BundleReport {
        operators,
        seconds: 0.0,
        breakdown: Seconds::default(),
        sites: sites.clone(),
    };
    let mut bundles: Vec<BundleReport> = labels.into_iter().map(empty).collect();
    for phase in &machine.phases {
        add_phase(&mut bundles[phase.bundle], phase, &outcomes);
    }
    let mut breakdown = Seconds::default();
    bundles.iter().for_each(|bundle| breakdown.add(&bundle.breakdown));
    let seconds = bundles.iter().map(|bundle| bundle.seconds).sum();
    Report { seconds, breakdown, bundles, events: machine.network.events() }
}

fn add_phase(bundle: &mut BundleReport, phase: &Phase, outcomes: &[Outcome]) {
    let at = |flow: crate::engine::FlowId| outcomes[flow.index()].ended.seconds();
    let (begin, computed, end) = (at(phase.begin), at(phase.computed), at(phase.end));
    let exchanged = Seconds { communication: end - computed, ..Seconds::default() };
    let exchanged = exchanged.times(phase.times);
    let mut working = vec![false; bundle.sites.len()];
    for (site, flow) in &phase.shares {
        let outcome = &outcomes[flow.index()];
        let mut share = Seconds::of(outcome.ended.seconds() - begin, &outcome.breakdown);
        share.idle += computed - outcome.ended.seconds();
        bundle.sites[*site].add(&share.times(phase.times));
        working[*site] = true;
    }
    let slowest = phase.shares.iter().max_by_key(|(_, flow)| outcomes[flow.index()].ended);
    if let Some((_, flow)) = slowest {
        let breakdown = Seconds::of(computed - begin, &outcomes[flow.index()].breakdown);
        bundle.breakdown.add(&breakdown.times(phase.times));
    }
    for (site, seconds) in bundle.sites.iter_mut().enumerate() {
        if !working[site] {
            seconds.idle += (computed - begin) * phase.times;
        }
        seconds.add(&exchanged);
    }
    bundle.breakdown.add(&exchanged);
    bundle.seconds += (end - begin) * phase.times;
}
