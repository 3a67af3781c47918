//! What one server knows of the owners of one table's keys.
//!
//! ```text
//!   own keys, pages that it keeps, copy of the root        image: what owners and pages have told
//!   (sdds::directory::Server)                               (sdds::directory::Image)
//!            |                                                      |
//!   works for another server: known()                      coordinates: believed()
//! ```
//!
//! Invariants: the generation and the version of the root never fall; a page is adopted once; pages of an earlier generation
//! are not adopted; keys that are released are not owned.

use super::{ADJUSTMENT_ENTRIES, Parts};
use crate::planted::{Bug, is_planted};
use sdds::directory::{
    Content, Effect as Sending, Entry, Image, Level, Message, Owner, Server, Settings, Way,
};
use sdds::{Bound, Epoch, GroupId, Key, KeyRange};
use std::collections::VecDeque;

/// Number of entries on either side of a key that clients are told.
const NEIGHBOURS: usize = 128;

/// Number of received directory pages that are remembered to ignore duplicates.
const PAGES_REMEMBERED: usize = 1 << 10;

/// A server, and the file of a table.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The group of the server.
    pub here: GroupId,
    /// The group that keeps the root of the directory.
    pub root: GroupId,
    /// The group that owns all keys of a new file.
    pub home: GroupId,
}

/// What has happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// Another server has sent a message of the directory. What a late one does, it says itself ([`Message`]); a page that
    /// comes twice, or is of an earlier generation, is ignored.
    Message(Message<()>),
    /// A message has not arrived. A page comes back; what else still counts is sent again with the next tick.
    Undelivered(GroupId, Message<()>),
    /// Some time has passed.
    Tick,
    /// The directory begins anew with this start: the root tells every server, each at its time. Late, after a later start,
    /// it is ignored.
    Begin {
        /// The number of the start.
        start: u64,
    },
    /// Tell the root what this server owns: after a start.
    Announce,
    /// Keys were frozen before a restart, and are not adopted by anybody.
    Reclaim {
        /// The keys.
        range: &'a KeyRange,
        /// The number of the start of this server.
        start: u64,
    },
    /// Another group is to keep all pages of this server, which leaves.
    GivePages(GroupId),
    /// A group has joined. Only the root needs to know.
    Joined(GroupId),
    /// An owner, or a page, has told entries. Late, they are older than what is known, and ignored.
    Told(&'a [Entry]),
    /// Another group gets keys, all of which are owned here, and frozen.
    Release {
        /// The keys.
        range: &'a KeyRange,
        /// The group.
        to: GroupId,
    },
}

/// What is to be done.
#[derive(Debug)]
pub enum Effect {
    /// Send a message.
    Send {
        /// To the server of this group.
        to: GroupId,
        /// The message.
        message: Message<()>,
    },
    /// The image has changed.
    Adjusted,
    /// Refuse the message: no server sends it.
    Refuse(&'static str),
}

/// The file of a table, as one server knows it.
#[derive(Debug, Clone)]
pub struct File {
    server: Server<()>,
    image: Image,
    /// Low bound and epoch of the last pages received: a duplicate must not undo later changes of the page.
    pages: VecDeque<(Bound, Epoch)>,
    /// The start that the directory has begun with; 0 for its first beginning.
    generation: u64,
}

impl File {
    /// Opens a file. `groups` are all groups of the cluster; only the root needs them.
    pub fn open(place: Place, groups: &[GroupId], settings: Settings) -> Self {
        let Place { here, root, home } = place;
        let mut server = Server::of_new_file(here, root, home, settings);
        if here == root {
            groups.iter().for_each(|group| server.join(*group));
        }
        Self { server, image: Image::new(home), pages: VecDeque::new(), generation: 0 }
    }

    /// The file after a restart of this server, which has kept some ranges.
    pub fn restored(place: Place, owned: &[KeyRange], start: u64, settings: Settings) -> Self {
        let Place { here, root, home } = place;
        let epoch = if is_planted(Bug::EpochReused) { Epoch::FIRST } else { epoch_of(start) };
        let server = Server::restored(here, root, owned, epoch, settings);
        let mut image = Image::new(home);
        image.learn_all(&own(&server, &KeyRange::all()));
        Self { server, image, pages: VecDeque::new(), generation: start }
    }

    /// Takes an event, and appends what is to be done.
    pub fn step(&mut self, event: Event<'_>, effects: &mut Vec<Effect>) {
        let (generation, root) = (self.generation, self.server.root().version());
        let mut sending = Vec::new();
        let unannounced = self.unannounced(&event);
        match event {
            Event::Message(message) => match self.judge(&message) {
                Judgement::Take => self.server.handle(message, &mut sending),
                Judgement::Ignore => {}
                Judgement::Refuse(reason) => effects.push(Effect::Refuse(reason)),
            },
            Event::Undelivered(_, message) if self.is_old_page(&message) => {}
            Event::Undelivered(to, message) => self.server.unreachable(to, message, &mut sending),
            Event::Tick => self.server.heartbeat(&mut sending),
            Event::Begin { start } if start > self.generation => {
                self.generation = start;
                self.server.forget_pages(epoch_of(start));
            }
            Event::Begin { .. } => {}
            Event::Announce => self.server.announce(&KeyRange::all(), &mut sending),
            Event::Reclaim { range, start } => {
                self.server.reclaim(range, epoch_of(start), &mut sending);
            }
            Event::GivePages(to) => self.give_pages(to, &mut sending),
            Event::Joined(group) => self.server.join(group),
            Event::Told(entries) => {
                if self.image.learn_all(entries) {
                    effects.push(Effect::Adjusted);
                }
            }
            Event::Release { range, to } => {
                let released = self.server.release(Level::Rows, range, to, &mut sending);
                assert!(released.is_ok(), "all of it was owned");
                assert!(self.server.rows().owned(range).is_empty(), "it is not owned any more");
            }
        }
        if let Some(range) = unannounced {
            self.server.announce(&range, &mut sending);
        }
        effects.extend(sending.into_iter().filter_map(|effect| match effect {
            Sending::Send { to, message } => Some(Effect::Send { to, message }),
            // Requests are not routed by the state machine here.
            Sending::Serve(_) | Sending::Reply { .. } => None,
        }));
        assert!(
            generation <= self.generation,
            "the directory does not begin with an earlier start"
        );
        assert!(root <= self.server.root().version(), "the root does not go back");
        assert!(self.pages.len() <= PAGES_REMEMBERED, "not all pages are remembered");
    }

