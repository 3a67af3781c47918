//! Each planted bug is found within 200 seeds: the checkers look at what they should.
#![cfg(feature = "planted")]

use simulation::{Bug, Config, Durability, plant, run};

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
    for bug in Bug::ALL {
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
