//! Servers and clients, and the messages between them in the order in which they were sent.

use super::driver::{Driver, Mix};
use super::figures::Messages;
use super::parameters::Parameters;
use super::site::{Bucket, Operation, Site};
use crate::directory::{ClientEffect, Content, Counters, Effect, Level, Message, Reply};
use crate::directory::{Server, Settings};
use crate::{Bound, GroupId, Key};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

enum Packet {
    ToServer { to: usize, message: Message<Operation>, bucket: Option<(u64, Bucket)> },
    ToClient { to: usize, reply: Reply, result: u64 },
}

pub(super) struct World {
    sites: Vec<Site>,
    pub(super) drivers: Vec<Driver>,
    packets: VecDeque<Packet>,
    /// How many buckets each server has, those on their way to it included.
    loads: Vec<usize>,
    /// The servers, those with the fewest buckets first.
    by_load: BTreeSet<(usize, usize)>,
    /// Keys that a bucket holds.
    capacity: usize,
    /// The file grows to this many buckets.
    buckets_max: u64,
    /// All keys, sorted, once no more are inserted; empty before.
    pub(super) keys: Arc<Vec<u64>>,
    pub(super) messages: Messages,
    pub(super) buckets: u64,
    pub(super) splits: u64,
    pub(super) moves: u64,
    pub(super) wrong: u64,
    /// Requests that are over.
    pub(super) over: u64,
    served: Vec<Effect<Operation>>,
    asked: Vec<ClientEffect<Operation>>,
}

