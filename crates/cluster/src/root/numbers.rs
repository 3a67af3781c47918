//! Advisory locks, which the root keeps in its lock table for the sessions of all servers.
//!
//! Which requests are obeyed is decided by a state machine, [`protocols::numbers`].

use super::Root;
use protocols::numbers::{Effect, Event, Order};
use sdds::ServerId;
use store::locks::{Mode, Owner, Space, Target};
use store::{Error, LockWait};

/// A lock that is asked for.
pub(crate) type Place = ((Space, i64), Mode);

/// What a request for a lock leads to at once.
#[derive(Debug)]
pub(crate) enum Asked {
    /// The owner has it.
    Taken,
    /// The owner does not get it.
    Refused,
    /// The request waits.
    Waits(LockWait),
}

/// The number of the first request for advisory locks of a server, by the number of its start.
pub(crate) fn first_of(start: u64) -> u64 {
    (start << 40) + 1
}

fn target(((space, number), _): Place) -> Target {
    Target::Advisory(space, number)
}

impl Root {
    /// Asks for a lock. Who waits calls [`Self::number_awaited`] afterwards.
    ///
    /// # Errors
    /// 40P01.
    pub(crate) fn lock_number(
        &self,
        order: Order,
        owner: Owner,
        place: Place,
        waits: bool,
    ) -> Result<Asked, Error> {
        let mut numbers = self.numbers.lock();
        let mut effects = Vec::new();
        let server = owner.party.server;
        numbers.step(server, Event::Lock(order, owner, place), &mut effects);
        if effects.contains(&Effect::Refuse) {
            return Ok(Asked::Refused);
        }
        let (target, mode) = (target(place), place.1);
        if self.store.try_lock_for(owner, &target, mode) {
            return Ok(Asked::Taken);
        }
        self.store.unlock_all_of(|server| self.membership.is_lost(server));
        let asked = match waits {
            false if self.store.try_lock_for(owner, &target, mode) => Ok(Asked::Taken),
            false => Ok(Asked::Refused),
            true => self.store.lock_for(owner, target, mode).map(|wait| match wait {
                Some(wait) => Asked::Waits(wait),
                None => Asked::Taken,
            }),
        };
        if matches!(asked, Ok(Asked::Refused) | Err(_)) {
            numbers.step(server, Event::Denied(order, owner, place), &mut effects);
        }
        asked
    }

    /// Ends the wait of a request. Returns whether its owner has the lock now.
    pub(crate) fn number_awaited(&self, order: Order, owner: Owner, place: Place) -> bool {
        let mut numbers = self.numbers.lock();
        let mut effects = Vec::new();
        let (target, mode) = (target(place), place.1);
        let event = match self.store.has_lock(owner, &target, mode) {
            true => Event::Granted(order, owner, place),
            false => Event::Denied(order, owner, place),
        };
        numbers.step(owner.party.server, event, &mut effects);
        for effect in effects {
            assert_eq!(effect, Effect::Release(owner, place), "its owner has ended it");
            self.store.unlock_for(owner, &target, mode);
        }
        self.store.has_lock(owner, &target, mode)
    }

    /// Releases a lock of an owner, or all.
    pub(crate) fn unlock_numbers(&self, order: Order, owner: Owner, one: Option<Place>) {
        let mut numbers = self.numbers.lock();
        let mut effects = Vec::new();
        numbers.step(owner.party.server, Event::Unlock(order, owner, one), &mut effects);
        for effect in effects {
            match effect {
                Effect::Release(owner, place) => {
                    self.store.unlock_for(owner, &target(place), place.1);
                }
                Effect::ReleaseAll(owner) => self.store.unlock_all_for(owner),
                Effect::Take | Effect::Refuse => panic!("an end takes nothing"),
            }
        }
    }

    /// Ends the locks of all sessions of a server, which has been started.
    pub(super) fn forget_numbers(&self, server: ServerId, start: u64) {
        let mut numbers = self.numbers.lock();
        numbers.step(server, Event::Started(first_of(start)), &mut Vec::new());
        self.store.unlock_all_of(|other| other == server);
    }
}
