//! A network of stations, and the flows through it.
//!
//! Flows form an acyclic graph: a flow can only wait for flows that were added before it.
//! [`Network::run`] asserts that every chunk completes every step.

use super::flow::{Arrivals, Flow, FlowId, Outcome, Step};
use super::{Calendar, Random, Station, StationId, Time};
use crate::hardware::Disk;
use std::collections::VecDeque;

/// Stations and flows, to be run once.
#[derive(Debug)]
pub struct Network {
    stations: Vec<Station<ChunkStep>>,
    flows: Vec<Running>,
    calendar: Calendar<Event>,
    random: Random,
    /// Flows whose prerequisites have ended.
    ready: VecDeque<FlowId>,
}

/// A chunk at a step.
#[derive(Debug, Clone, Copy)]
struct ChunkStep {
    flow: FlowId,
    chunk: usize,
    step: usize,
    since: Time,
}

#[derive(Debug)]
enum Event {
    /// A chunk arrives from outside.
    Arrives(FlowId),
    /// A station has served a chunk.
    Served(StationId, ChunkStep),
    /// A chunk's delay has passed.
    Waited(ChunkStep),
}

#[derive(Debug)]
struct Running {
    flow: Flow,
    outcome: Outcome,
    /// Prerequisites that have not ended.
    missing: usize,
    /// Flows that wait for this one.
    followers: Vec<FlowId>,
    launched: usize,
    done: usize,
}

impl Network {
    /// An empty network with a seed for its random numbers.
    pub fn new(seed: u64) -> Self {
        Self {
            stations: Vec::new(),
            flows: Vec::new(),
            calendar: Calendar::default(),
            random: Random::new(seed),
            ready: VecDeque::new(),
        }
    }

    /// Adds a station that serves `channels` chunks at a time.
    pub fn station(&mut self, channels: usize) -> StationId {
        self.stations.push(Station::new(channels));
        StationId(self.stations.len() - 1)
    }

    /// Adds a disk.
    pub fn disk(&mut self, disk: Disk) -> StationId {
        self.stations.push(Station::disk(disk));
        StationId(self.stations.len() - 1)
    }

    /// Adds a flow.
    ///
    /// # Panics
    /// If it waits for a flow that was not added before.
    pub fn flow(&mut self, mut flow: Flow) -> FlowId {
        let id = FlowId(self.flows.len());
        if flow.steps.is_empty() {
            flow.chunks = 0;
        }
        for before in &flow.after {
            assert!(before.0 < id.0, "flows wait for earlier ones");
            self.flows[before.0].followers.push(id);
        }
        let missing = flow.after.len();
        let outcome = Outcome::default();
        self.flows.push(Running {
            flow,
            outcome,
            missing,
            followers: Vec::new(),
            launched: 0,
            done: 0,
        });
        id
    }

    /// Number of events.
    pub fn events(&self) -> u64 {
        self.calendar.noted()
    }

    /// Runs all flows and returns their outcomes.
    pub fn run(&mut self) -> Vec<Outcome> {
        let first = (0..self.flows.len()).map(FlowId);
        self.ready = first.filter(|flow| self.flows[flow.0].missing == 0).collect();
        self.begin_ready();
        while let Some(event) = self.calendar.take() {
            match event {
                Event::Arrives(flow) => self.launch(flow),
                Event::Served(station, chunk_step) => {
                    if let Some(next) = self.stations[station.0].leave() {
                        self.serve(station, next);
                    }
                    self.step_done(chunk_step);
                }
                Event::Waited(chunk_step) => self.step_done(chunk_step),
            }
            self.begin_ready();
        }
        let done = |running: &Running| running.done == running.flow.chunks && running.missing == 0;
        assert!(self.flows.iter().all(done), "every flow ends");
        self.flows.iter().map(|running| running.outcome).collect()
    }

    fn begin_ready(&mut self) {
        while let Some(id) = self.ready.pop_front() {
            let running = &mut self.flows[id.0];
            running.outcome.began = self.calendar.now();
            running.outcome.ended = self.calendar.now();
            let chunks = running.flow.chunks;
            match running.flow.arrivals {
                _ if chunks == 0 => self.end(id),
                Arrivals::Window(window) => {
                    (0..window.clamp(1, chunks)).for_each(|_| self.launch(id))
                }
                Arrivals::Poisson(mean) => self.arrive_later(id, mean),
            }
        }
    }

    fn arrive_later(&mut self, id: FlowId, mean: Time) {
        let gap = self.random.exponential(mean.seconds());
        self.calendar.note(Time::from_seconds(gap), Event::Arrives(id));
    }

    fn launch(&mut self, id: FlowId) {
        let running = &mut self.flows[id.0];
        let chunk = running.launched;
        running.launched += 1;
        if let Arrivals::Poisson(mean) = running.flow.arrivals
            && running.launched < running.flow.chunks
        {
            self.arrive_later(id, mean);
        }
        self.enter(ChunkStep { flow: id, chunk, step: 0, since: self.calendar.now() });
    }

