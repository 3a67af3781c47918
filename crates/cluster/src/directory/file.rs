//! The owners of one table's keys, as this server knows them: a state machine ([`protocols::routing::File`]) behind a lock,
//! what waits for keys to arrive, and counters.

use crate::membership::ROOT;
use parking_lot::Mutex;
use protocols::routing::{self, Effect, Event, Parts, Place};
use sdds::directory::{Entry, Message, Settings};
use sdds::{GroupId, Key, KeyRange};
use std::sync::atomic::{AtomicU64, Ordering};
use store::Finding;
use store::catalog::{Table, TableId};
use tokio::sync::Notify;

/// The distributed file of one table.
#[derive(Debug)]
pub(crate) struct File {
    table: TableId,
    state: Mutex<routing::File>,
    /// Notified when keys have arrived somewhere.
    moved: Notify,
    counters: Counters,
}

/// Counters of [`Finding`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) requests: AtomicU64,
    pub(crate) forwards: AtomicU64,
    pub(crate) adjustments: AtomicU64,
    pub(crate) broadcasts: AtomicU64,
}

/// Messages of the directory to be sent.
pub(crate) type Outbox = Vec<(GroupId, Message<()>)>;

impl File {
    /// Opens the file of a table on the server of a group. `groups` are all groups of the cluster; only the root
    /// needs them.
    pub(super) fn open(table: &Table, here: GroupId, groups: &[GroupId]) -> Self {
        let place = Place { here, root: ROOT, home: table.home };
        Self::of(table, routing::File::open(place, groups, Settings::default()))
    }

    /// The file of a table after a restart, of which this server has kept some ranges. `start` is the number of the
    /// start.
    pub(super) fn restored(table: &Table, here: GroupId, owned: &[KeyRange], start: u64) -> Self {
        let place = Place { here, root: ROOT, home: table.home };
        Self::of(table, routing::File::restored(place, owned, start, Settings::default()))
    }

    fn of(table: &Table, state: routing::File) -> Self {
        let (state, moved, counters) = (Mutex::new(state), Notify::new(), Counters::default());
        Self { table: table.id, state, moved, counters }
    }

    pub(crate) fn table(&self) -> TableId {
        self.table
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Statistics of finding owners.
    pub(crate) fn finding(&self) -> Finding {
        let Counters { requests, forwards, adjustments, broadcasts } = &self.counters;
        Finding {
            requests: requests.load(Ordering::Relaxed),
            forwards: forwards.load(Ordering::Relaxed),
            adjustments: adjustments.load(Ordering::Relaxed),
            broadcasts: broadcasts.load(Ordering::Relaxed),
        }
    }

    /// Waits until keys arrive somewhere after this call.
    pub(crate) fn moved(&self) -> impl Future<Output = ()> + '_ {
        let mut moved = Box::pin(self.moved.notified());
        moved.as_mut().enable();
        moved
    }

    /// The owners of a range according to the image; `None` while some of it is leaving.
    pub(crate) fn believed(&self, range: &KeyRange) -> Option<Parts> {
        self.state.lock().believed(range)
    }

    /// The owners of a range according to the directory, or groups that know more; `None` while
    /// some of it is leaving. Adds entries of the directory pages that were used to `found`.
    pub(crate) fn known(&self, range: &KeyRange, found: &mut Vec<Entry>) -> Option<Parts> {
        self.state.lock().known(range, found)
    }

    /// Believed owners of the keys around one that another server owns; empty for a key that is
    /// owned here.
    pub(crate) fn around(&self, key: &Key) -> Vec<Entry> {
        self.state.lock().around(key)
    }

    /// The parts of a range that this server owns, as entries.
    pub(crate) fn own(&self, range: &KeyRange) -> Vec<Entry> {
        self.state.lock().own(range)
    }

    /// The entries of the image.
    pub(crate) fn image(&self) -> Vec<Entry> {
        self.state.lock().image().collect()
    }

    /// Memory of the directory pages and the image in bytes.
    pub(crate) fn directory_bytes(&self) -> u64 {
        self.state.lock().bytes() as u64
    }

    /// Number of directory pages on this server.
    pub(crate) fn pages(&self) -> u64 {
        self.state.lock().pages().len() as u64
    }

    /// Applies an adjustment.
    pub(crate) fn learn(&self, entries: &[Entry]) {
        let mut effects = Vec::new();
        self.state.lock().step(Event::Told(entries), &mut effects);
        if !effects.is_empty() {
            self.counters.adjustments.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Takes an event. Returns the messages to be sent.
    ///
    /// # Errors
    /// Why a message is refused.
    pub(crate) fn step(&self, event: Event<'_>) -> Result<Outbox, &'static str> {
        let mut effects = Vec::new();
        self.state.lock().step(event, &mut effects);
        self.moved.notify_waiters();
        let mut outbox = Outbox::new();
        for effect in effects {
            match effect {
                Effect::Send { to, message } => outbox.push((to, message)),
                Effect::Refuse(reason) => return Err(reason),
                Effect::Adjusted => {}
            }
        }
        Ok(outbox)
    }

    /// Takes an event that is none of another server. Returns the messages to be sent.
    pub(crate) fn change(&self, event: Event<'_>) -> Outbox {
        self.step(event).unwrap_or_else(|reason| panic!("{reason} is not one of this server"))
    }

    /// Notes that a group has joined. Only the root server needs this.
    pub(crate) fn join(&self, group: GroupId) {
        self.state.lock().step(Event::Joined(group), &mut Vec::new());
    }

    /// Releases a range to another group if `freeze` succeeds: both or nothing, atomically for
    /// readers of this file. Returns the message for the new owner; `None` if this server does not
    /// own all of the range.
    pub(crate) fn release<E>(
        &self,
        range: &KeyRange,
        to: GroupId,
        freeze: impl FnOnce() -> Result<(), E>,
    ) -> Result<Option<Message<()>>, E> {
        let mut state = self.state.lock();
        if !state.owns_all(range) {
            return Ok(None);
        }
        freeze()?;
        let mut effects = Vec::new();
        state.step(Event::Release { range, to }, &mut effects);
        let adopt = effects.into_iter().find_map(|effect| match effect {
            Effect::Send { message, .. } => Some(message),
            Effect::Adjusted | Effect::Refuse(_) => None,
        });
        Ok(adopt)
    }
}
