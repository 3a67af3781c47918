//! Faults at every durable step of transactions and moves, one after the other.
//!
//! A scenario has transfers over all servers while keys move between two of them, and back. A run without faults counts
//! the syncs of each server's disk. Then the same run is repeated for each of them, before and after the sync, with a
//! fault of that server: it loses power, stands still, or is cut off in one direction. Until the fault a run is the same
//! as the first one, to the byte.
//!
//! The roles are spread over the servers in different ways, as the variant says: the root is also coordinator, participant,
//! source or destination.

use crate::config::Config;
use crate::rows::key_of;
use crate::run::{self, Report, set_up, until};
use crate::workloads::Workloads;
use crate::world::{Damage, Running, Trap, World};
use parking_lot::Mutex;
use sdds::{Bound, GroupId, KeyRange};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The servers of a scenario. The first one is the root.
const SERVERS: usize = 4;

/// Accounts of each server before the scenario.
const EACH: i64 = crate::workloads::ACCOUNTS / SERVERS as i64;

/// The time in which a scenario ends, also with a fault.
const SCENARIO_MAX: Duration = Duration::from_secs(60);

/// Which server does what.
#[derive(Debug, Clone, Copy)]
struct Roles {
    coordinator: usize,
    participant: usize,
    source: usize,
    destination: usize,
}

/// Server 0 is the root in all of them.
const ROLES: [Roles; 4] = [
    Roles { coordinator: 1, participant: 2, source: 2, destination: 3 },
    Roles { coordinator: 0, participant: 1, source: 1, destination: 0 },
    Roles { coordinator: 2, participant: 0, source: 0, destination: 1 },
    Roles { coordinator: 3, participant: 1, source: 3, destination: 2 },
];

/// How long faults last, in milliseconds: crashes, pauses, cuts.
const TIMES: [[u64; 3]; 3] = [[2_000, 3_000, 6_500], [20, 300, 900], [6_000, 12_000, 14_000]];

/// How many transfers on one server alone follow each other, for each of two pairs of accounts.
const ALONE: usize = 8;

/// How long a failed sync lasts, in milliseconds: the process has ended by then, and was started again.
const FAILED_SYNC: u64 = 700;

/// The server that has the rows about transfers.
const ROWS_AT: usize = 1;

/// The number of variants that differ in more than their seed.
pub const VARIANTS: u64 = (ROLES.len() * TIMES.len()) as u64;

/// A fault at a durable step of a variant.
#[derive(Debug, Clone, Copy)]
pub struct CrashPoint {
    variant: u64,
    trap: Option<Trap>,
}

impl fmt::Display for CrashPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Trap { site, step, is_after, damage, millis }) = self.trap else {
            return write!(f, "variant {}, no fault", self.variant);
        };
        let order = if is_after { "after" } else { "before" };
        let roles = roles(self.variant).of(site);
        write!(
            f,
            "variant {}, {damage:?} of server {site} ({roles}) {order} its sync {step}, {millis} ms",
            self.variant
        )
    }
}

impl Roles {
    fn of(self, site: usize) -> String {
        let all = [
            ("root", 0),
            ("coordinator", self.coordinator),
            ("participant", self.participant),
            ("source", self.source),
            ("destination", self.destination),
        ];
        let here = all.into_iter().filter(|(_, at)| *at == site);
        here.map(|(role, _)| role).collect::<Vec<_>>().join(", ")
    }
}

impl Roles {
    /// The servers that a server works with: the other end of its move, and of its transactions.
    fn partners(self, site: usize) -> Vec<usize> {
        let pairs = [(self.source, self.destination), (self.coordinator, self.participant)];
        let both = pairs.into_iter().flat_map(|(one, other)| [(one, other), (other, one)]);
        let mut all: Vec<usize> =
            both.filter(|(one, _)| *one == site).map(|(_, other)| other).collect();
        all.dedup();
        all
    }
}

fn roles(variant: u64) -> Roles {
    ROLES[(variant % ROLES.len() as u64) as usize]
}

impl CrashPoint {
    /// All points of a variant, with the report of the run without faults.
    pub fn all(variant: u64) -> (Vec<Self>, Report) {
        let base = Self { variant, trap: None };
        let (report, steps) = base.simulate(false);
        let [crash, pause, cut] =
            TIMES[(variant / ROLES.len() as u64 % TIMES.len() as u64) as usize];
        let mut points = Vec::new();
        for (site, steps) in steps.into_iter().enumerate() {
            let mut damages = vec![
                (Damage::Crash, crash),
                (Damage::Pause, pause),
                (Damage::CutOut, cut),
                (Damage::CutIn, cut),
            ];
            let others = roles(variant).partners(site);
            damages.extend(others.into_iter().map(|other| (Damage::PauseNextTo(other), pause)));
            damages.push((Damage::FailedSync, FAILED_SYNC));
            for step in 1..=steps {
                for is_after in [false, true] {
                    for (damage, millis) in damages.clone() {
                        // What has been synced cannot fail.
                        if is_after && damage == Damage::FailedSync {
                            continue;
                        }
                        let trap = Some(Trap { site, step, is_after, damage, millis });
                        points.push(Self { variant, trap });
                    }
                }
            }
        }
        (points, report)
    }

