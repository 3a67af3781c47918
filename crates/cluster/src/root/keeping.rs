//! What the root finds again after a restart: the members, the clock, and decisions.

use super::Root;
use super::oracle::Oracle;
use crate::facts;
use crate::membership::Members;
use futures::executor::block_on;
use protocols::planted::{Bug, is_planted};
use sdds::{ServerId, Timestamp};
use std::sync::atomic::Ordering;
use store::{Error, Store};

/// Timestamps that are leased at a time.
const LEASE: u64 = 1 << 20;

/// Outcomes that are not worth the effort to forget them.
const OUTCOMES_KEPT: usize = 1 << 10;

impl Root {
    /// The members that a data directory knows; `None` for a new cluster.
    ///
    /// # Errors
    /// XX001 if they cannot be read.
    pub(crate) fn kept_members(store: &Store) -> Result<Option<Members>, Error> {
        facts::read(store, facts::MEMBERS)
    }

    /// Continues with the clock and the decisions that the data directory knows. Until a member has sent a heartbeat, or is
    /// silent for too long, any snapshot may be in use there.
    ///
    /// # Errors
    /// XX001 if they cannot be read.
    pub(crate) fn resume(&self) -> Result<(), Error> {
        let mut oracle = self.oracle.lock();
        let clock: Option<u64> = facts::read(&self.store, facts::CLOCK)?;
        let clock = clock.filter(|_| !is_planted(Bug::TimestampReused));
        let last = oracle.now().max(Timestamp(clock.unwrap_or(0)));
        *oracle = Oracle::durable(last);
        for (name, value) in self.store.facts(facts::OUTCOMES) {
            let outcome: Option<u64> = facts::decode(&name, &value)?;
            if let Some(transaction) = facts::transaction(&name) {
                oracle.remember(transaction, outcome.map(Timestamp));
            }
        }
        *self.starts.lock() = facts::read(&self.store, facts::STARTS)?.unwrap_or(0);
        let members = self.membership.list.read().clone();
        for member in members.present().filter(|member| member.server != self.membership.here) {
            self.await_heartbeat(member.server, Timestamp::ZERO, 0);
        }
        Ok(())
    }

    /// Makes the list of members durable if it has changed.
    ///
    /// # Errors
    /// Those of the disk.
    pub(crate) async fn keep_members(&self) -> Result<(), Error> {
        let members = self.membership.list.read().clone();
        if members.version <= self.kept_version.load(Ordering::Acquire) {
            return Ok(());
        }
        facts::write(&self.store, facts::MEMBERS, &members)?.wait().await?;
        self.kept_version.fetch_max(members.version, Ordering::AcqRel);
        Ok(())
    }

    /// Counts the start of a server. Returns 0 if the cluster keeps no data.
    ///
    /// # Errors
    /// Those of the disk.
    pub(crate) async fn next_start(&self) -> Result<u64, Error> {
        if self.store.journal().is_none() {
            return Ok(0);
        }
        let (start, kept) = {
            let mut starts = self.starts.lock();
            let kept = facts::write(&self.store, facts::STARTS, &(*starts + 1))?;
            *starts += 1;
            (*starts, kept)
        };
        kept.wait().await?;
        Ok(start)
    }

    /// Makes sure that so many timestamps may be assigned. Blocks the thread if that has to be made durable first,
    /// which [`Self::lease_ahead`] prevents.
    ///
    /// # Errors
    /// Those of the disk.
    pub(super) fn lease_for(&self, oracle: &mut Oracle, count: u64) -> Result<(), Error> {
        if !oracle.has_lease(count) {
            let bound = Timestamp(oracle.now().0 + count + LEASE);
            block_on(facts::write(&self.store, facts::CLOCK, &bound.0)?.wait())?;
            oracle.lease(bound);
        }
        Ok(())
    }

    /// Leases timestamps before they are needed.
    ///
    /// # Errors
    /// Those of the disk.
    pub(crate) async fn lease_ahead(&self) -> Result<(), Error> {
        let now = {
            let oracle = self.oracle.lock();
            if oracle.has_lease(LEASE / 2) {
                return Ok(());
            }
            oracle.now()
        };
        let bound = Timestamp(now.0 + 2 * LEASE);
        facts::write(&self.store, facts::CLOCK, &bound.0)?.wait().await?;
        self.oracle.lock().lease(bound);
        Ok(())
    }

    /// Notes up to where the transactions of a server have ended, and forgets what has ended on all.
    pub(super) fn note_settled(&self, server: ServerId, settled: Timestamp) {
        if self.store.journal().is_none() {
            return;
        }
        let forgets = is_planted(Bug::OutcomeForgotten);
        let mut all = self.settled.lock();
        all.insert(server, settled);
        let members = self.membership.list.read();
        let of = |server| all.get(&server).copied().unwrap_or(Timestamp::ZERO);
        let settled = members.present().map(|member| of(member.server)).min();
        drop(members);
        let mut oracle = self.oracle.lock();
        let settled = if forgets { Some(oracle.now()) } else { settled };
        let is_much = oracle.outcomes() > OUTCOMES_KEPT || forgets;
        let (Some(settled), true) = (settled, is_much) else { return };
        for transaction in oracle.forget(settled) {
            // A fact that is left costs memory only.
            let _ = self.store.set_fact(&facts::outcome(transaction), None);
        }
    }
}
