//! The servers of a run with their disks and their network, and what is true about them at all times.

use crate::config::Config;
use crate::dice::Dice;
use crate::executor::{Executor, Owner, WORLD};
use crate::network::{Link, Wires};
use crate::trace::Trace;
use cluster::Cluster;
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store::catalog::TableId;
use store::journal::Durability;
use store::journal::disk::{Fault, MemoryDisk};
use tokio::sync::oneshot;

/// Runs a start of a server: the number of the server, its tasks' owner, and whether it is new.
pub(crate) type RunServer = fn(World, usize, Owner, bool) -> BoxFuture<'static, ()>;

/// The servers of a run. Clones are the same ones.
#[derive(Clone)]
pub(crate) struct World(Arc<Inner>);

struct Inner {
    executor: Executor,
    wires: Wires,
    trace: Trace,
    durability: Durability,
    run_server: RunServer,
    state: Mutex<State>,
}

struct State {
    sites: Vec<Site>,
    dice: Dice,
    tables: Vec<TableId>,
    is_healed: bool,
    violations: Vec<String>,
    /// How often something happened.
    counts: BTreeMap<&'static str, u64>,
    /// What happens at a durable step.
    trap: Option<Trap>,
    /// Whether it happens now.
    is_sprung: bool,
}

/// A fault at a durable step: a sync of a server's disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trap {
    /// The server.
    pub(crate) site: usize,
    /// The number of its step, from 1 on.
    pub(crate) step: u64,
    /// Whether it happens after the sync, before anybody hears of it; otherwise before.
    pub(crate) is_after: bool,
    /// What happens, and for how many milliseconds.
    pub(crate) damage: Damage,
    pub(crate) millis: u64,
}

/// What happens at a durable step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Damage {
    /// The server loses power.
    Crash,
    /// The server stands still.
    Pause,
    /// It stands still, and another one loses power a moment later, and is back before it goes on.
    PauseNextTo(usize),
    /// What it sends gets lost.
    CutOut,
    /// What is sent to it gets lost.
    CutIn,
    /// The sync fails: its log stops, and its process ends soon after.
    FailedSync,
}

/// A server.
struct Site {
    disk: MemoryDisk,
    /// The start that runs.
    owner: Option<Owner>,
    /// Once it has joined.
    cluster: Option<Cluster>,
    has_joined: bool,
    has_disk_fault: bool,
    /// The longest time of a sync in microseconds.
    sync_micros_max: u64,
    /// Durable steps since they are counted, and the syncs of the disk so far.
    steps: u64,
    syncs: u64,
}

/// A server that runs.
#[derive(Clone)]
pub(crate) struct Running {
    pub(crate) site: usize,
    pub(crate) owner: Owner,
    pub(crate) cluster: Cluster,
}

impl Running {
    pub(crate) fn store(&self) -> &Arc<Store> {
        self.cluster.store()
    }
}

/// The time between a pause and a crash next to it.
const MOMENT_MILLIS: u64 = 3;

/// The usual longest time of a sync in microseconds.
const SYNC_MICROS: u64 = 2_000;

impl World {
    /// Servers that have not been started.
    pub(crate) fn new(config: &Config, run_server: RunServer, trace: Trace) -> Self {
        let mut dice = Dice::new(config.seed);
        let executor = Executor::new(dice.fork(), trace.clone());
        let wires = Wires::new(executor.clone(), trace.clone(), dice.fork());
        let site = || Site {
            disk: MemoryDisk::new(),
            owner: None,
            cluster: None,
            has_joined: false,
            has_disk_fault: false,
            sync_micros_max: SYNC_MICROS,
            steps: 0,
            syncs: 0,
        };
        let state = State {
            sites: (0..config.servers).map(|_| site()).collect(),
            dice,
            tables: Vec::new(),
            is_healed: false,
            violations: Vec::new(),
            counts: BTreeMap::new(),
            trap: None,
            is_sprung: false,
        };
        let (durability, state) = (config.durability, Mutex::new(state));
        Self(Arc::new(Inner { executor, wires, trace, durability, run_server, state }))
    }

