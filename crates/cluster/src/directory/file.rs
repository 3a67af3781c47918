//! Whose keys are whose, as one server knows it: for each table the state machine that says what is its own and keeps
//! its pages of the directory, and the image of what is not.
//!
//! A server that coordinates asks whoever its image names, and is corrected. A server that is asked for keys that are
//! not its own does not guess: it goes by the directory, which ends after two steps ([`sdds::directory`]).

use crate::membership::ROOT;
use parking_lot::Mutex;
use sdds::directory::{
    Content, Effect, Entry, Image, Level, Message, Owner, Server, Settings, Way,
};
use sdds::{Bound, Epoch, GroupId, Key, KeyRange};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use store::Finding;
use store::catalog::{Table, TableId};
use tokio::sync::Notify;

/// Entries that an adjustment carries at most.
pub(crate) const ADJUSTMENT_ENTRIES: usize = 512;

/// Entries on either side of a key that a client is told of.
const NEIGHBOURS: usize = 128;

/// Pages of the directory that have come are known to have come until so many others have.
const PAGES_REMEMBERED: usize = 1 << 10;

/// What a server knows of one table's file.
#[derive(Debug)]
pub(crate) struct File {
    table: TableId,
    state: Mutex<State>,
    /// Keys have arrived somewhere.
    moved: Notify,
    counters: Counters,
}

#[derive(Debug)]
struct State {
    server: Server<()>,
    image: Image,
    /// Where the last pages that have come begin, and at which epoch: one that comes again must not undo what this server
    /// has noted on it since.
    pages: VecDeque<(Bound, Epoch)>,
}

/// [`Finding`] while it is counted.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) requests: AtomicU64,
    pub(crate) forwards: AtomicU64,
    pub(crate) adjustments: AtomicU64,
    pub(crate) broadcasts: AtomicU64,
}

/// Messages of the directory that are to be sent.
pub(crate) type Outbox = Vec<(GroupId, Message<()>)>;

/// Who has parts of a range, in order.
pub(crate) type Parts = Vec<(KeyRange, GroupId)>;

impl File {
    /// Opens the file of a table. `groups` are the members of the cluster; only the root server needs them.
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

    pub(crate) fn table(&self) -> TableId {
        self.table
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What finding owners has cost so far.
    pub(crate) fn finding(&self) -> Finding {
        let Counters { requests, forwards, adjustments, broadcasts } = &self.counters;
        Finding {
            requests: requests.load(Ordering::Relaxed),
            forwards: forwards.load(Ordering::Relaxed),
            adjustments: adjustments.load(Ordering::Relaxed),
            broadcasts: broadcasts.load(Ordering::Relaxed),
        }
    }

    /// Waits until keys have arrived somewhere, from when it is called.
    pub(crate) fn moved(&self) -> impl Future<Output = ()> + '_ {
        let mut moved = Box::pin(self.moved.notified());
        moved.as_mut().enable();
        moved
    }

    /// Who is believed to own what in a range, by the image; `None` while some of it is leaving.
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

    /// Who has what in a range, or knows more about it than this server; `None` while some of it is leaving. Whoever has
    /// asked can learn from the pages that were looked at.
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
                    // A page that several parts go by is told once.
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

    /// Who is believed to own the keys around one that is another server's; nothing for a key that is owned here.
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

    /// What this server owns of a range, for an adjustment.
    pub(crate) fn own(&self, range: &KeyRange) -> Vec<Entry> {
        own(&self.state.lock().server, range)
    }

    /// Learns from an answer.
    pub(crate) fn learn(&self, entries: &[Entry]) {
        if self.state.lock().image.learn_all(entries) {
            self.counters.adjustments.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Entries of the image, for whoever looks.
    pub(crate) fn image(&self) -> Vec<Entry> {
        self.state.lock().image.iter().collect()
    }

    /// Bytes of its part of the directory.
    pub(crate) fn directory_bytes(&self) -> u64 {
        let state = self.state.lock();
        (state.server.directory_bytes() + state.image.bytes()) as u64
    }

    /// Pages of the directory that this server keeps.
    pub(crate) fn pages(&self) -> u64 {
        self.state.lock().server.pages().owned(&KeyRange::all()).len() as u64
    }

    /// Takes a message of the directory in; what is to be sent comes back. A page that has come before changes nothing.
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

    /// A message was not delivered.
    pub(crate) fn undelivered(&self, to: GroupId, message: Message<()>) -> Outbox {
        self.step(|server, effects| server.unreachable(to, message, effects))
    }

    /// What is due from time to time.
    pub(crate) fn heartbeat(&self) -> Outbox {
        self.step(Server::heartbeat)
    }

    /// Gives the pages of the directory that are kept here to another group: a server that is emptied takes none with it.
    pub(crate) fn give_pages(&self, to: GroupId) -> Outbox {
        self.step(|server, effects| {
            for (range, _) in server.pages().owned(&KeyRange::all()) {
                let given = server.release(Level::Pages, &range, to, effects);
                debug_assert!(given.is_ok(), "a page that is kept can be given to another group");
            }
        })
    }

    /// A group has joined; for the root group.
    pub(crate) fn join(&self, group: GroupId) {
        self.state.lock().server.join(group);
    }

    /// Gives rows away, once `freeze` has made sure that nobody uses them: both or nothing, with nobody looking in
    /// between. The new owner is to be told what comes back.
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
            // Requests do not go through the state machine here: there is none to serve or to answer.
            Effect::Serve(_) | Effect::Reply { .. } => None,
        });
        outbox.collect()
    }
}

/// What a server owns of a range.
fn own(server: &Server<()>, range: &KeyRange) -> Vec<Entry> {
    let group = server.group();
    let owned = server.rows().owned(range).into_iter().take(ADJUSTMENT_ENTRIES);
    owned.map(|(range, epoch)| Entry { range, owner: Owner { group, epoch } }).collect()
}

/// Adds a part, to the one before it where that has the same owner.
fn push(parts: &mut Parts, range: KeyRange, owner: GroupId) {
    match parts.last_mut() {
        Some((last, same)) if *same == owner && last.high == range.low => last.high = range.high,
        _ => parts.push((range, owner)),
    }
}
