//! Faults, one after the other and at the same time, until the run heals.

use crate::config::FaultKind;
use crate::dice::Dice;
use crate::network::Link;
use crate::world::World;

/// Makes faults of some kinds until the run heals.
pub(crate) async fn run(world: World, mut dice: Dice, kinds: Vec<FaultKind>) {
    while !kinds.is_empty() {
        world.sleep_millis(dice.between(50, 3_000)).await;
        if world.is_healed() {
            return;
        }
        let kind = kinds[dice.index(kinds.len())];
        let site = dice.index(world.servers());
        world.event(kind.name(), || format!("at server {site}"));
        world.spawn(make(world.clone(), dice.fork(), kind, site));
    }
}

async fn make(world: World, mut dice: Dice, kind: FaultKind, site: usize) {
    let millis = dice.between(20, 6_000);
    match kind {
        FaultKind::Crash => crash(&world, site, millis).await,
        FaultKind::PowerCut => {
            for site in 0..world.servers() {
                let (world, millis) = (world.clone(), dice.between(1, 3_000));
                world.clone().spawn(async move { crash(&world, site, millis).await });
            }
        }
        FaultKind::Pause => {
            world.pause(site, true);
            world.sleep_millis(millis * 2).await;
            world.pause(site, false);
        }
        FaultKind::DiskFault => world.fail_disk(site, dice.below(20)),
        FaultKind::SlowDisk => {
            // Sometimes it stalls for longer than calls wait.
            let micros = if dice.permille(300) { 9_000_000 } else { 400_000 };
            world.set_disk_speed(site, Some(dice.between(10_000, micros)));
            world.sleep_millis(millis).await;
            world.set_disk_speed(site, None);
        }
        FaultKind::Cut | FaultKind::Isolation | FaultKind::SlowLink | FaultKind::Loss => {
            let ways = ways(&world, &mut dice, kind, site);
            let link = link(&mut dice, kind);
            ways.iter().for_each(|(from, to)| world.wires().set_link(from, to, link));
            world.sleep_millis(millis).await;
            if !world.is_healed() {
                let good = Link::default();
                ways.iter().for_each(|(from, to)| world.wires().set_link(from, to, good));
            }
        }
    }
}

async fn crash(world: &World, site: usize, millis: u64) {
    world.crash(site);
    world.sleep_millis(millis).await;
    world.start(site);
}

/// The ways that a fault of the network concerns.
fn ways(world: &World, dice: &mut Dice, kind: FaultKind, site: usize) -> Vec<(String, String)> {
    let servers = world.servers();
    let is_wide = kind == FaultKind::Isolation || (kind == FaultKind::Loss && dice.permille(500));
    let others: Vec<usize> = match is_wide {
        true => (0..servers).filter(|other| *other != site).collect(),
        false => vec![(site + 1 + dice.index(servers - 1)) % servers],
    };
    let directions = dice.below(3);
    let mut ways = Vec::new();
    for other in others {
        let (one, other) = (World::name(site), World::name(other));
        if directions != 1 {
            ways.push((one.clone(), other.clone()));
        }
        if directions != 2 {
            ways.push((other, one));
        }
    }
    ways
}

fn link(dice: &mut Dice, kind: FaultKind) -> Link {
    match kind {
        FaultKind::SlowLink => {
            Link { micros_max: dice.between(50_000, 900_000), ..Link::default() }
        }
        FaultKind::Loss => {
            Link { lost: dice.between(20, 300), late: dice.between(20, 300), ..Link::default() }
        }
        _ => Link { is_cut: true, ..Link::default() },
    }
}
