//! The owners of one table's keys, as this server knows them: the state machine of its own keys and
//! directory pages, and the image of the others.
//!
//! A coordinator uses its image, which owners correct. A server that is asked for keys that it does
//! not own uses the directory, which takes at most two steps ([`sdds::directory`]).

use crate::membership::ROOT;
use parking_lot::Mutex;
use protocols::planted::{Bug, is_planted};
use sdds::directory::{
    Content, Effect, Entry, Image, Level, Message, Owner, Server, Settings, Way,
};
use sdds::{Bound, Epoch, GroupId, Key, KeyRange};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use store::Finding;
use store::catalog::{Table, TableId};
use tokio::sync::Notify;

/// Maximum number of entries of an adjustment.
pub(crate) const ADJUSTMENT_ENTRIES: usize = 512;

/// Number of entries on either side of a key that clients are told.
const NEIGHBOURS: usize = 128;

/// Number of received directory pages that are remembered to ignore duplicates.
const PAGES_REMEMBERED: usize = 1 << 10;

/// The distributed file of one table.
#[derive(Debug)]
pub(crate) struct File {
    table: TableId,
    state: Mutex<State>,
    /// Notified when keys have arrived somewhere.
    moved: Notify,
    counters: Counters,
}

#[derive(Debug)]
struct State {
    server: Server<()>,
    image: Image,
    /// Low bound and epoch of the last pages received: a duplicate must not undo later changes of
    /// the page.
    pages: VecDeque<(Bound, Epoch)>,
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

/// Parts of a range in key order, each with a group.
pub(crate) type Parts = Vec<(KeyRange, GroupId)>;

impl File {
    /// Opens the file of a table on the server of a group. `groups` are all groups of the cluster; only the root
    /// needs them.
    pub(super) fn open(table: &Table, here: GroupId, groups: &[GroupId]) -> Self {
        let mut server = Server::of_new_file(here, ROOT, table.home, Settings::default());
        if here == ROOT {
            groups.iter().for_each(|group| server.join(*group));
        }
        let image = Image::new(table.home);
        Self {
            table: table.id,
            state: Mutex::new(State { server, image, pages: VecDeque::new() }),
            moved: Notify::new(),
            counters: Counters::default(),
        }
    }

    /// The file of a table after a restart, of which this server has kept some ranges. `start` is the number of the
    /// start.
    pub(super) fn restored(table: &Table, here: GroupId, owned: &[KeyRange], start: u64) -> Self {
        let epoch = if is_planted(Bug::EpochReused) { Epoch::FIRST } else { epoch_of(start) };
        let server = Server::restored(here, ROOT, owned, epoch, Settings::default());
        let mut image = Image::new(table.home);
        image.learn_all(&own(&server, &KeyRange::all()));
        Self {
            table: table.id,
            state: Mutex::new(State { server, image, pages: VecDeque::new() }),
            moved: Notify::new(),
            counters: Counters::default(),
        }
    }

    /// Begins the directory anew, after the start of a server.
    pub(crate) fn forget_pages(&self, start: u64) {
        self.state.lock().server.forget_pages(epoch_of(start));
        self.moved.notify_waiters();
    }

    /// Tells the root what this server owns.
    pub(crate) fn announce(&self) -> Outbox {
        self.step(Server::announce)
    }

    /// Serves keys again that were frozen before a restart.
    pub(crate) fn reclaim(&self, range: &KeyRange, start: u64) -> Outbox {
        self.step(|server, effects| server.reclaim(range, epoch_of(start), effects))
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
        let mut state = self.state.lock();
        let here = state.server.group();
        let mut parts = Parts::new();
        for (part, way) in state.server.ways(range) {
            match way {
                Way::Wait => return None,
                Way::Here => push(&mut parts, part, here),
                Way::To { group, page } => {
                    state.image.learn_all(&page);
                    for entry in state.image.cover(&part) {
                        let believed = entry.owner.group;
                        let owner = if believed == here { group } else { believed };
                        push(&mut parts, entry.range, owner);
                    }
                }
            }
        }
        Some(parts)
    }

    /// The owners of a range according to the directory, or groups that know more; `None` while
    /// some of it is leaving. Adds entries of the directory pages that were used to `found`.
    pub(crate) fn known(&self, range: &KeyRange, found: &mut Vec<Entry>) -> Option<Parts> {
        let state = self.state.lock();
        let here = state.server.group();
        let mut parts = Parts::new();
        let mut told: Option<Entry> = None;
        for (part, way) in state.server.ways(range) {
            match way {
                Way::Wait => return None,
                Way::Here => push(&mut parts, part, here),
                Way::To { group, page } => {
                    // A page that answers several parts is added once.
                    if page.first() != told.as_ref() && found.len() < ADJUSTMENT_ENTRIES {
                        told = page.first().cloned();
                        found.extend(page);
                    }
                    push(&mut parts, part, group);
                }
            }
        }
        Some(parts)
    }

