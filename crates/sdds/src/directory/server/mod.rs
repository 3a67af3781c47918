//! A group as a server of the directory: it serves the keys that it owns and forwards requests for
//! others (A2, C2).
//!
//! `requests` handles requests, `route` locates keys, `transfer` changes their owner, `pages`
//! maintains the directory.

mod pages;
mod requests;
mod route;
mod transfer;

pub use route::Way;
pub use transfer::ReleaseError;

use super::{Content, Image, Level, Message, Owner, Reply, Request, Root, Territory};
use crate::{ClientId, Epoch, GroupId, KeyRange};

/// The configuration of a server.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Maximum number of entries of a directory page, and thus of an image adjustment.
    pub page_entries: usize,
    /// Maximum number of forwards, after which a request is returned as lost. Two are enough while
    /// nothing moves.
    pub forwards_max: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { page_entries: 256, forwards_max: 16 }
    }
}

/// An action for the caller.
#[derive(Debug)]
pub enum Effect<O> {
    /// Send a message to a group. If keys of [`Level::Rows`] are adopted, their rows are sent
    /// along.
    Send {
        /// The group.
        to: GroupId,
        /// The message.
        message: Message<O>,
    },
    /// The range is owned here: execute the operation on it, and answer ([`Request::answer`]).
    Serve(Request<O>),
    /// Reply to a client.
    Reply {
        /// The client.
        to: ClientId,
        /// The reply.
        reply: Reply,
    },
}

/// The state machine of one group, for one file.
#[derive(Debug, Clone)]
pub struct Server<O> {
    group: GroupId,
    settings: Settings,
    rows: Territory<()>,
    pages: Territory<Image>,
    root: Root,
    /// The version of the root that was last broadcast; used only by the root group.
    root_told: u64,
    /// Messages about keys that are being transferred to another group.
    waiting: Vec<Message<O>>,
    /// Messages that could not be delivered and must be sent again.
    undelivered: Vec<(GroupId, Message<O>)>,
}

impl<O: Clone> Server<O> {
    /// The first server of a file: it owns everything and is the root group.
    pub fn first(group: GroupId, settings: Settings) -> Self {
        let owner = Owner { group, epoch: Epoch::FIRST };
        let rows = Territory::everything(());
        let pages = Territory::everything(Image::of(owner));
        Self { rows, pages, ..Self::joining(group, Root::new(group), settings) }
    }

    /// A server that owns nothing yet, with the root that the root group has sent it.
    pub fn joining(group: GroupId, root: Root, settings: Settings) -> Self {
        Self {
            group,
            settings,
            rows: Territory::nothing(),
            pages: Territory::nothing(),
            root,
            root_told: 0,
            waiting: Vec::new(),
            undelivered: Vec::new(),
        }
    }

    /// A server of a new file: `home` owns all of it, and `root` is its root group, which keeps the
    /// first page.
    pub fn of_new_file(group: GroupId, root: GroupId, home: GroupId, settings: Settings) -> Self {
        let mut server = Self::joining(group, Root::new(root), settings);
        if group == home {
            server.rows = Territory::everything(());
        }
        if group == root {
            let owner = Owner { group: home, epoch: Epoch::FIRST };
            server.pages = Territory::everything(Image::of(owner));
        }
        server
    }

    /// A server after a restart: it owns what its group has kept, from now on at `epoch`, and knows no pages. The root
    /// group keeps one page of everything. The epoch is greater than those of all earlier changes in the cluster, and
    /// so is its number as a version of the root.
    pub fn restored(
        group: GroupId,
        root: GroupId,
        owned: &[KeyRange],
        epoch: Epoch,
        settings: Settings,
    ) -> Self {
        let mut server = Self::joining(group, Root::new(root), settings);
        owned.iter().for_each(|range| server.rows.adopt(range, epoch, ()));
        server.forget_pages(epoch);
        server
    }

    /// Forgets all pages of the directory before an epoch, and who keeps them. The root group begins with one page of
    /// everything, which lists what it owns itself. All servers do so after one has restarted, and then
    /// [announce](Self::announce) what they own. One that is late may have got newer pages and a newer root before: it
    /// keeps them.
    pub fn forget_pages(&mut self, epoch: Epoch) {
        let root = self.root.group();
        self.root.reset(epoch);
        self.pages.forget_before(epoch);
        self.rows.recorded(&KeyRange::all(), Epoch(u64::MAX));
        self.undelivered.retain(|(_, message)| !matches!(message, Message::Record { .. }));
        if self.group == root {
            let mut page = Image::new(GroupId::NOBODY);
            for (range, epoch) in self.rows.owned(&KeyRange::all()) {
                page.learn(&self.entry(range, epoch));
            }
            self.pages.adopt(&KeyRange::all(), epoch, page);
        }
    }

