//! Membership under random orders of events, with losses, duplicates, late messages, restarts and wiped servers: what must
//! be true at all times ([`world`]), and the decisions one by one ([`decisions`]).

mod decisions;
mod world;

use world::{Reached, World};

#[test]
fn random_histories_of_servers_with_data_keep_what_was_promised() {
    let mut reached = Reached::default();
    (0..1_500).for_each(|seed| World::new(seed, true).run(&mut reached));
    let Reached { repeated, overtaken, late_heartbeats, late_ends } = reached;
    assert!(repeated.min(overtaken).min(late_heartbeats).min(late_ends) > 10, "{reached:?}");
}

#[test]
fn random_histories_of_servers_without_data_keep_what_was_promised() {
    let mut reached = Reached::default();
    (0..1_500).for_each(|seed| World::new(seed, false).run(&mut reached));
    let Reached { repeated, overtaken, late_heartbeats, late_ends } = reached;
    assert!(repeated.min(overtaken) > 10, "{reached:?}");
    assert_eq!((late_heartbeats, late_ends), (0, 0), "each start has another number");
}