    /// What becomes of a message. A page that is taken is remembered.
    fn judge(&mut self, message: &Message<()>) -> Judgement {
        match message {
            Message::Request(_) | Message::Ask { .. } => {
                Judgement::Refuse("a request that only simulations send")
            }
            Message::Adopt { range, epoch, content: Content::Page(_), .. } => {
                let page = (range.low.clone(), *epoch);
                if self.is_old_page(message) || self.pages.contains(&page) {
                    return Judgement::Ignore;
                }
                self.pages.push_back(page);
                if self.pages.len() > PAGES_REMEMBERED {
                    self.pages.pop_front();
                }
                Judgement::Take
            }
            Message::Adopt { content: Content::Rows, .. }
            | Message::Adopted { .. }
            | Message::Record { .. }
            | Message::Recorded { .. }
            | Message::Root(_) => Judgement::Take,
        }
    }

    /// Keys that come with an event, or come back, and that nobody may have announced since the directory has begun anew:
    /// they were on their way.
    fn unannounced(&self, event: &Event<'_>) -> Option<KeyRange> {
        let (Event::Message(message) | Event::Undelivered(_, message)) = event else { return None };
        let Message::Adopt { range, epoch, content: Content::Rows, .. } = message else {
            return None;
        };
        // The source tells where they are, unless it has been started since.
        let is_told = matches!(event, Event::Message(_)) && *epoch >= epoch_of(self.generation);
        (!is_told).then(|| range.clone())
    }

    /// Whether a message has a page of an earlier generation: its keeper has forgotten it, and everybody asks the root.
    fn is_old_page(&self, message: &Message<()>) -> bool {
        matches!(message, Message::Adopt { epoch, content: Content::Page(_), .. }
            if *epoch < epoch_of(self.generation))
    }

    fn give_pages(&mut self, to: GroupId, sending: &mut Vec<Sending<()>>) {
        for (range, _) in self.server.pages().owned(&KeyRange::all()) {
            let given = self.server.release(Level::Pages, &range, to, sending);
            debug_assert!(given.is_ok(), "a page that is kept can be given to another group");
        }
    }

    /// Whether this server owns all of a range.
    pub fn owns_all(&self, range: &KeyRange) -> bool {
        self.server.rows().owns_all(range)
    }

    /// The start that the directory has begun with.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The owners of a range according to the image; `None` while some of it is leaving.
    pub fn believed(&mut self, range: &KeyRange) -> Option<Parts> {
        let here = self.server.group();
        let mut parts = Parts::new();
        for (part, way) in self.server.ways(range) {
            match way {
                Way::Wait => return None,
                Way::Here => push(&mut parts, part, here),
                Way::To { group, page } => {
                    self.image.learn_all(&page);
                    for entry in self.image.cover(&part) {
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
    pub fn known(&self, range: &KeyRange, found: &mut Vec<Entry>) -> Option<Parts> {
        let here = self.server.group();
        let mut parts = Parts::new();
        let mut told: Option<Entry> = None;
        for (part, way) in self.server.ways(range) {
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
    pub fn around(&mut self, key: &Key) -> Vec<Entry> {
        for (_, way) in self.server.ways(&KeyRange::point(key)) {
            let Way::To { page, .. } = way else { return Vec::new() };
            self.image.learn_all(&page);
        }
        let mut entries = self.image.around(key, NEIGHBOURS);
        let stretch = match (entries.first(), entries.last()) {
            (Some(first), Some(last)) => {
                KeyRange { low: first.range.low.clone(), high: last.range.high.clone() }
            }
            _ => return Vec::new(),
        };
        entries.retain(|entry| entry.owner.epoch > Epoch::GUESS);
        entries.extend(own(&self.server, &stretch));
        entries
    }

    /// The parts of a range that this server owns, as entries.
    pub fn own(&self, range: &KeyRange) -> Vec<Entry> {
        own(&self.server, range)
    }

    /// The entries of the image.
    pub fn image(&self) -> impl Iterator<Item = Entry> {
        self.image.iter()
    }

    /// Memory of the directory pages and the image in bytes.
    pub fn bytes(&self) -> usize {
        self.server.directory_bytes() + self.image.bytes()
    }

    /// The directory pages on this server, with their epochs.
    pub fn pages(&self) -> Vec<(KeyRange, Epoch)> {
        self.server.pages().owned(&KeyRange::all())
    }
}

/// What becomes of a message.
enum Judgement {
    Take,
    Ignore,
    Refuse(&'static str),
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
