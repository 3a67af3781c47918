//! The lock table.
//!
//! A request is granted if it conflicts with nobody who holds the target, and with nobody who waits
//! for it already. A party that holds something on the target is not held up by those who wait:
//! some of them wait for it.
//!
//! Invariants: of two parties that hold a target, no modes conflict; a request waits only if it
//! conflicts with a holder or with an earlier request.

use crate::mode::Modes;
use crate::{Mode, Moved, Owner, Party, Target, Ticket};
use std::collections::{BTreeMap, BTreeSet};

/// The locks, and the requests that wait for them.
#[derive(Debug, Default)]
pub struct LockTable {
    targets: BTreeMap<Target, Locked>,
    /// What each owner holds, in the order in which it was granted.
    held: BTreeMap<Owner, Vec<(Target, Mode)>>,
    /// Where the requests wait.
    waiting: BTreeMap<Ticket, Target>,
    tickets: u64,
    /// Where rows are for which requests have waited.
    pub moved: Moved,
}

/// A target that is locked.
#[derive(Debug, Default)]
struct Locked {
    holders: Vec<(Owner, Modes)>,
    /// In the order in which they came.
    waiters: Vec<Waiter>,
}

#[derive(Debug, Clone, Copy)]
struct Waiter {
    ticket: Ticket,
    owner: Owner,
    mode: Mode,
}

/// The answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acquired {
    /// The owner holds the lock.
    Granted,
    /// The request waits.
    Waits(Ticket),
}

/// A lock, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// What is locked.
    pub target: Target,
    /// By whom, or for whom.
    pub owner: Owner,
    /// The mode.
    pub mode: Mode,
    /// Whether it is held; otherwise the request waits.
    pub granted: bool,
}

impl Locked {
    /// Whether a request of a party conflicts with a holder, or with one of the first `earlier` that wait.
    fn blocks(&self, party: Party, mode: Mode, earlier: usize) -> bool {
        let conflicts = mode.conflicts();
        let others =
            |(owner, modes): &(Owner, Modes)| owner.party != party && modes.overlaps(conflicts);
        if self.holders.iter().any(others) {
            return true;
        }
        let holds = self.holders.iter().any(|(owner, _)| owner.party == party);
        !holds
            && self.waiters[..earlier]
                .iter()
                .any(|earlier| earlier.owner.party != party && mode.conflicts_with(earlier.mode))
    }

    fn modes(&mut self, owner: Owner) -> &mut Modes {
        let at = self.holders.iter().position(|(holder, _)| *holder == owner);
        let at = at.unwrap_or_else(|| {
            self.holders.push((owner, Modes::default()));
            self.holders.len() - 1
        });
        &mut self.holders[at].1
    }
}

impl LockTable {
    /// Whether nobody holds a lock or waits for one.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Requests a lock. A request that its owner has made before, and that waits, is the same request.
    pub fn acquire(&mut self, owner: Owner, target: &Target, mode: Mode) -> Acquired {
        if self.try_acquire(owner, target, mode) {
            return Acquired::Granted;
        }
        let locked = self.targets.entry(target.clone()).or_default();
        let is_same = |waiter: &&Waiter| waiter.owner == owner && waiter.mode == mode;
        if let Some(waiter) = locked.waiters.iter().find(is_same) {
            return Acquired::Waits(waiter.ticket);
        }
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        locked.waiters.push(Waiter { ticket, owner, mode });
        self.waiting.insert(ticket, target.clone());
        Acquired::Waits(ticket)
    }

    /// Requests a lock that is granted now or not at all.
    pub fn try_acquire(&mut self, owner: Owner, target: &Target, mode: Mode) -> bool {
        match self.targets.get_mut(target) {
            Some(locked) => {
                if locked.holders.iter().any(|(of, modes)| *of == owner && modes.contains(mode)) {
                    return true;
                }
                if locked.blocks(owner.party, mode, locked.waiters.len()) {
                    return false;
                }
                locked.modes(owner).add(mode);
            }
            None => {
                let holders = vec![(owner, Modes::of(&[mode]))];
                self.targets.insert(target.clone(), Locked { holders, waiters: Vec::new() });
            }
        }
        self.held.entry(owner).or_default().push((target.clone(), mode));
        true
    }

