//! Membership under random orders of events, with losses, duplicates, late messages, restarts and wiped servers: what must
//! be true at all times ([`world`]), and the decisions one by one ([`decisions`]).

mod decisions;
mod world;

use world::World;

#[test]
fn random_histories_of_servers_with_data_keep_what_was_promised() {
    (0..1_500).for_each(|seed| World::new(seed, true).run());
}

#[test]
fn random_histories_of_servers_without_data_keep_what_was_promised() {
    (0..1_500).for_each(|seed| World::new(seed, false).run());
}
