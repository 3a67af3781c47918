//! What the root finds again after a restart: the members, the clock, and decisions.

use super::Root;
use crate::facts;
use crate::membership::Members;
use futures::executor::block_on;
use protocols::membership as members;
use protocols::oracle::{Effect, Event, Oracle};
use protocols::planted::{Bug, is_planted};
use sdds::{ServerId, Timestamp};
use store::{Error, Store};

impl Root {
    /// The members that a data directory knows; `None` for a new cluster.
    ///
    /// # Errors
    /// XX001 if they cannot be read.
    pub(crate) fn kept_members(store: &Store) -> Result<Option<Members>, Error> {
        facts::read(store, facts::MEMBERS)
    }

    /// Continues with the clock and the decisions that the data directory knows.
    ///
    /// # Errors
    /// XX001 if they cannot be read.
    pub(crate) fn resume(&self) -> Result<(), Error> {
        let clock: Option<u64> = facts::read(&self.store, facts::CLOCK)?;
        let clock = clock.filter(|_| !is_planted(Bug::TimestampReused));
        let mut outcomes = Vec::new();
        for (name, value) in self.store.facts(facts::OUTCOMES) {
            let outcome: Option<u64> = facts::decode(&name, &value)?;
            let transaction = facts::transaction(&name);
            outcomes.extend(transaction.map(|transaction| (transaction, outcome.map(Timestamp))));
        }
        let mut oracle = self.oracle.lock();
        let last = oracle.now().max(Timestamp(clock.unwrap_or(0)));
        *oracle = Oracle::resume(last, outcomes);
        Ok(())
    }

    /// Makes the list of members durable if it has changed.
    ///
    /// # Errors
    /// Those of the disk.
    pub(crate) async fn keep_members(&self) -> Result<(), Error> {
        let (version, kept) = {
            // Locked, so that no list is written after a newer one.
            let roster = self.roster.lock();
            let Some(members) = roster.unkept() else { return Ok(()) };
            (members.version, facts::write(&self.store, facts::MEMBERS, members)?)
        };
        kept.wait().await?;
        self.change(members::Event::Kept { version })
    }

    /// The number of the next start of a server. It is durable: no other start has it, after a restart of the root either.
    ///
    /// # Errors
    /// Those of the disk.
    pub(super) async fn next_start(&self) -> Result<u64, Error> {
        let (start, kept) = {
            let mut starts = self.starts.lock();
            let kept = facts::write(&self.store, facts::STARTS, &(*starts + 1))?;
            *starts += 1;
            (*starts, kept)
        };
        kept.wait().await?;
        Ok(start)
    }

    /// Takes an event at the oracle. Blocks the thread if timestamps have to be leased first, which [`Self::lease_ahead`]
    /// prevents.
    ///
    /// # Errors
    /// Those of the disk.
    pub(super) fn step(&self, oracle: &mut Oracle, event: Event<'_>) -> Result<Vec<Effect>, Error> {
        let mut effects = Vec::new();
        oracle.step(event, &mut effects);
        if let [Effect::Lease(bound)] = effects[..] {
            block_on(facts::write(&self.store, facts::CLOCK, &bound.0)?.wait())?;
            effects.clear();
            oracle.step(Event::Leased(bound), &mut effects);
            oracle.step(event, &mut effects);
        }
        Ok(effects)
    }

    /// Leases timestamps before they are needed.
    ///
    /// # Errors
    /// Those of the disk.
    pub(crate) async fn lease_ahead(&self) -> Result<(), Error> {
        let leased = {
            let (mut oracle, mut effects) = (self.oracle.lock(), Vec::new());
            oracle.step(Event::Tick, &mut effects);
            // Bounds are written in the order in which they are asked for.
            match effects[..] {
                [Effect::Lease(bound)] => {
                    Some((bound, facts::write(&self.store, facts::CLOCK, &bound.0)?))
                }
                _ => None,
            }
        };
        if let Some((bound, kept)) = leased {
            kept.wait().await?;
            self.oracle.lock().step(Event::Leased(bound), &mut Vec::new());
        }
        Ok(())
    }

    /// Notes up to where the transactions of a server have ended, and forgets what has ended on all.
    pub(super) fn note_settled(&self, server: ServerId, settled: Timestamp) {
        let present: Vec<ServerId> =
            self.membership.list().present().map(|member| member.server).collect();
        let mut effects = Vec::new();
        let event = Event::Settled { server, at: settled, present: &present };
        self.oracle.lock().step(event, &mut effects);
        for effect in effects {
            if let Effect::Forget(transaction) = effect {
                // A fact that is left costs memory only.
                let _ = self.store.set_fact(&facts::outcome(transaction), None);
            }
        }
    }
}