impl World {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let Parameters { servers, bucket_keys: capacity, buckets: buckets_max, .. } = *parameters;
        let page_entries = parameters.page_entries;
        let settings = Settings { page_entries, ..Settings::default() };
        let mut first = Server::first(GroupId(0), settings);
        (1..servers).for_each(|server| first.join(GroupId(server as u64)));
        let root = first.root().clone();
        let joining = |server: usize| {
            Site::new(Server::joining(GroupId(server as u64), root.clone(), settings))
        };
        let mut sites = vec![Site::first(first)];
        sites.extend((1..servers).map(joining));
        let loads: Vec<usize> = sites.iter().map(Site::buckets).collect();
        let by_load = loads.iter().copied().zip(0..).collect();
        Self {
            sites,
            drivers: Vec::new(),
            packets: VecDeque::new(),
            loads,
            by_load,
            capacity,
            buckets_max,
            keys: Arc::default(),
            messages: Messages::default(),
            buckets: 1,
            splits: 0,
            moves: 0,
            wrong: 0,
            over: 0,
            served: Vec::new(),
            asked: Vec::new(),
        }
    }

    /// The same file, with other clients. Nothing may be under way.
    pub(super) fn with(&self, mut drivers: Vec<Driver>) -> Self {
        for (id, driver) in (0..).zip(&mut drivers) {
            driver.is_now(id);
        }
        Self {
            sites: self.sites.clone(),
            drivers,
            packets: VecDeque::new(),
            loads: self.loads.clone(),
            by_load: self.by_load.clone(),
            keys: Arc::clone(&self.keys),
            wrong: 0,
            served: Vec::new(),
            asked: Vec::new(),
            ..*self
        }
    }

    pub(super) fn servers(&self) -> impl ExactSizeIterator<Item = &Server<Operation>> {
        self.sites.iter().map(|site| &site.server)
    }

    /// What every client's requests have cost so far.
    pub(super) fn counters(&self) -> Counters {
        let all = self.drivers.iter().map(|driver| *driver.client.counters());
        all.fold(Counters::default(), |sum, one| sum.plus(&one))
    }

    /// Lets a client ask.
    pub(super) fn ask(&mut self, client: usize, mix: &Mix) {
        let mut effects = std::mem::take(&mut self.asked);
        self.drivers[client].ask(mix, &mut effects);
        self.carry_out(client, effects);
    }

    /// Lets a client count the whole file.
    pub(super) fn ask_for_everything(&mut self, client: usize) {
        let mut effects = std::mem::take(&mut self.asked);
        self.drivers[client].ask_for_everything(&mut effects);
        self.carry_out(client, effects);
    }

    /// Lets the root group tell everybody how the root is.
    pub(super) fn heartbeat(&mut self) {
        let mut effects = Vec::new();
        self.sites[0].server.heartbeat(&mut effects);
        let before = self.messages;
        self.perform(0, effects);
        self.messages = Messages {
            heartbeats: before.heartbeats + self.messages.pages - before.pages,
            ..before
        };
    }

    /// Delivers a message; whether there was one, and the client whose request is over with it.
    pub(super) fn step(&mut self) -> Option<Option<usize>> {
        match self.packets.pop_front()? {
            Packet::ToServer { to, message, bucket } => {
                if let Some((low, bucket)) = bucket {
                    self.sites[to].put(low, bucket);
                }
                let mut effects = std::mem::take(&mut self.served);
                self.sites[to].server.handle(message, &mut effects);
                self.perform(to, effects);
                Some(None)
            }
            Packet::ToClient { to, reply, result } => {
                let mut effects = std::mem::take(&mut self.asked);
                self.drivers[to].take(result);
                self.drivers[to].client.handle(reply, &mut effects);
                let before = self.over;
                self.carry_out(to, effects);
                Some((self.over > before).then_some(to))
            }
        }
    }

    /// Delivers everything.
    pub(super) fn drain(&mut self) {
        while self.step().is_some() {}
    }

    fn perform(&mut self, server: usize, mut effects: Vec<Effect<Operation>>) {
        let mut split = None;
        for effect in effects.drain(..) {
            match effect {
                Effect::Serve(request) => {
                    let result = self.sites[server].execute(&request);
                    self.wrong += u64::from(result.is_none());
                    if let (Operation::Insert, Bound::At(key)) =
                        (request.operation, &request.range.low)
                    {
                        split = Some(key.clone());
                    }
                    let to = request.client.0 as usize;
                    let reply = Reply::Answer(request.answer());
                    self.reply(to, reply, result.unwrap_or(0));
                }
                Effect::Reply { to, reply } => self.reply(to.0 as usize, reply, 0),
                Effect::Send { to, message } => self.send(server, to, message),
            }
        }
        self.served = effects;
        if let Some(key) = split {
            self.split(server, &key);
        }
    }

    fn reply(&mut self, to: usize, reply: Reply, result: u64) {
        self.messages.replies += 1;
        self.packets.push_back(Packet::ToClient { to, reply, result });
    }

    /// Divides the bucket that has got a key if that is one too many, and gives the new half away if
    /// another server has clearly less.
    fn split(&mut self, server: usize, key: &Key) {
        if self.buckets >= self.buckets_max {
            return;
        }
        let number = super::site::number(key);
        let Some(low) = self.sites[server].split(number, self.capacity) else { return };
        self.buckets += 1;
        self.splits += 1;
        self.set_load(server, self.loads[server] + 1);
        let Some((least, to)) = self.by_load.first().copied() else { return };
        if least + 2 > self.loads[server] {
            return;
        }
        let Some(range) = self.sites[server].range(low) else { return };
        let mut effects = std::mem::take(&mut self.served);
        let given = &mut self.sites[server].server;
        if given.release(Level::Rows, &range, GroupId(to as u64), &mut effects).is_ok() {
            self.moves += 1;
            self.set_load(server, self.loads[server] - 1);
            self.set_load(to, least + 1);
        }
        self.perform(server, effects);
    }

    fn set_load(&mut self, server: usize, load: usize) {
        self.by_load.remove(&(self.loads[server], server));
        self.by_load.insert((load, server));
        self.loads[server] = load;
    }

    fn send(&mut self, from: usize, to: GroupId, message: Message<Operation>) {
        let mut bucket = None;
        let messages = &mut self.messages;
        match &message {
            Message::Request(_) => messages.forwards += 1,
            Message::Ask { .. } => messages.asks += 1,
            Message::Adopt { content: Content::Page(_), .. }
            | Message::Adopted { level: Level::Pages, .. }
            | Message::Record { level: Level::Pages, .. }
            | Message::Root(_) => messages.pages += 1,
            Message::Adopt { content: Content::Rows, range, .. } => {
                messages.moves += 1;
                let low = super::site::number_of(&range.low);
                bucket = self.sites[from].take(low).map(|bucket| (low, bucket));
            }
            Message::Adopted { level: Level::Rows, .. }
            | Message::Record { level: Level::Rows, .. }
            | Message::Recorded { .. } => messages.moves += 1,
        }
        self.packets.push_back(Packet::ToServer { to: to.0 as usize, message, bucket });
    }

    fn carry_out(&mut self, client: usize, mut effects: Vec<ClientEffect<Operation>>) {
        for effect in effects.drain(..) {
            match effect {
                ClientEffect::Send { to, message } => {
                    self.messages.requests += 1;
                    let to = to.0 as usize;
                    self.packets.push_back(Packet::ToServer { to, message, bucket: None });
                }
                ClientEffect::Finished { missing, .. } => {
                    let right = missing.is_empty() && self.drivers[client].is_right(&self.keys);
                    self.wrong += u64::from(!right);
                    self.over += 1;
                }
            }
        }
        self.asked = effects;
    }
}
