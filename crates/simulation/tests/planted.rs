//! Each planted bug is found within 200 seeds, or faults at durable steps: the checkers look at what they should.
#![cfg(feature = "planted")]

use simulation::{Bug, Config, CrashPoint, Durability, VARIANTS, plant, run};

/// The first seed, with what is wrong.
fn find(change: impl Fn(&mut Config)) -> Option<(u64, String)> {
    (0..200).find_map(|seed| {
        let mut config = Config::of(seed);
        change(&mut config);
        Some((seed, run(&config).violations.into_iter().next()?))
    })
}

#[test]
fn every_planted_bug_is_found() {
    let mut missed = Vec::new();
    for bug in Bug::OF_SEEDS {
        plant(Some(bug));
        match find(|_| ()) {
            Some((seed, what)) => println!("{bug:?}: seed {seed}: {what}"),
            None => missed.push(bug),
        }
    }
    plant(None);
    assert!(missed.is_empty(), "not found within 200 seeds: {missed:?}");
}

#[test]
fn commits_that_do_not_wait_for_the_disk_are_found() {
    let found = find(|config| config.durability = Durability::Async);
    let (seed, what) = found.expect("acknowledged commits are lost");
    println!("acknowledged before it is durable: seed {seed}: {what}");
}

#[test]
fn commits_that_the_log_does_not_take_are_found() {
    plant(Some(Bug::UnloggedCommit));
    let points = (0..VARIANTS).flat_map(|variant| CrashPoint::all(variant).0);
    let points = points.filter(CrashPoint::is_failed_sync);
    let found = points.take(200).find_map(|point| {
        let what = point.run(false).violations.into_iter().next()?;
        Some(format!("{point}: {what}"))
    });
    plant(None);
    println!("{}", found.expect("acknowledged commits are lost"));
}