    /// Whether a party could have a lock now. Nothing is granted.
    pub fn is_free(&self, party: Option<Party>, target: &Target, mode: Mode) -> bool {
        self.targets.get(target).is_none_or(|locked| is_free_in(locked, party, mode))
    }

    /// Returns the keys of a table whose rows a party could not have locks on now.
    pub fn rows_taken(
        &self,
        party: Option<Party>,
        table: u32,
        mode: Mode,
    ) -> impl Iterator<Item = &sdds::Key> {
        let first = Target::Row(table, sdds::Key::from(&[][..]));
        let rows = self.targets.range(first..).map_while(move |(target, locked)| match target {
            Target::Row(of, key) if *of == table => Some((key, locked)),
            _ => None,
        });
        rows.filter_map(move |(key, locked)| (!is_free_in(locked, party, mode)).then_some(key))
    }

    /// Whether an owner holds a lock in this mode.
    pub fn holds(&self, owner: Owner, target: &Target, mode: Mode) -> bool {
        let holders = self.targets.get(target).map_or(&[][..], |locked| &locked.holders);
        holders.iter().any(|(of, modes)| *of == owner && modes.contains(mode))
    }

    /// Returns the number of locks of an owner: a mark for [`Self::release_since`].
    pub fn count(&self, owner: Owner) -> usize {
        self.held.get(&owner).map_or(0, Vec::len)
    }

    /// Releases what an owner was granted since a mark. Returns whom this lets go on.
    pub fn release_since(&mut self, owner: Owner, mark: usize) -> Vec<Ticket> {
        let Some(held) = self.held.get_mut(&owner) else { return Vec::new() };
        let released = held.split_off(mark.min(held.len()));
        if held.is_empty() {
            self.held.remove(&owner);
        }
        let mut granted = Vec::new();
        for (target, mode) in released.into_iter().rev() {
            self.let_go(owner, &target, mode, &mut granted);
        }
        granted
    }

    /// Releases one lock. Returns whom this lets go on; `None` if the owner does not hold it.
    pub fn release(&mut self, owner: Owner, target: &Target, mode: Mode) -> Option<Vec<Ticket>> {
        let held = self.held.get_mut(&owner)?;
        let at = held.iter().rposition(|(of, as_)| of == target && *as_ == mode)?;
        held.remove(at);
        if held.is_empty() {
            self.held.remove(&owner);
        }
        let mut granted = Vec::new();
        self.let_go(owner, target, mode, &mut granted);
        Some(granted)
    }

    /// Ends a request that waits. One that has been granted meanwhile stays granted. Returns whom this
    /// lets go on.
    pub fn withdraw(&mut self, ticket: Ticket) -> Vec<Ticket> {
        let mut granted = Vec::new();
        let Some(target) = self.waiting.remove(&ticket) else { return granted };
        if let Some(locked) = self.targets.get_mut(&target) {
            locked.waiters.retain(|waiter| waiter.ticket != ticket);
        }
        self.promote(&target, &mut granted);
        granted
    }

    /// Ends the requests of an owner that wait, and releases what it holds. Returns whom this lets go on.
    pub fn end(&mut self, owner: Owner) -> Vec<Ticket> {
        let is_own = |target: &Target, ticket: Ticket| {
            let waiters = self.targets.get(target).map_or(&[][..], |locked| &locked.waiters);
            waiters.iter().any(|waiter| waiter.ticket == ticket && waiter.owner == owner)
        };
        let waiting = self.waiting.iter().filter(|(ticket, target)| is_own(target, **ticket));
        let tickets: Vec<Ticket> = waiting.map(|(ticket, _)| *ticket).collect();
        let mut granted: Vec<Ticket> =
            tickets.into_iter().flat_map(|ticket| self.withdraw(ticket)).collect();
        granted.extend(self.release_since(owner, 0));
        granted
    }

    /// Returns the owners that hold locks.
    pub fn owners(&self) -> impl Iterator<Item = Owner> {
        self.held.keys().copied()
    }

    /// Whether a request waits.
    pub fn waits(&self, ticket: Ticket) -> bool {
        self.waiting.contains_key(&ticket)
    }

