//! Servers, clients and messages delivered in any order, compared with a plain map.
//!
//! Each server has the rows that were written there or transferred with keys. When a server
//! executes a request, its rows in the range must be those of the plain map: none are missing and
//! none belong to another server.

use crate::key;
use sdds::directory::{
    Client, ClientEffect, Content, Effect, Level, Message, Reply, Request, Server, Settings,
    Termination,
};
use sdds::{ClientId, GroupId, Key, KeyRange, RequestId};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) type Rows = BTreeMap<Key, u32>;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operation {
    Put(u32),
    Delete,
    Read,
}

#[derive(Debug, Clone, Copy)]
enum Node {
    Server(usize),
    Client(usize),
}

#[derive(Debug)]
enum Packet {
    /// Rows are sent along with keys of that level.
    ToServer { from: Node, to: usize, message: Message<Operation>, rows: Rows },
    /// Rows are the answer's.
    ToClient { to: usize, reply: Reply, rows: Rows },
}

struct Site {
    server: Server<Operation>,
    rows: Rows,
}

/// A request in progress, and the conditions for its answers.
struct Asked {
    range: KeyRange,
    before: Rows,
    /// Keys written meanwhile; the answer may contain either version.
    touched: BTreeSet<Key>,
    parts: Vec<KeyRange>,
    answer: Rows,
    forwards: u32,
}

/// A finished request.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) answer: Rows,
    pub(crate) missing: Vec<KeyRange>,
    /// The maximum over its parts.
    pub(crate) forwards: u32,
}

pub(crate) struct Network {
    settings: Settings,
    sites: Vec<Site>,
    clients: Vec<Client<Operation>>,
    packets: Vec<Packet>,
    model: Rows,
    asked: BTreeMap<(usize, RequestId), Asked>,
    pub(crate) over: BTreeMap<(usize, RequestId), Outcome>,
    down: BTreeSet<usize>,
}

impl Network {
    pub(crate) fn new(settings: Settings) -> Self {
        let site = Site { server: Server::first(GroupId(0), settings), rows: Rows::new() };
        Self {
            settings,
            sites: vec![site],
            clients: Vec::new(),
            packets: Vec::new(),
            model: Rows::new(),
            asked: BTreeMap::new(),
            over: BTreeMap::new(),
            down: BTreeSet::new(),
        }
    }

    /// A server joins. Returns its number.
    pub(crate) fn join(&mut self) -> usize {
        let group = GroupId(self.sites.len() as u64);
        self.sites[0].server.join(group);
        let root = self.sites[0].server.root().clone();
        let server = Server::joining(group, root, self.settings);
        self.sites.push(Site { server, rows: Rows::new() });
        self.sites.len() - 1
    }

    /// Adds a client that knows one server. Returns its number.
    pub(crate) fn client(&mut self, first: usize) -> usize {
        let id = ClientId(self.clients.len() as u64);
        self.clients.push(Client::new(id, GroupId(first as u64)));
        self.clients.len() - 1
    }

    pub(crate) fn servers(&self) -> usize {
        self.sites.len()
    }

    pub(crate) fn server(&self, at: usize) -> &Server<Operation> {
        &self.sites[at].server
    }

    pub(crate) fn client_at(&self, at: usize) -> &Client<Operation> {
        &self.clients[at]
    }

    /// The content of the file.
    pub(crate) fn model(&self) -> &Rows {
        &self.model
    }

    /// A server becomes unreachable.
    pub(crate) fn stop(&mut self, server: usize) {
        self.down.insert(server);
    }

    /// The owner of a key; `None` during a transfer.
    pub(crate) fn owner(&self, of: &Key) -> Option<usize> {
        let point = KeyRange::point(of);
        let owns = |site: &Site| site.server.rows().owner_of(&point).is_some();
        self.sites.iter().position(owns)
    }

