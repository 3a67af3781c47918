//! What happens in a simulation, one after another: the file grows, newcomers learn it, and what they have learned is
//! tried.

use super::driver::{Driver, Mix};
use super::figures::{Figures, Messages, Sizes, Window};
use super::parameters::Parameters;
use super::random::Random;
use super::site::END;
use super::world::World;
use crate::directory::Counters;
use crate::{GroupId, KeyRange};
use std::sync::Arc;

/// What a simulation is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Growing: this many buckets by now.
    Growing(u64),
    /// At rest: this many requests of each newcomer by now.
    Resting(u64),
}

/// Requests between two heartbeats of the root group.
const HEARTBEAT_REQUESTS: u64 = 20_000;

/// Requests between two reports of progress.
const PROGRESS_REQUESTS: u64 = 100_000;

/// A window of requests is one part in this many of those before it.
const WINDOW_PART: u64 = 4;

/// The part of a newcomer's requests that is tried again once its image has converged.
const CONVERGED_PART: u64 = 10;

/// A file that has grown and come to rest.
pub struct Grown {
    world: World,
    parameters: Parameters,
    growing: Counters,
    messages: Messages,
}

/// Some newcomers to a file at rest, with the file. At rest clients do not meet: how they are dealt out to parts, and
/// in which order parts run, or at the same time, changes nothing.
pub struct Newcomers {
    world: World,
    parameters: Parameters,
    /// The requests that each has made, and what all of them have cost by then.
    learning: Vec<(u64, Counters)>,
    converged: Counters,
}

impl Grown {
    /// Grows a file while clients work.
    pub fn new(parameters: &Parameters, progress: &mut dyn FnMut(Progress)) -> Self {
        let mut world = World::new(parameters);
        let mut random = Random::new(parameters.seed);
        grow(&mut world, parameters, &mut random, progress);
        let (growing, messages) = (world.counters(), world.messages);
        settle(&mut world, parameters, &mut random);
        Self { world, parameters: *parameters, growing, messages }
    }

    /// Newcomers in the place of the clients, dealt out to so many parts.
    pub fn newcomers(&mut self, parts: usize) -> Vec<Newcomers> {
        let mut drivers = std::mem::take(&mut self.world.drivers);
        let each = drivers.len().div_ceil(parts.max(1));
        let mut newcomers = Vec::new();
        while !drivers.is_empty() {
            let others = drivers.split_off(each.min(drivers.len()));
            newcomers.push(Newcomers {
                world: self.world.with(drivers),
                parameters: self.parameters,
                learning: Vec::new(),
                converged: Counters::default(),
            });
            drivers = others;
        }
        newcomers
    }

    /// What all this has shown.
    pub fn figures(&self, newcomers: &[Newcomers]) -> Figures {
        let sum = |counters: &mut dyn Iterator<Item = Counters>| {
            counters.fold(Counters::default(), |sum, one| sum.plus(&one))
        };
        let learned = |at: usize| sum(&mut newcomers.iter().map(|part| part.learning[at].1));
        let steps = newcomers.iter().map(|part| part.learning.len()).min().unwrap_or(0);
        let mut windows = Vec::new();
        let mut before = Counters::default();
        for at in 0..steps {
            let now = learned(at);
            let forwarded_per_thousand = now.since(&before).forwarded_per_thousand();
            windows.push(Window { requests: newcomers[0].learning[at].0, forwarded_per_thousand });
            before = now;
        }
        Figures {
            growing: self.growing,
            resting: before,
            converged: sum(&mut newcomers.iter().map(|part| part.converged)),
            windows,
            wrong: self.world.wrong + newcomers.iter().map(|part| part.world.wrong).sum::<u64>(),
            keys: self.world.keys.len() as u64,
            buckets: self.world.buckets,
            splits: self.world.splits,
            moves: self.world.moves,
            pages: pages(&self.world),
            messages: self.messages,
            sizes: sizes(&self.world, newcomers),
        }
    }
}