    fn let_go(&mut self, owner: Owner, target: &Target, mode: Mode, granted: &mut Vec<Ticket>) {
        if let Some(locked) = self.targets.get_mut(target) {
            locked.modes(owner).remove(mode);
            locked.holders.retain(|(_, modes)| !modes.is_empty());
        }
        self.promote(target, granted);
    }

    /// Grants requests that nothing blocks any more, in their order.
    fn promote(&mut self, target: &Target, granted: &mut Vec<Ticket>) {
        let Some(locked) = self.targets.get_mut(target) else { return };
        let mut at = 0;
        while let Some(waiter) = locked.waiters.get(at).copied() {
            if locked.blocks(waiter.owner.party, waiter.mode, at) {
                at += 1;
                continue;
            }
            locked.waiters.remove(at);
            self.waiting.remove(&waiter.ticket);
            let modes = locked.modes(waiter.owner);
            if !modes.contains(waiter.mode) {
                modes.add(waiter.mode);
                let held = self.held.entry(waiter.owner).or_default();
                held.push((target.clone(), waiter.mode));
            }
            granted.push(waiter.ticket);
        }
        if locked.holders.is_empty() && locked.waiters.is_empty() {
            self.targets.remove(target);
        }
    }

    /// Whether an owner of a party holds a lock. Nobody waits for one that holds none.
    pub fn holds_any(&self, party: Party) -> bool {
        let first = Owner { party, transaction: 0 };
        self.held.range(first..).next().is_some_and(|(owner, _)| owner.party == party)
    }

    /// Returns the parties that each waiting party waits for, once a pair.
    pub fn edges(&self) -> Vec<(Party, Party)> {
        let mut edges = Vec::new();
        let targets: BTreeSet<&Target> = self.waiting.values().collect();
        for locked in targets.into_iter().filter_map(|target| self.targets.get(target)) {
            for (at, waiter) in locked.waiters.iter().enumerate() {
                let party = waiter.owner.party;
                edges.extend(locked.blockers(waiter, at).map(|blocker| (party, blocker)));
            }
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Returns the parties that a party waits for.
    pub fn blockers(&self, party: Party) -> Vec<Party> {
        let edges = self.edges().into_iter();
        edges.filter(|(waiter, _)| *waiter == party).map(|(_, blocker)| blocker).collect()
    }

    /// Returns all locks and all requests that wait.
    pub fn list(&self) -> Vec<Listed> {
        let mut all = Vec::new();
        for (target, locked) in &self.targets {
            let listed =
                |owner, mode, granted| Listed { target: target.clone(), owner, mode, granted };
            for (owner, modes) in &locked.holders {
                all.extend(modes.iter().map(|mode| listed(*owner, mode, true)));
            }
            all.extend(locked.waiters.iter().map(|w| listed(w.owner, w.mode, false)));
        }
        all
    }
}

impl Locked {
    /// The parties that a request waits for, which is behind `earlier` others.
    fn blockers<'a>(
        &'a self,
        waiter: &'a Waiter,
        earlier: usize,
    ) -> impl Iterator<Item = Party> + 'a {
        let party = waiter.owner.party;
        let conflicts = waiter.mode.conflicts();
        let holders = self.holders.iter().filter(move |(_, modes)| modes.overlaps(conflicts));
        let before = self.waiters[..earlier].iter();
        let before = before.filter(move |other| conflicts.contains(other.mode));
        let holders = holders.map(|(owner, _)| owner.party);
        holders.chain(before.map(|other| other.owner.party)).filter(move |other| *other != party)
    }
}

/// Whether no other party holds a conflicting mode, or waits for one ahead of a party that holds none.
fn is_free_in(locked: &Locked, party: Option<Party>, mode: Mode) -> bool {
    let conflicts = mode.conflicts();
    let is_other = |owner: &Owner| Some(owner.party) != party;
    let holds = locked.holders.iter().any(|(owner, _)| !is_other(owner));
    let is_held = |(owner, modes): &(Owner, Modes)| is_other(owner) && modes.overlaps(conflicts);
    let is_awaited = |w: &Waiter| is_other(&w.owner) && conflicts.contains(w.mode);
    !locked.holders.iter().any(is_held) && (holds || !locked.waiters.iter().any(is_awaited))
}

#[cfg(test)]
mod tests;