    pub(crate) fn begin(
        &mut self,
        client: usize,
        range: KeyRange,
        operation: Operation,
        termination: Termination,
    ) -> RequestId {
        let mut effects = Vec::new();
        let id = self.clients[client].request(range.clone(), operation, termination, &mut effects);
        let before = within(&self.model, &range);
        let asked = Asked {
            range,
            before,
            touched: BTreeSet::new(),
            parts: Vec::new(),
            answer: Rows::new(),
            forwards: 0,
        };
        self.asked.insert((client, id), asked);
        self.carry_out(client, effects);
        id
    }

    /// Runs a request with deterministic termination, without other activity.
    pub(crate) fn ask(&mut self, client: usize, range: KeyRange, operation: Operation) -> Outcome {
        let id = self.begin(client, range, operation, Termination::Deterministic);
        self.drain();
        self.over.remove(&(client, id)).expect("the request is over when nothing is under way")
    }

    pub(crate) fn read(&mut self, client: usize, number: u8) -> Outcome {
        self.ask(client, KeyRange::point(&key(number)), Operation::Read)
    }

    pub(crate) fn silence(&mut self, client: usize, id: RequestId) {
        let mut effects = Vec::new();
        self.clients[client].silence(id, &mut effects);
        self.carry_out(client, effects);
    }

    /// A server transfers keys to another. Returns whether it could.
    pub(crate) fn release(
        &mut self,
        server: usize,
        level: Level,
        range: &KeyRange,
        to: usize,
    ) -> bool {
        let mut effects = Vec::new();
        let to = GroupId(to as u64);
        let done = self.sites[server].server.release(level, range, to, &mut effects).is_ok();
        self.perform(server, effects);
        done
    }

    pub(crate) fn heartbeat(&mut self, server: usize) {
        let mut effects = Vec::new();
        self.sites[server].server.heartbeat(&mut effects);
        self.perform(server, effects);
    }

    /// Delivers one of the messages in flight; false if there are none.
    pub(crate) fn deliver(&mut self, which: usize) -> bool {
        if self.packets.is_empty() {
            return false;
        }
        let packet = self.packets.remove(which % self.packets.len());
        match packet {
            Packet::ToServer { from, to, message, rows } if self.is_down(to) => {
                self.bounce(from, to, message, rows);
            }
            Packet::ToServer { to, message, rows, .. } => {
                let mut effects = Vec::new();
                self.sites[to].rows.extend(rows);
                self.sites[to].server.handle(message, &mut effects);
                self.perform(to, effects);
            }
            Packet::ToClient { to, reply, rows } => {
                let mut effects = Vec::new();
                self.note(to, &reply, rows);
                self.clients[to].handle(reply, &mut effects);
                self.carry_out(to, effects);
            }
        }
        true
    }

    /// Delivers all messages, including resulting ones, the oldest first.
    pub(crate) fn drain(&mut self) {
        let mut left = 1_000_000;
        while self.deliver(0) {
            left -= 1;
            assert!(left > 0, "messages go round in circles");
        }
    }

    /// Brings the file to rest.
    pub(crate) fn rest(&mut self) {
        self.drain();
        for server in 0..self.sites.len() {
            self.heartbeat(server);
        }
        self.drain();
    }

    fn is_down(&self, server: usize) -> bool {
        self.down.contains(&server) || server >= self.sites.len()
    }

    fn bounce(&mut self, from: Node, to: usize, message: Message<Operation>, rows: Rows) {
        let group = GroupId(to as u64);
        match from {
            Node::Server(server) => {
                let mut effects = Vec::new();
                self.sites[server].rows.extend(rows);
                self.sites[server].server.unreachable(group, message, &mut effects);
                self.perform(server, effects);
            }
            Node::Client(client) => {
                let mut effects = Vec::new();
                self.clients[client].unreachable(group, message, &mut effects);
                self.carry_out(client, effects);
            }
        }
    }