    /// A chunk begins a step.
    fn enter(&mut self, chunk_step: ChunkStep) {
        let station = match &self.flows[chunk_step.flow.0].flow.steps[chunk_step.step] {
            Step::Serve { station, .. } => *station,
            Step::Disk { first, disks, .. } => first.next(chunk_step.chunk % disks),
            Step::Wait { time, .. } => return self.calendar.note(*time, Event::Waited(chunk_step)),
        };
        if let Some(chunk_step) = self.stations[station.0].arrive(chunk_step) {
            self.serve(station, chunk_step);
        }
    }

    fn serve(&mut self, station: StationId, chunk_step: ChunkStep) {
        let time = match &self.flows[chunk_step.flow.0].flow.steps[chunk_step.step] {
            Step::Serve { time, .. } | Step::Wait { time, .. } => *time,
            Step::Disk { access, .. } => {
                let stream = ((chunk_step.flow.0 as u64) << 8) | chunk_step.step as u64;
                let progress =
                    chunk_step.chunk as f64 / self.flows[chunk_step.flow.0].flow.chunks as f64;
                self.stations[station.0].access(access, stream, progress, &mut self.random)
            }
        };
        self.calendar.note(time, Event::Served(station, chunk_step));
    }

    fn step_done(&mut self, chunk_step: ChunkStep) {
        let now = self.calendar.now();
        let running = &mut self.flows[chunk_step.flow.0];
        let category = running.flow.steps[chunk_step.step].category();
        running.outcome.breakdown.add(category, now - chunk_step.since);
        if chunk_step.step + 1 < running.flow.steps.len() {
            return self.enter(ChunkStep { step: chunk_step.step + 1, since: now, ..chunk_step });
        }
        running.done += 1;
        running.outcome.ended = now;
        let more = running.launched < running.flow.chunks;
        if running.done == running.flow.chunks {
            self.end(chunk_step.flow);
        } else if more && matches!(running.flow.arrivals, Arrivals::Window(_)) {
            self.launch(chunk_step.flow);
        }
    }

    fn end(&mut self, id: FlowId) {
        for follower in std::mem::take(&mut self.flows[id.0].followers) {
            let running = &mut self.flows[follower.0];
            running.missing -= 1;
            if running.missing == 0 {
                self.ready.push_back(follower);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Category;

    fn serve(station: StationId, seconds: f64) -> Step {
        let category = Category::Compute;
        Step::Serve { station, time: Time::from_seconds(seconds), category }
    }

    fn flow(chunks: usize, window: usize, steps: Vec<Step>) -> Flow {
        Flow { after: Vec::new(), chunks, arrivals: Arrivals::Window(window), steps }
    }

    /// Ten chunks through two stations of 1 s and 2 s: one at a time takes the sum, two at a time
    /// the slower station alone.
    #[test]
    fn a_window_of_two_hides_the_faster_station() {
        for (window, expected) in [(1, 30.0), (2, 21.0), (3, 21.0)] {
            let mut network = Network::new(1);
            let stations = [network.station(1), network.station(1)];
            let steps = vec![serve(stations[0], 1.0), serve(stations[1], 2.0)];
            let id = network.flow(flow(10, window, steps));
            assert_eq!(network.run()[id.0].ended.seconds(), expected, "{window} under way");
        }
    }

    #[test]
    fn flows_share_a_station_and_wait_for_each_other() {
        let mut network = Network::new(1);
        let station = network.station(1);
        let first = network.flow(flow(4, 1, vec![serve(station, 1.0)]));
        let second = network.flow(flow(4, 1, vec![serve(station, 1.0)]));
        let barrier = network.flow(Flow::barrier(vec![first, second]));
        let after = Flow { after: vec![barrier], ..flow(1, 1, vec![serve(station, 1.0)]) };
        let last = network.flow(after);
        let outcomes = network.run();
        assert_eq!(outcomes[first.0].ended.seconds(), 7.0);
        assert_eq!(outcomes[second.0].ended.seconds(), 8.0);
        assert_eq!(outcomes[second.0].breakdown.total().seconds(), 8.0, "waiting counts");
        assert_eq!(
            (outcomes[last.0].began.seconds(), outcomes[last.0].ended.seconds()),
            (8.0, 9.0)
        );
    }

    /// Pollaczek-Khinchine formula: the mean wait for a constant service time `d` at load `r` is `d
    /// r / 2 (1 - r)`.
    #[test]
    fn a_queue_with_random_arrivals_waits_as_the_formula_says() {
        const CHUNKS: usize = 400_000;
        for load in [0.3, 0.5, 0.8] {
            let mut network = Network::new(7);
            let station = network.station(1);
            let gap = Time::from_seconds(0.01 / load);
            let arrivals = Arrivals::Poisson(gap);
            let id = network.flow(Flow { arrivals, ..flow(CHUNKS, 1, vec![serve(station, 0.01)]) });
            let breakdown = network.run()[id.0].breakdown.total().seconds();
            let wait = breakdown / CHUNKS as f64 - 0.01;
            let expected = 0.01 * load / (2.0 * (1.0 - load));
            assert!((wait / expected - 1.0).abs() < 0.03, "load {load}: {wait} for {expected}");
        }
    }

    #[test]
    fn several_channels_serve_several_at_a_time() {
        let mut network = Network::new(1);
        let station = network.station(4);
        let id = network.flow(flow(8, 8, vec![serve(station, 1.0)]));
        assert_eq!(network.run()[id.0].ended.seconds(), 2.0);
    }
}
