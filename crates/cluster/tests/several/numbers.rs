//! Advisory locks, which the root keeps for the sessions of all servers.

use crate::gate::Fate;
use crate::support::World;
use sdds::ServerId;
use std::time::Duration;
use store::locks::{Mode, Owner, Party, Space};

const NUMBER: (Space, i64) = (Space::One, 42);

/// A transaction of a session.
fn owner(server: u64, transaction: u64) -> Owner {
    Owner { party: Party { server: ServerId(server), number: 7 }, transaction }
}

async fn tries(world: &World, site: usize, transaction: u64) -> bool {
    let peers = world.sites[site].cluster.peers();
    let owner = owner(site as u64, transaction);
    peers.lock_number(owner, NUMBER, Mode::Exclusive, false).await.expect("reachable")
}

/// The root has taken the lock for an owner that was gone, and nobody else got it until the owner's server was started again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_comes_after_the_end_of_its_transaction_leaves_no_lock() {
    let world = World::of(3).await;
    let (root, peers) = (&world.sites[0].gate, world.sites[1].cluster.peers());
    root.rule("LockNumber", Fate::Late);
    let asking = peers.lock_number(owner(1, 5), NUMBER, Mode::Exclusive, true);
    let ended = tokio::time::timeout(Duration::from_millis(50), asking).await;
    assert!(ended.is_err(), "it waits");
    world.until("it was sent", |_| root.seen("LockNumber") > 0).await;
    peers.unlock_numbers(owner(1, 5), None).await;
    root.heal();
    world.until("it arrives", |_| root.late("LockNumber") > 0).await;
    assert!(tries(&world, 2, 1).await, "nobody has the lock");
    assert!(!tries(&world, 1, 6).await, "another session has it");
}

/// The end of a lock, sent again and again while the root could not be reached, took away the same lock when its session had it
/// once more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_end_takes_no_lock_away_that_was_taken_again() {
    let world = World::of(3).await;
    let (root, peers) = (&world.sites[0].gate, world.sites[1].cluster.peers());
    assert!(tries(&world, 1, 0).await);
    root.rule("UnlockNumbers", Fate::Late);
    let ending = peers.unlock_numbers(owner(1, 0), Some((NUMBER, Mode::Exclusive)));
    let ended = tokio::time::timeout(Duration::from_millis(50), ending).await;
    assert!(ended.is_err(), "it is not answered");
    world.until("it was sent", |_| root.seen("UnlockNumbers") > 0).await;
    assert!(tries(&world, 1, 0).await, "the session has it, and has it again");
    root.heal();
    world.until("it arrives", |_| root.late("UnlockNumbers") > 0).await;
    assert!(!tries(&world, 2, 1).await, "the session has it");
    peers.unlock_numbers(owner(1, 0), None).await;
    assert!(tries(&world, 2, 1).await, "it has ended");
}