    /// Believed owners of the keys around one that another server owns; empty for a key that is
    /// owned here.
    pub(crate) fn around(&self, key: &Key) -> Vec<Entry> {
        let mut state = self.state.lock();
        for (_, way) in state.server.ways(&KeyRange::point(key)) {
            let Way::To { page, .. } = way else { return Vec::new() };
            state.image.learn_all(&page);
        }
        let mut entries = state.image.around(key, NEIGHBOURS);
        let stretch = match (entries.first(), entries.last()) {
            (Some(first), Some(last)) => {
                KeyRange { low: first.range.low.clone(), high: last.range.high.clone() }
            }
            _ => return Vec::new(),
        };
        entries.retain(|entry| entry.owner.epoch > Epoch::GUESS);
        entries.extend(own(&state.server, &stretch));
        entries
    }

    /// The parts of a range that this server owns, as entries.
    pub(crate) fn own(&self, range: &KeyRange) -> Vec<Entry> {
        own(&self.state.lock().server, range)
    }

    /// Applies an adjustment.
    pub(crate) fn learn(&self, entries: &[Entry]) {
        if self.state.lock().image.learn_all(entries) {
            self.counters.adjustments.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The entries of the image.
    pub(crate) fn image(&self) -> Vec<Entry> {
        self.state.lock().image.iter().collect()
    }

    /// Memory of the directory pages and the image in bytes.
    pub(crate) fn directory_bytes(&self) -> u64 {
        let state = self.state.lock();
        (state.server.directory_bytes() + state.image.bytes()) as u64
    }

    /// Number of directory pages on this server.
    pub(crate) fn pages(&self) -> u64 {
        self.state.lock().server.pages().owned(&KeyRange::all()).len() as u64
    }

    /// Handles a message of the directory. Returns the messages to be sent. A duplicate page has no
    /// effect.
    pub(crate) fn handle(&self, message: Message<()>) -> Outbox {
        if let Message::Adopt { range, epoch, content: Content::Page(_), .. } = &message {
            let mut state = self.state.lock();
            let page = (range.low.clone(), *epoch);
            if state.pages.contains(&page) {
                return Outbox::new();
            }
            state.pages.push_back(page);
            if state.pages.len() > PAGES_REMEMBERED {
                state.pages.pop_front();
            }
        }
        self.step(|server, effects| server.handle(message, effects))
    }

    /// Handles the failed delivery of a message.
    pub(crate) fn undelivered(&self, to: GroupId, message: Message<()>) -> Outbox {
        self.step(|server, effects| server.unreachable(to, message, effects))
    }

    /// Does periodic work.
    pub(crate) fn heartbeat(&self) -> Outbox {
        self.step(Server::heartbeat)
    }

    /// Gives all directory pages on this server to another group.
    pub(crate) fn give_pages(&self, to: GroupId) -> Outbox {
        self.step(|server, effects| {
            for (range, _) in server.pages().owned(&KeyRange::all()) {
                let given = server.release(Level::Pages, &range, to, effects);
                debug_assert!(given.is_ok(), "a page that is kept can be given to another group");
            }
        })
    }

    /// Notes that a group has joined. Only the root server needs this.
    pub(crate) fn join(&self, group: GroupId) {
        self.state.lock().server.join(group);
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
        if !state.server.rows().owns_all(range) {
            return Ok(None);
        }
        freeze()?;
        let mut effects = Vec::new();
        let released = state.server.release(Level::Rows, range, to, &mut effects);
        debug_assert!(released.is_ok(), "all of it was owned");
        let adopt = effects.into_iter().find_map(|effect| match effect {
            Effect::Send { message, .. } => Some(message),
            _ => None,
        });
        Ok(adopt)
    }

    fn step(&self, step: impl FnOnce(&mut Server<()>, &mut Vec<Effect<()>>)) -> Outbox {
        let mut effects = Vec::new();
        step(&mut self.state.lock().server, &mut effects);
        self.moved.notify_waiters();
        let outbox = effects.into_iter().filter_map(|effect| match effect {
            Effect::Send { to, message } => Some((to, message)),
            // Requests are not routed by the state machine here.
            Effect::Serve(_) | Effect::Reply { .. } => None,
        });
        outbox.collect()
    }
}

/// The epoch of what a server owns after a start: greater than those of all moves before.
fn epoch_of(start: u64) -> Epoch {
    Epoch((start << 32) + 1)
}

/// The parts of a range that a server owns.
fn own(server: &Server<()>, range: &KeyRange) -> Vec<Entry> {
    let group = server.group();
    let owned = server.rows().owned(range).into_iter().take(ADJUSTMENT_ENTRIES);
    owned.map(|(range, epoch)| Entry { range, owner: Owner { group, epoch } }).collect()
}

/// Appends a part, merged with the last one if the owner is the same.
fn push(parts: &mut Parts, range: KeyRange, owner: GroupId) {
    match parts.last_mut() {
        Some((last, same)) if *same == owner && last.high == range.low => last.high = range.high,
        _ => parts.push((range, owner)),
    }
}