    pub(crate) fn executor(&self) -> &Executor {
        &self.0.executor
    }

    pub(crate) fn wires(&self) -> &Wires {
        &self.0.wires
    }

    pub(crate) fn durability(&self) -> Durability {
        self.0.durability
    }

    /// Random decisions for a part of the run.
    pub(crate) fn dice(&self) -> Dice {
        self.0.state.lock().dice.fork()
    }

    /// The name and address of a server.
    pub(crate) fn name(site: usize) -> String {
        format!("s{site}")
    }

    pub(crate) fn servers(&self) -> usize {
        self.0.state.lock().sites.len()
    }

    /// Adds an event to the trace, and counts it.
    pub(crate) fn event(&self, kind: &'static str, details: impl FnOnce() -> String) {
        *self.0.state.lock().counts.entry(kind).or_default() += 1;
        self.0.trace.event(self.0.executor.now(), || format!("{kind} {}", details()));
    }

    /// How often something happened.
    pub(crate) fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.0.state.lock().counts.clone()
    }

    /// Notes that something is wrong.
    pub(crate) fn violation(&self, what: String) {
        let now = self.0.executor.now();
        self.0.trace.event(now, || format!("VIOLATION {what}"));
        self.0.state.lock().violations.push(what);
    }

    pub(crate) fn violations(&self) -> Vec<String> {
        self.0.state.lock().violations.clone()
    }

    /// Runs a task of the world.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.executor.spawn(WORLD, work.boxed());
    }

    pub(crate) async fn sleep_millis(&self, millis: u64) {
        self.0.executor.sleep(Duration::from_millis(millis)).await;
    }

    /// Does something on a server; `None` if that ends before.
    pub(crate) async fn on<T: Send + 'static>(
        &self,
        server: &Running,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (sender, receiver) = oneshot::channel();
        let work = async move {
            let _ = sender.send(work.await);
        };
        self.0.executor.spawn(server.owner, work.boxed());
        receiver.await.ok()
    }

    /// The servers that run.
    pub(crate) fn running(&self) -> Vec<Running> {
        let state = self.0.state.lock();
        let sites = state.sites.iter().enumerate();
        let running = sites.filter_map(|(number, site)| {
            let (owner, cluster) = (site.owner?, site.cluster.clone()?);
            Some(Running { site: number, owner, cluster })
        });
        running.collect()
    }

    /// One of the servers that run.
    pub(crate) fn any(&self, dice: &mut Dice) -> Option<Running> {
        let mut running = self.running();
        if running.is_empty() { None } else { Some(running.swap_remove(dice.index(running.len()))) }
    }

    pub(crate) fn disk(&self, site: usize) -> MemoryDisk {
        self.0.state.lock().sites[site].disk.clone()
    }

    /// How long the next write and the next sync of a server's disk take.
    pub(crate) fn disk_times(&self, site: usize) -> (Duration, Duration) {
        let mut state = self.0.state.lock();
        let max = state.sites[site].sync_micros_max;
        let (write, sync) = (state.dice.between(10, 100), state.dice.between(50, max));
        (Duration::from_micros(write), Duration::from_micros(sync))
    }

    /// Makes the disk of a server slow; `None` ends that.
    pub(crate) fn set_disk_speed(&self, site: usize, sync_micros_max: Option<u64>) {
        let max = sync_micros_max.unwrap_or(SYNC_MICROS);
        self.0.state.lock().sites[site].sync_micros_max = max;
    }

    /// Lets a sync of a server's disk fail soon.
    pub(crate) fn fail_disk(&self, site: usize, after: u64) {
        let mut state = self.0.state.lock();
        let site = &mut state.sites[site];
        site.has_disk_fault = true;
        let (_, syncs) = site.disk.operations();
        site.disk.plan(Fault::Sync(syncs + after));
    }

    pub(crate) fn has_disk_fault(&self, site: usize) -> bool {
        self.0.state.lock().sites[site].has_disk_fault
    }

    /// Counts durable steps from now on, and sets a trap.
    pub(crate) fn watch(&self, trap: Option<Trap>) {
        let mut state = self.0.state.lock();
        for site in &mut state.sites {
            (site.steps, site.syncs) = (0, site.disk.operations().1);
        }
        state.trap = trap;
        drop(state);
        let world = self.clone();
        self.0.executor.set_watch(Some(Arc::new(move |owner| world.polled(owner))));
    }

    /// Ends the watch.
    pub(crate) fn unwatch(&self) {
        self.0.executor.set_watch(None);
        self.0.state.lock().trap = None;
    }

    /// Whether the fault of a trap lasts.
    pub(crate) fn is_sprung(&self) -> bool {
        self.0.state.lock().is_sprung
    }

    /// A task has run: it may have synced.
    fn polled(&self, owner: Owner) {
        let trap = {
            let mut state = self.0.state.lock();
            let State { sites, trap, .. } = &mut *state;
            let Some(number) = sites.iter().position(|site| site.owner == Some(owner)) else {
                return;
            };
            let site = &mut sites[number];
            let syncs = site.disk.operations().1;
            let steps = site.steps + syncs.saturating_sub(site.syncs);
            let passed = site.steps..steps;
            (site.steps, site.syncs) = (steps, syncs);
            trap.take_if(|trap| {
                trap.is_after && trap.site == number && passed.contains(&(trap.step - 1))
            })
        };
        if let Some(trap) = trap {
            self.spring(trap);
        }
    }

    /// Durable steps of each server since they are counted.
    pub(crate) fn durable_steps(&self) -> Vec<u64> {
        self.0.state.lock().sites.iter().map(|site| site.steps).collect()
    }

    /// A server's log has been written, and is about to be synced.
    pub(crate) async fn before_sync(&self, site: usize) {
        let trap = {
            let mut state = self.0.state.lock();
            let next = state.sites[site].steps + 1;
            let is_here =
                |trap: &mut Trap| !trap.is_after && (trap.site, trap.step) == (site, next);
            state.trap.take_if(is_here)
        };
        if let Some(trap) = trap {
            self.spring(trap);
            // The server does not go on before the fault has begun.
            self.0.executor.sleep(Duration::from_micros(1)).await;
        }
    }

    fn spring(&self, Trap { site, damage, millis, .. }: Trap) {
        self.0.state.lock().is_sprung = true;
        self.event("trap", || format!("{damage:?} of server {site} for {millis} ms"));
        let others = (0..self.servers()).filter(|other| *other != site).map(Self::name);
        let ways = others.map(|other| match damage {
            Damage::CutIn => (other, Self::name(site)),
            _ => (Self::name(site), other),
        });
        let ways: Vec<(String, String)> = ways.collect();
        match damage {
            Damage::Crash => self.crash(site),
            Damage::Pause | Damage::PauseNextTo(_) => self.pause(site, true),
            Damage::CutIn | Damage::CutOut => {
                let cut = Link { is_cut: true, ..Link::default() };
                ways.iter().for_each(|(from, to)| self.0.wires.set_link(from, to, cut));
            }
            Damage::FailedSync => self.fail_disk(site, 0),
        }
        if let Damage::PauseNextTo(other) = damage {
            let world = self.clone();
            self.spawn(async move {
                world.sleep_millis(MOMENT_MILLIS).await;
                world.crash(other);
                world.sleep_millis(millis / 4).await;
                world.start(other);
            });
        }
        let world = self.clone();
        self.spawn(async move {
            world.sleep_millis(millis).await;
            match damage {
                Damage::Crash => world.start(site),
                Damage::Pause | Damage::PauseNextTo(_) => world.pause(site, false),
                Damage::CutIn | Damage::CutOut => {
                    let good = Link::default();
                    ways.iter().for_each(|(from, to)| world.0.wires.set_link(from, to, good));
                }
                // Another start follows by itself.
                Damage::FailedSync => {}
            }
            world.0.state.lock().is_sprung = false;
        });
    }

    /// A server's log has stopped: its process ends soon.
    pub(crate) fn disk_failed(&self, site: usize, owner: Owner) {
        if !self.has_disk_fault(site) {
            self.violation(format!("the log of server {site} has stopped without a fault"));
        }
        self.ends(site, owner);
    }

    /// A start of a server ends soon, and is followed by another one.
    pub(crate) fn ends(&self, site: usize, owner: Owner) {
        let world = self.clone();
        let wait = self.dice().between(0, 50);
        self.spawn(async move {
            world.sleep_millis(wait).await;
            if world.0.state.lock().sites[site].owner == Some(owner) {
                world.crash(site);
                world.sleep_millis(500).await;
                world.start(site);
            }
        });
    }

    /// Starts a server, unless it runs.
    pub(crate) fn start(&self, site: usize) {
        let owner = self.0.executor.owner();
        let is_new = {
            let mut state = self.0.state.lock();
            let site = &mut state.sites[site];
            if site.owner.is_some() {
                return;
            }
            site.owner = Some(owner);
            // A directory of a server that has not joined is to be removed.
            if !site.has_joined {
                site.disk = MemoryDisk::new();
            }
            !site.has_joined
        };
        self.event("start", || format!("server {site}"));
        let run = (self.0.run_server)(self.clone(), site, owner, is_new);
        self.0.executor.spawn(owner, run);
    }

    /// A server has joined the cluster, or come back.
    pub(crate) fn started(&self, site: usize, owner: Owner, cluster: Cluster) {
        self.event("started", || format!("server {site}"));
        self.0.wires.serve(&Self::name(site), owner, Arc::new(cluster.clone()));
        let mut state = self.0.state.lock();
        let site = &mut state.sites[site];
        site.cluster = Some(cluster);
        site.has_joined = true;
    }

    /// Cuts the power of a server.
    pub(crate) fn crash(&self, site: usize) {
        let (owner, cluster) = {
            let mut state = self.0.state.lock();
            let seed = state.dice.next();
            let site = &mut state.sites[site];
            let Some(owner) = site.owner.take() else { return };
            site.disk = site.disk.crash(seed);
            site.has_disk_fault = false;
            (owner, site.cluster.take())
        };
        self.event("crash", || format!("server {site}"));
        self.0.wires.close(&Self::name(site));
        if let Some(cluster) = cluster {
            cluster.stop();
        }
        self.0.executor.kill(owner);
    }

    /// Lets the process of a server stand still, or go on.
    pub(crate) fn pause(&self, site: usize, is_paused: bool) {
        let owner = self.0.state.lock().sites[site].owner;
        if let Some(owner) = owner {
            self.0.executor.pause(owner, is_paused);
        }
    }

    /// Ends all faults: from now on nothing fails.
    pub(crate) fn heal(&self) {
        let servers = {
            let mut state = self.0.state.lock();
            state.is_healed = true;
            for site in &mut state.sites {
                site.sync_micros_max = SYNC_MICROS;
                site.disk.plan(Fault::Sync(u64::MAX));
            }
            state.sites.len()
        };
        self.event("heal", String::new);
        self.0.wires.heal();
        for site in 0..servers {
            self.pause(site, false);
            self.start(site);
        }
    }

    pub(crate) fn is_healed(&self) -> bool {
        self.0.state.lock().is_healed
    }

    pub(crate) fn add_table(&self, table: TableId) {
        self.0.state.lock().tables.push(table);
    }

    pub(crate) fn tables(&self) -> Vec<TableId> {
        self.0.state.lock().tables.clone()
    }

    /// Stops everything.
    pub(crate) fn end(&self) {
        for site in 0..self.servers() {
            self.crash(site);
        }
        self.0.executor.end();
    }
}
