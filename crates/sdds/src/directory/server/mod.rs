//! A group's part in finding owners: it serves what it owns and passes on what it does not (A2, C2).
//!
//! `requests` is what happens to requests, `route` where keys are to be had, `transfer` how they change hands,
//! `pages` how the directory hears of it and grows.

mod pages;
mod requests;
mod route;
mod transfer;

pub use route::Way;
pub use transfer::ReleaseError;

use super::{Image, Level, Message, Owner, Reply, Request, Root, Territory};
use crate::{ClientId, Epoch, GroupId};

/// What an operator may choose.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Entries of a directory page; one that has more divides. This is also what an adjustment carries.
    pub page_entries: usize,
    /// A request that would be passed on more often is given back as lost. Two are enough while nothing moves.
    pub forwards_max: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { page_entries: 256, forwards_max: 16 }
    }
}

/// What a server wants done.
#[derive(Debug)]
pub enum Effect<O> {
    /// Tell a group. Where keys of [`Level::Rows`] are adopted, their rows go along.
    Send {
        /// The group.
        to: GroupId,
        /// What to tell it.
        message: Message<O>,
    },
    /// The range is ours: carry the operation out on it, and answer ([`Request::answer`]).
    Serve(Request<O>),
    /// Tell a client.
    Reply {
        /// The client.
        to: ClientId,
        /// What to tell it.
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
    /// The version of the root that the other groups have been told; of use to the root group only.
    root_told: u64,
    /// What is about keys on their way to another group.
    waiting: Vec<Message<O>>,
    /// What a group could not be told, and must be.
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

    /// A server that owns nothing yet, with the root that the root group has given it.
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

    /// A server of a file that is new: all of it is `home`'s, and `root` is its root group, which keeps the first page.
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

    /// The group that this is.
    pub fn group(&self) -> GroupId {
        self.group
    }

    /// The keys whose rows it owns.
    pub fn rows(&self) -> &Territory<()> {
        &self.rows
    }

    /// The pages of the directory that it keeps.
    pub fn pages(&self) -> &Territory<Image> {
        &self.pages
    }

    /// Its copy of the root.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Bytes that all this takes in memory, without what maps add.
    pub fn directory_bytes(&self) -> usize {
        let pages = self.pages.contents().map(Image::bytes).sum::<usize>();
        self.rows.bytes() + self.pages.bytes() + pages + self.root.pages().bytes()
    }

    /// Takes a message in.
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

    /// A message to a group was certainly not delivered: the group cannot be reached, or does not exist.
    pub fn unreachable(&mut self, to: GroupId, message: Message<O>, effects: &mut Vec<Effect<O>>) {
        match message {
            Message::Request(request) => effects.push(self.lost(request)),
            // Nobody heard of the new owner: its epoch is ours, as if we had adopted the keys. (Rows that went
            // along are the shell's to put back before.)
            Message::Adopt { range, epoch, content, .. } => {
                self.own(&range, epoch, content, effects)
            }
            // A client asks, not we.
            Message::Ask { .. } => {}
            // The next one says more.
            Message::Root(_) => self.root_told = 0,
            message @ (Message::Adopted { .. }
            | Message::Record { .. }
            | Message::Recorded { .. }) => self.undelivered.push((to, message)),
        }
    }

    /// From time to time: what could not be delivered is sent again, and the root group tells everybody
    /// how the root is by now.
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

    /// Takes in again what waited for keys to arrive elsewhere; what still has to waits on.
    fn resume(&mut self, effects: &mut Vec<Effect<O>>) {
        for message in std::mem::take(&mut self.waiting) {
            self.handle(message, effects);
        }
    }
}