impl Newcomers {
    /// Each makes as many requests as the file has buckets, and some more; the first also counts everything.
    pub fn run(&mut self, progress: &mut dyn FnMut(Progress)) {
        let mix = resting_mix(&self.parameters);
        let buckets = self.parameters.buckets;
        let mut made = 0;
        while made < buckets {
            let more = (made / WINDOW_PART).clamp(1, buckets - made);
            work(&mut self.world, &mix, more, &mut |done| progress(Progress::Resting(made + done)));
            made += more;
            self.learning.push((made, self.world.counters()));
        }
        let learned = self.world.counters();
        work(&mut self.world, &mix, (buckets / CONVERGED_PART).max(1), &mut |_| ());
        self.converged = self.world.counters().since(&learned);
        self.world.ask_for_everything(0);
        self.world.drain();
    }
}

/// Runs a simulation from beginning to end.
pub fn run(parameters: &Parameters, progress: &mut dyn FnMut(Progress)) -> Figures {
    let mut grown = Grown::new(parameters, progress);
    let mut newcomers = grown.newcomers(1);
    newcomers.iter_mut().for_each(|part| part.run(progress));
    grown.figures(&newcomers)
}

/// Clients insert, look up and count until the file has its buckets.
fn grow(
    world: &mut World,
    parameters: &Parameters,
    random: &mut Random,
    progress: &mut dyn FnMut(Progress),
) {
    let servers = parameters.servers as u64;
    for client in 0..parameters.clients {
        let first = GroupId(random.below(servers));
        world.drivers.push(Driver::new(client as u64, first, parameters.seed));
        world.ask(client, &growing_mix(parameters));
    }
    while let Some(over) = world.step() {
        let Some(client) = over else { continue };
        if world.over.is_multiple_of(HEARTBEAT_REQUESTS) {
            world.heartbeat();
        }
        if world.over.is_multiple_of(PROGRESS_REQUESTS) {
            progress(Progress::Growing(world.buckets));
        }
        if world.buckets < parameters.buckets {
            world.ask(client, &growing_mix(parameters));
        }
    }
    world.heartbeat();
    world.drain();
}

/// The file rests: all keys are known, and newcomers take the clients' places.
fn settle(world: &mut World, parameters: &Parameters, random: &mut Random) {
    let mut keys: Vec<u64> = world.drivers.iter().flat_map(Driver::own_keys).collect();
    keys.sort_unstable();
    world.keys = Arc::new(keys);
    for driver in &mut world.drivers {
        *driver = driver.succeeded(GroupId(random.below(parameters.servers as u64)));
    }
}

/// Every client makes so many requests. At rest they do not meet: one client after another.
fn work(world: &mut World, mix: &Mix, each: u64, progress: &mut dyn FnMut(u64)) {
    let clients = world.drivers.len() as u64;
    for made in 0..each * clients {
        if made.is_multiple_of(PROGRESS_REQUESTS) {
            progress(made / clients);
        }
        world.ask((made / each) as usize, mix);
        world.drain();
    }
}

/// While the file grows: mostly inserts.
fn growing_mix(parameters: &Parameters) -> Mix {
    Mix { inserts: 900, ranges: 5, span: span(parameters) }
}

/// At rest: lookups, and some range queries.
fn resting_mix(parameters: &Parameters) -> Mix {
    Mix { inserts: 0, ranges: 10, span: span(parameters) }
}

/// Range queries that touch a few buckets of the whole file.
fn span(parameters: &Parameters) -> u64 {
    END / parameters.buckets.max(2) * 2
}

fn pages(world: &World) -> u64 {
    let kept = world.servers().map(|server| server.pages().owned(&KeyRange::all()).len() as u64);
    kept.sum()
}

fn sizes(world: &World, newcomers: &[Newcomers]) -> Sizes {
    let servers: Vec<u64> = world.servers().map(|server| server.directory_bytes() as u64).collect();
    let root = world.servers().next().map_or(0, |server| server.root().pages().bytes() as u64);
    let drivers = || newcomers.iter().flat_map(|part| &part.world.drivers);
    let images = drivers().map(|driver| driver.client.image().bytes() as u64);
    Sizes {
        server_mean: servers.iter().sum::<u64>() / servers.len().max(1) as u64,
        server_max: servers.iter().copied().max().unwrap_or(0),
        root,
        client_mean: images.sum::<u64>() / drivers().count().max(1) as u64,
    }
}
