//! Who is granted a lock, and when.

use super::*;
use crate::deadlock::cycle;
use proptest::prelude::*;
use sdds::ServerId;

fn owner(number: u64) -> Owner {
    Owner { party: Party { server: ServerId(0), number }, transaction: number }
}

fn row(key: u8) -> Target {
    Target::Row(1, sdds::Key::from(&[key][..]))
}

fn ticket(acquired: Acquired) -> Ticket {
    match acquired {
        Acquired::Waits(ticket) => ticket,
        Acquired::Granted => panic!("the lock was granted"),
    }
}

#[test]
fn requests_are_granted_in_their_order() {
    let mut locks = LockTable::default();
    assert_eq!(locks.acquire(owner(1), &row(1), Mode::ForUpdate), Acquired::Granted);
    let second = ticket(locks.acquire(owner(2), &row(1), Mode::ForUpdate));
    let third = ticket(locks.acquire(owner(3), &row(1), Mode::ForUpdate));
    assert_eq!(locks.release_since(owner(1), 0), [second]);
    assert_eq!(locks.release_since(owner(2), 0), [third]);
    assert!(locks.release_since(owner(3), 0).is_empty() && locks.is_empty());
}

#[test]
fn shared_locks_are_granted_together_and_do_not_overtake() {
    let mut locks = LockTable::default();
    assert!(locks.try_acquire(owner(1), &row(1), Mode::ForShare));
    assert!(locks.try_acquire(owner(2), &row(1), Mode::ForShare));
    let writer = ticket(locks.acquire(owner(3), &row(1), Mode::ForUpdate));
    let reader = ticket(locks.acquire(owner(4), &row(1), Mode::ForShare));
    assert!(locks.release_since(owner(1), 0).is_empty());
    assert_eq!(locks.release_since(owner(2), 0), [writer]);
    assert_eq!(locks.release_since(owner(3), 0), [reader]);
}

#[test]
fn who_holds_a_lock_strengthens_it_ahead_of_those_who_wait() {
    let mut locks = LockTable::default();
    assert!(locks.try_acquire(owner(1), &row(1), Mode::ForKeyShare));
    let writer = ticket(locks.acquire(owner(2), &row(1), Mode::ForUpdate));
    assert!(locks.try_acquire(owner(1), &row(1), Mode::ForNoKeyUpdate));
    assert!(locks.release_since(owner(1), 1).is_empty(), "the first lock stays");
    assert_eq!(locks.release_since(owner(1), 0), [writer]);
}

#[test]
fn a_withdrawn_request_lets_later_ones_pass() {
    let mut locks = LockTable::default();
    assert!(locks.try_acquire(owner(1), &row(1), Mode::ForShare));
    let writer = ticket(locks.acquire(owner(2), &row(1), Mode::ForUpdate));
    let reader = ticket(locks.acquire(owner(3), &row(1), Mode::ForShare));
    assert_eq!(locks.withdraw(writer), [reader]);
    assert!(locks.withdraw(writer).is_empty());
}

#[test]
fn owners_of_a_party_do_not_conflict() {
    let mut locks = LockTable::default();
    let session = Owner { transaction: 0, ..owner(1) };
    let number = Target::Advisory(crate::Space::One, 7);
    assert!(locks.try_acquire(session, &number, Mode::Exclusive));
    assert!(locks.try_acquire(owner(1), &number, Mode::Exclusive));
    assert!(!locks.try_acquire(owner(2), &number, Mode::Share));
    assert_eq!(locks.release(session, &number, Mode::Exclusive), Some(Vec::new()));
    assert_eq!(locks.release(session, &number, Mode::Exclusive), None);
    assert!(!locks.try_acquire(owner(2), &number, Mode::Share));
}

#[test]
fn a_deadlock_is_a_cycle_of_edges() {
    let mut locks = LockTable::default();
    assert!(locks.try_acquire(owner(1), &row(1), Mode::ForUpdate));
    assert!(locks.try_acquire(owner(2), &row(2), Mode::ForUpdate));
    let _ = ticket(locks.acquire(owner(1), &row(2), Mode::ForUpdate));
    assert_eq!(cycle(&locks.edges(), owner(1).party), None);
    let last = ticket(locks.acquire(owner(2), &row(1), Mode::ForUpdate));
    assert!(cycle(&locks.edges(), owner(2).party).is_some());
    locks.withdraw(last);
    assert_eq!(cycle(&locks.edges(), owner(1).party), None);
}

#[test]
fn rows_that_others_have_are_listed_by_table() {
    let mut locks = LockTable::default();
    for key in [1, 2, 3] {
        assert!(locks.try_acquire(owner(u64::from(key)), &row(key), Mode::ForNoKeyUpdate));
    }
    let party = Some(owner(2).party);
    assert_eq!(locks.rows_taken(party, 1, Mode::ForUpdate).count(), 2);
    assert_eq!(locks.rows_taken(party, 1, Mode::ForKeyShare).count(), 0);
    assert_eq!(locks.rows_taken(party, 2, Mode::ForUpdate).count(), 0);
}

proptest! {
    /// After any requests and releases no two parties hold modes that conflict, nobody waits without a
    /// reason, and nothing is left when all have ended.
    #[test]
    fn no_conflicting_locks_are_held(
        steps in prop::collection::vec((1..5_u64, 0..3_u8, 0..4_usize, 0..6_u8), 1..80)
    ) {
        let mut locks = LockTable::default();
        let mut tickets = Vec::new();
        for (who, key, mode, what) in steps {
            match what {
                0 => drop(locks.release_since(owner(who), 0)),
                1 => drop(tickets.pop().map(|ticket| locks.withdraw(ticket))),
                _ => match locks.acquire(owner(who), &row(key), Mode::ALL[mode]) {
                    Acquired::Granted => {}
                    Acquired::Waits(ticket) => tickets.push(ticket),
                },
            }
            let all = locks.list();
            for one in all.iter().filter(|one| one.granted) {
                for other in all.iter().filter(|other| other.granted && other.target == one.target) {
                    let is_same = one.owner.party == other.owner.party;
                    prop_assert!(is_same || !one.mode.conflicts_with(other.mode));
                }
            }
            for waiter in all.iter().filter(|waiter| !waiter.granted) {
                prop_assert!(!locks.blockers(waiter.owner.party).is_empty());
            }
        }
        for ticket in tickets {
            locks.withdraw(ticket);
        }
        for who in 1..5 {
            locks.release_since(owner(who), 0);
        }
        prop_assert!(locks.is_empty());
    }
}