    /// Whether the fault is a sync that fails.
    pub fn is_failed_sync(&self) -> bool {
        self.trap.is_some_and(|trap| trap.damage == Damage::FailedSync)
    }

    /// Runs the scenario with the fault.
    pub fn run(&self, keeps_lines: bool) -> Report {
        self.simulate(keeps_lines).0
    }

    /// Returns the durable steps of each server, too.
    fn simulate(&self, keeps_lines: bool) -> (Report, Vec<u64>) {
        let config = Config {
            servers: SERVERS,
            late: 0,
            clients: 0,
            faults: Vec::new(),
            keeps_lines,
            ..Config::of(self.variant)
        };
        let mut steps = Vec::new();
        let report = run::with_world(&config, |world| {
            let Some(workloads) = set_up(world, &config) else { return };
            if spread(world, &workloads) {
                world.watch(self.trap);
                scenario(world, &workloads, roles(self.variant));
                steps = world.durable_steps();
                world.unwatch();
                run::heal(world, &workloads);
            }
        });
        (report, steps)
    }
}

/// The keys of some accounts.
fn range(from: i64, to: i64) -> KeyRange {
    KeyRange { low: Bound::At(key_of(from)), high: Bound::At(key_of(to)) }
}

fn first(site: usize) -> i64 {
    site as i64 * EACH
}

fn server(world: &World, site: usize) -> Option<Running> {
    world.running().into_iter().find(|server| server.site == site)
}

/// Moves an equal part of the accounts to each server; returns whether that succeeded.
fn spread(world: &World, workloads: &Workloads) -> bool {
    let done = Arc::new(Mutex::new(0));
    let (there, table, counting) = (world.clone(), workloads.bank.accounts(), Arc::clone(&done));
    world.spawn(async move {
        for site in 1..SERVERS {
            let Some(root) = server(&there, 0) else { return };
            let keys = range(first(site), first(site + 1));
            let given = async move { root.cluster.give(table, &keys, GroupId(site as u64)).await };
            let Some(root) = server(&there, 0) else { return };
            match there.on(&root, given).await {
                Some(Ok(())) => *counting.lock() += 1,
                _ => return,
            }
        }
    });
    until(world, Duration::from_secs(10), |_| *done.lock() == SERVERS - 1);
    let is_done = *done.lock() == SERVERS - 1;
    if !is_done && world.violations().is_empty() {
        world.violation("the accounts cannot be spread".to_owned());
    }
    is_done
}

/// Transfers, and moves of some of their accounts, at the same time.
fn scenario(world: &World, workloads: &Workloads, roles: Roles) {
    let Roles { coordinator, participant, source, destination } = roles;
    let open = Arc::new(Mutex::new(0));
    let (moving, back) = (first(source) + 4, first(source) + 7);
    let transfers = [
        (0, coordinator, first(participant), first(coordinator) + 1),
        (300, coordinator, moving, first(destination) + 2),
        (1_500, destination, moving + 1, first(participant) + 3),
        (2_500, source, moving + 2, first(coordinator) + 2),
        (4_000, coordinator, first(participant) + 1, first(0) + 3),
        (7_000, coordinator, back, first(destination) + 3),
        (9_000, participant, back + 1, moving),
    ];
    for (micros, at, from, to) in transfers {
        let (there, bank) = (world.clone(), Arc::clone(&workloads.bank));
        begin(world, &open, micros, at, async move |server| {
            bank.transfer_between(&there, &server, (from, to, 1), None).await;
        });
    }
    // No other server takes part in these: the root gives a timestamp, and that is all.
    for from in [first(ROWS_AT) + 11, first(ROWS_AT) + 13] {
        let (there, bank) = (world.clone(), Arc::clone(&workloads.bank));
        begin(world, &open, 100, ROWS_AT, async move |server| {
            for _ in 0..ALONE {
                bank.transfer_between(&there, &server, (from, from + 1, 1), None).await;
            }
        });
    }
    let table = workloads.bank.accounts();
    let moves = [
        (500, source, destination, range(moving, moving + 6)),
        (12_000, destination, source, range(moving, back)),
    ];
    for (micros, at, to, keys) in moves {
        let there = world.clone();
        begin(world, &open, micros, at, async move |server| {
            let cluster = server.cluster.clone();
            let given = async move { cluster.give(table, &keys, GroupId(to as u64)).await };
            let outcome = there.on(&server, given).await;
            there.event("move", || format!("{outcome:?}"));
        });
    }
    until(world, SCENARIO_MAX, |world| *open.lock() == 0 && !world.is_sprung());
}

/// Begins something on a server that runs then.
fn begin<F>(
    world: &World,
    open: &Arc<Mutex<usize>>,
    micros: u64,
    at: usize,
    work: impl FnOnce(Running) -> F + Send + 'static,
) where
    F: Future<Output = ()> + Send + 'static,
{
    *open.lock() += 1;
    let (there, open) = (world.clone(), Arc::clone(open));
    world.spawn(async move {
        there.executor().sleep(Duration::from_micros(micros)).await;
        if let Some(server) = server(&there, at) {
            work(server).await;
        }
        *open.lock() -= 1;
    });
}