    fn perform(&mut self, server: usize, effects: Vec<Effect<Operation>>) {
        for effect in effects {
            match effect {
                Effect::Serve(request) => self.serve(server, request),
                Effect::Reply { to, reply } => {
                    let to = to.0 as usize;
                    self.packets.push(Packet::ToClient { to, reply, rows: Rows::new() });
                }
                Effect::Send { to, message } => {
                    let rows = match &message {
                        Message::Adopt { content: Content::Rows, range, .. } => {
                            take(&mut self.sites[server].rows, range)
                        }
                        _ => Rows::new(),
                    };
                    let from = Node::Server(server);
                    self.packets.push(Packet::ToServer { from, to: to.0 as usize, message, rows });
                }
            }
        }
    }

    fn serve(&mut self, server: usize, request: Request<Operation>) {
        let range = request.range.clone();
        let rows = within(&self.sites[server].rows, &range);
        assert_eq!(rows, within(&self.model, &range), "server {server} answers for {range}");
        let key = match &range.low {
            sdds::Bound::At(key) => key.clone(),
            _ => Key::default(),
        };
        for rows in [&mut self.sites[server].rows, &mut self.model] {
            match request.operation {
                Operation::Put(value) => drop(rows.insert(key.clone(), value)),
                Operation::Delete => drop(rows.remove(&key)),
                Operation::Read => {}
            }
        }
        if request.operation != Operation::Read {
            let concerned = self.asked.values_mut().filter(|asked| asked.range.contains(&key));
            concerned.for_each(|asked| asked.touched.extend([key.clone()]));
        }
        let to = request.client.0 as usize;
        self.packets.push(Packet::ToClient { to, reply: Reply::Answer(request.answer()), rows });
    }

    /// Records an answer to a client.
    fn note(&mut self, client: usize, reply: &Reply, rows: Rows) {
        let Reply::Answer(answer) = reply else { return };
        let Some(asked) = self.asked.get_mut(&(client, answer.id)) else { return };
        asked.parts.push(answer.range.clone());
        asked.forwards = asked.forwards.max(answer.forwards);
        asked.answer.extend(rows);
    }

    fn carry_out(&mut self, client: usize, effects: Vec<ClientEffect<Operation>>) {
        for effect in effects {
            match effect {
                ClientEffect::Send { to, message } => {
                    let (from, rows) = (Node::Client(client), Rows::new());
                    self.packets.push(Packet::ToServer { from, to: to.0 as usize, message, rows });
                }
                ClientEffect::Finished { id, missing } => self.finish(client, id, missing),
            }
        }
    }

    fn finish(&mut self, client: usize, id: RequestId, missing: Vec<KeyRange>) {
        let asked = self.asked.remove(&(client, id)).expect("a request ends once");
        asked.assert_tiled_with(&missing);
        asked.assert_right(&missing);
        let Asked { answer, forwards, .. } = asked;
        self.over.insert((client, id), Outcome { answer, missing, forwards });
    }
}

impl Asked {
    /// The answers and the missing keys tile the requested range; nothing was answered twice.
    fn assert_tiled_with(&self, missing: &[KeyRange]) {
        let mut parts = [&self.parts, missing].concat();
        parts.sort_by(|a, b| a.low.cmp(&b.low));
        let mut place = self.range.low.clone();
        for part in parts {
            assert_eq!(part.low, place, "a gap or an overlap in the answers to {}", self.range);
            place = part.high;
        }
        assert_eq!(place, self.range.high, "the answers to {} end early", self.range);
    }

    /// Rows without concurrent writes are in the answer unchanged.
    fn assert_right(&self, missing: &[KeyRange]) {
        let certain = |rows: &Rows| -> Rows {
            let mut rows = rows.clone();
            let unknown = |key: &Key| missing.iter().any(|range| range.contains(key));
            rows.retain(|key, _| !self.touched.contains(key) && !unknown(key));
            rows
        };
        assert_eq!(certain(&self.answer), certain(&self.before), "the answer to {}", self.range);
    }
}

fn within(rows: &Rows, range: &KeyRange) -> Rows {
    let inside = rows.iter().filter(|(key, _)| range.contains(key));
    inside.map(|(key, value)| (key.clone(), *value)).collect()
}

fn take(rows: &mut Rows, range: &KeyRange) -> Rows {
    let taken = within(rows, range);
    rows.retain(|key, _| !range.contains(key));
    taken
}
