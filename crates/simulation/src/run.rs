//! A run: servers start, clients work, faults come, everything heals, and what is there is checked.

use crate::config::Config;
use crate::faults;
use crate::owners;
use crate::server;
use crate::trace::Trace;
use crate::workloads::Workloads;
use crate::world::{RunServer, Running, World};
use futures::FutureExt;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::Error;

/// The time between looks at what is true at all times.
const LOOK: Duration = Duration::from_millis(20);

/// The time in which everything starts.
pub(crate) const START_MAX: Duration = Duration::from_secs(60);

/// The time in which everything heals: no transaction stays prepared longer.
const HEAL_MAX: Duration = Duration::from_secs(30);

/// How often a write is tried after everything has healed.
const WRITES_MAX: u32 = 5;

/// The time in which memory is given back.
const CLEAN_MAX: Duration = Duration::from_secs(100);

/// What a run was like.
#[derive(Debug, Clone)]
pub struct Report {
    /// What was wrong.
    pub violations: Vec<String>,
    /// A number for all that happened.
    pub hash: u64,
    /// What happened, if lines were wanted.
    pub lines: Vec<String>,
    /// Simulated time.
    pub time: Duration,
    /// Steps of tasks.
    pub steps: u64,
    /// Messages that were sent, lost, and late.
    pub messages: (u64, u64, u64),
    /// How often something happened.
    pub counts: BTreeMap<&'static str, u64>,
}

/// Runs a simulation.
pub fn run(config: &Config) -> Report {
    with_world(config, |world| simulate(world, config))
}

/// Runs a simulation of servers that have not been started.
pub(crate) fn with_world(config: &Config, simulate: impl FnOnce(&World)) -> Report {
    let trace = Trace::new(config.keeps_lines);
    let run_server: RunServer =
        |world, site, owner, is_new| server::run(world, site, owner, is_new).boxed();
    let world = World::new(config, run_server, trace.clone());
    simulate(&world);
    let report = Report {
        violations: world.violations(),
        hash: trace.hash(),
        lines: trace.lines(),
        time: world.executor().now(),
        steps: world.executor().steps(),
        messages: world.wires().counts(),
        counts: world.counts(),
    };
    world.end();
    report
}

fn simulate(world: &World, config: &Config) {
    let Some(workloads) = set_up(world, config) else { return };
    workloads.start(world, config.clients);
    world.spawn(faults::run(world.clone(), world.dice(), config.faults.clone()));
    join_late(world, config);
    let end = world.executor().now() + config.time;
    if !until(world, config.time, |world| world.executor().now() >= end) {
        return;
    }
    heal(world, &workloads);
}

/// Ends all faults, and checks that everything heals and is right.
pub(crate) fn heal(world: &World, workloads: &Workloads) {
    world.heal();
    until(world, Duration::from_secs(2), |_| false);
    workloads.stop();
    if !until(world, HEAL_MAX, |world| unhealed(world, workloads).is_none()) {
        if let Some(what) = unhealed(world, workloads) {
            world.violation(format!("after {} s without faults: {what}", HEAL_MAX.as_secs()));
        }
        return;
    }
    // Received rows of moves that do not end are dropped after a minute.
    let is_sound = |world: &World| world.running().iter().all(|s| s.store().check().is_ok());
    if until(world, CLEAN_MAX, is_sound) {
        return check(world, workloads);
    }
    for server in world.running() {
        if let Err(error) = server.store().check() {
            world.violation(format!("the store of server {} is broken: {error}", server.site));
        }
    }
}

/// Starts servers, and creates the tables.
pub(crate) fn set_up(world: &World, config: &Config) -> Option<Workloads> {
    for site in 0..config.servers - config.late {
        world.start(site);
        let is_there = |world: &World| world.running().len() > site;
        if !until(world, START_MAX, is_there) {
            world.violation(format!("server {site} does not start"));
            return None;
        }
    }
    let ready: Arc<Mutex<Option<Workloads>>> = Arc::default();
    let (there, setting) = (world.clone(), Arc::clone(&ready));
    world.spawn(async move {
        let workloads = Workloads::set_up(&there).await;
        *setting.lock() = Some(workloads);
    });
    until(world, START_MAX, |_| ready.lock().is_some());
    let workloads = ready.lock().clone();
    if workloads.is_none() {
        world.violation("the tables are not created".to_owned());
    }
    workloads
}

/// Lets the last servers join while clients work.
fn join_late(world: &World, config: &Config) {
    for site in config.servers - config.late..config.servers {
        let wait = world.dice().below(config.time.as_millis() as u64);
        let there = world.clone();
        world.spawn(async move {
            there.sleep_millis(wait).await;
            there.start(site);
        });
    }
}

/// Runs until a condition is true; false if it takes too long, or something is wrong.
pub(crate) fn until(world: &World, limit: Duration, is_so: impl Fn(&World) -> bool) -> bool {
    let executor = world.executor();
    let end = executor.now() + limit;
    while !is_so(world) {
        if executor.now() >= end || !world.violations().is_empty() {
            return false;
        }
        executor.run_until(executor.now() + LOOK);
        owners::check_one(world);
    }
    world.violations().is_empty()
}

/// What has not healed.
fn unhealed(world: &World, workloads: &Workloads) -> Option<String> {
    let running = world.running();
    if running.len() < world.servers() {
        return Some(format!("{} of {} servers run", running.len(), world.servers()));
    }
    if workloads.running() > 0 {
        return Some(format!("{} clients wait", workloads.running()));
    }
    for Running { site, cluster, .. } in &running {
        let store = cluster.store();
        let (undecided, frozen) = (store.undecided_parts(), store.frozen().len());
        if undecided > 0 {
            return Some(format!("{undecided} transactions are prepared on server {site}"));
        }
        if frozen > 0 {
            return Some(format!("{frozen} ranges are frozen on server {site}"));
        }
    }
    owners::gap(world)
}

/// Checks what is there, as every server sees it.
fn check(world: &World, workloads: &Workloads) {
    for server in world.running() {
        let done: Arc<Mutex<Option<Result<(), Error>>>> = Arc::default();
        let (there, checks, noted) = (world.clone(), workloads.clone(), Arc::clone(&done));
        let site = server.site;
        world.spawn(async move {
            let checked = match checks.check(&there, &server).await {
                Ok(()) => writes(&checks, &server).await,
                failed => failed,
            };
            *noted.lock() = Some(checked);
        });
        until(world, HEAL_MAX, |_| done.lock().is_some());
        match &*done.lock() {
            Some(Ok(())) => {}
            Some(Err(error)) => world.violation(format!("server {site} cannot do it: {error}")),
            None => world.violation(format!("server {site} does not answer")),
        }
        if !world.violations().is_empty() {
            return;
        }
    }
}

/// Writes through a server. What it conflicts with ends soon.
async fn writes(workloads: &Workloads, server: &Running) -> Result<(), Error> {
    let mut written = workloads.write(server).await;
    for _ in 1..WRITES_MAX {
        if written.is_ok() {
            break;
        }
        written = workloads.write(server).await;
    }
    written
}