    /// Tells the root group what this group owns of a range.
    pub fn announce(&mut self, range: &KeyRange, effects: &mut Vec<Effect<O>>) {
        for (range, epoch) in self.rows.owned(range) {
            let (entry, level) = (self.entry(range, epoch), Level::Rows);
            let message = Message::Record { level, entry, from: self.group };
            self.tell(self.root.group(), message, effects);
        }
    }

    /// Serves keys that were frozen before a restart and were not adopted, and tells the root group.
    pub fn reclaim(&mut self, range: &KeyRange, epoch: Epoch, effects: &mut Vec<Effect<O>>) {
        self.own(range, epoch, Content::Rows, effects);
        self.announce(range, effects);
    }

    /// The group of this server.
    pub fn group(&self) -> GroupId {
        self.group
    }

    /// The keys whose rows this group owns.
    pub fn rows(&self) -> &Territory<()> {
        &self.rows
    }

    /// The directory pages that this group keeps.
    pub fn pages(&self) -> &Territory<Image> {
        &self.pages
    }

    /// The group's copy of the root.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Bytes of the directory in memory, without the overhead of maps.
    pub fn directory_bytes(&self) -> usize {
        let pages = self.pages.contents().map(Image::bytes).sum::<usize>();
        self.rows.bytes() + self.pages.bytes() + pages + self.root.pages().bytes()
    }

    /// Handles a message.
    pub fn handle(&mut self, message: Message<O>, effects: &mut Vec<Effect<O>>) {
        match message {
            Message::Request(request) => self.on_request(request, effects),
            Message::Ask { id, client, range } => self.on_ask(id, client, range, effects),
            Message::Adopt { range, epoch, from, content } => {
                self.on_adopt(range, epoch, from, content, effects);
            }
            Message::Adopted { level, range, epoch } => {
                self.on_adopted(level, &range, epoch, effects);
            }
            Message::Record { level: Level::Rows, entry, from } => {
                self.on_record(entry, from, effects);
            }
            Message::Record { level: Level::Pages, entry, from } => {
                self.on_record_of_page(&entry, from, effects);
            }
            Message::Recorded { range, epoch } => self.rows.recorded(&range, epoch),
            Message::Root(root) => self.on_root(root),
        }
    }

    /// A message was certainly not delivered, because the group is unreachable or does not exist.
    pub fn unreachable(&mut self, to: GroupId, message: Message<O>, effects: &mut Vec<Effect<O>>) {
        match message {
            Message::Request(request) => effects.push(self.lost(request)),
            // The new owner does not know of its keys: adopt them back, at its epoch. The caller
            // has put back rows that were sent along.
            Message::Adopt { range, epoch, content, .. } => {
                self.own(&range, epoch, content, effects)
            }
            // Only clients send this message.
            Message::Ask { .. } => {}
            // The next version contains the current one.
            Message::Root(_) => self.root_told = 0,
            message @ (Message::Adopted { .. }
            | Message::Record { .. }
            | Message::Recorded { .. }) => self.undelivered.push((to, message)),
        }
    }

    /// To be called periodically: sends undelivered messages again, and the root group broadcasts
    /// the root.
    pub fn heartbeat(&mut self, effects: &mut Vec<Effect<O>>) {
        let again = std::mem::take(&mut self.undelivered);
        effects.extend(again.into_iter().map(|(to, message)| Effect::Send { to, message }));
        if self.root.group() == self.group && self.root_told < self.root.version() {
            self.root_told = self.root.version();
            let others = self.root.groups().filter(|group| *group != self.group);
            let tell = |to| Effect::Send { to, message: Message::Root(self.root.clone()) };
            effects.extend(others.map(tell));
        }
    }

    /// Handles the messages again that waited for a transfer. Some may have to wait further.
    fn resume(&mut self, effects: &mut Vec<Effect<O>>) {
        for message in std::mem::take(&mut self.waiting) {
            self.handle(message, effects);
        }
    }
}
