//! Files of a table on several servers under random moves of keys, restarts, and messages that come late, twice or not at all.
//!
//! Checked after each event: a key has at most one owner; a page has at most one keeper among servers that have begun the
//! directory with the same start; what an image says of a key never gets older. Checked when all has healed: every key has
//! an owner and a page, and from every server the directory leads to the owner. The state machine checks the rest.

mod decisions;
mod world;

use world::World;

#[test]
fn random_histories_leave_a_directory_that_leads_to_every_owner() {
    (0..200).for_each(|seed| World::new(seed).run());
}
