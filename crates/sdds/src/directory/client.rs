//! A client of a file: it sends requests according to its image, and knows when they are complete
//! (A2, A3).
//!
//! A request is done when its answers cover its range: deterministic termination, which needs
//! neither a clock nor the number of servers. The entries in answers are added to the image, so
//! that no error is repeated.
//!
//! If no route leads to the owner, every group is asked who owns the keys, without the directory.
//! The operation itself is only sent to owners, and is therefore executed once.

use super::{Answer, Counters, Coverage, Entry, Image, Message, Reply, Request};
use crate::{ClientId, GroupId, KeyRange, RequestId};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of unsuccessful broadcast lookups of a request. Keys that are being transferred
/// have no owner for a moment.
const VAIN_BROADCASTS_MAX: u32 = 16;

/// How a request is known to be complete (A3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Termination {
    /// The answers cover the range.
    Deterministic,
    /// No answer has arrived for some time ([`Client::silence`]): answers may be missing. For
    /// comparison only.
    Probabilistic,
}

/// An action for the caller.
#[derive(Debug)]
pub enum ClientEffect<O> {
    /// Send a message to a group.
    Send {
        /// The group.
        to: GroupId,
        /// The message.
        message: Message<O>,
    },
    /// A request is finished.
    Finished {
        /// The request.
        id: RequestId,
        /// The keys without an answer. Empty with deterministic termination, unless groups are
        /// unreachable.
        missing: Vec<KeyRange>,
    },
}

/// The state machine of one client, for one file.
#[derive(Debug)]
pub struct Client<O> {
    id: ClientId,
    image: Image,
    next: u64,
    pending: BTreeMap<RequestId, Pending<O>>,
    counters: Counters,
}

#[derive(Debug)]
struct Pending<O> {
    operation: O,
    coverage: Coverage,
    termination: Termination,
    was_forwarded: bool,
    vain_broadcasts: u32,
    broadcasts: Vec<Broadcast>,
    unreachable: BTreeSet<GroupId>,
}

/// A broadcast lookup of the owner of some keys.
#[derive(Debug)]
struct Broadcast {
    range: KeyRange,
    /// Groups that were asked.
    asked: BTreeSet<GroupId>,
    /// Number of groups that have not answered.
    silent: usize,
    /// Whether an answer changed the image.
    learned: bool,
}

impl<O: Clone> Client<O> {
    /// A client that knows one group of the file.
    pub fn new(id: ClientId, first: GroupId) -> Self {
        Self {
            id,
            image: Image::new(first),
            next: 0,
            pending: BTreeMap::new(),
            counters: Counters::default(),
        }
    }

    /// The image.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// The costs of locating owners.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Begins a request.
    pub fn request(
        &mut self,
        range: KeyRange,
        operation: O,
        termination: Termination,
        effects: &mut Vec<ClientEffect<O>>,
    ) -> RequestId {
        let id = RequestId(self.next);
        self.next += 1;
        self.counters.requests += 1;
        let pending = Pending {
            operation: operation.clone(),
            coverage: Coverage::new(range.clone()),
            termination,
            was_forwarded: false,
            vain_broadcasts: 0,
            broadcasts: Vec::new(),
            unreachable: BTreeSet::new(),
        };
        self.pending.insert(id, pending);
        self.send(id, &range, operation, effects);
        id
    }

    /// Handles a reply. A reply for a finished request can only change the image.
    pub fn handle(&mut self, reply: Reply, effects: &mut Vec<ClientEffect<O>>) {
        match reply {
            Reply::Answer(answer) => self.on_answer(answer, effects),
            Reply::Lost { id, range, groups } => self.ask(id, range, &groups, effects),
            Reply::Owned { id, asked, entries, groups } => {
                self.on_owned(id, &asked, &entries, &groups, effects);
            }
        }
    }

    /// A message was certainly not delivered. A request is retried through another group and
    /// finishes when no known group is reachable.
    pub fn unreachable(
        &mut self,
        group: GroupId,
        message: Message<O>,
        effects: &mut Vec<ClientEffect<O>>,
    ) {
        match message {
            Message::Request(Request { id, range, operation, .. }) => {
                let Some(pending) = self.pending.get_mut(&id) else { return };
                pending.unreachable.insert(group);
                let mut others = self.image.iter().map(|entry| entry.owner.group);
                let other = others.find(|other| !pending.unreachable.contains(other));
                drop(others);
                match other {
                    Some(other) => effects.push(self.message(id, range, operation, other)),
                    None => self.finish(id, effects),
                }
            }
            Message::Ask { id, range, .. } => self.on_owned(id, &range, &[], &[], effects),
            // Clients send no other messages.
            Message::Adopt { .. }
            | Message::Adopted { .. }
            | Message::Record { .. }
            | Message::Recorded { .. }
            | Message::Root(_) => {}
        }
    }

    /// The client's wait for answers has timed out. With probabilistic termination the request is
    /// finished.
    pub fn silence(&mut self, id: RequestId, effects: &mut Vec<ClientEffect<O>>) {
        let pending = self.pending.get(&id);
        if pending.is_some_and(|pending| pending.termination == Termination::Probabilistic) {
            self.finish(id, effects);
        }
    }

    fn on_answer(&mut self, answer: Answer, effects: &mut Vec<ClientEffect<O>>) {
        let Answer { id, range, forwards, adjustment } = answer;
        let learned = self.image.learn_all(&adjustment);
        let Some(pending) = self.pending.get_mut(&id) else { return };
        let counters = &mut self.counters;
        counters.answers += 1;
        counters.forwards += u64::from(forwards);
        counters.hops_max = counters.hops_max.max(forwards + 1);
        counters.adjustments += u64::from(learned);
        if forwards > 0 && !pending.was_forwarded {
            pending.was_forwarded = true;
            counters.forwarded += 1;
        }
        pending.coverage.add(&range);
        if pending.coverage.is_complete() && pending.termination == Termination::Deterministic {
            self.finish(id, effects);
        }
    }

    /// Asks every group who owns a range.
    fn ask(
        &mut self,
        id: RequestId,
        range: KeyRange,
        groups: &[GroupId],
        effects: &mut Vec<ClientEffect<O>>,
    ) {
        let Some(pending) = self.pending.get_mut(&id) else { return };
        if pending.vain_broadcasts >= VAIN_BROADCASTS_MAX || groups.is_empty() {
            self.finish(id, effects);
            return;
        }
        pending.broadcasts.push(Broadcast {
            range: range.clone(),
            asked: BTreeSet::new(),
            silent: 0,
            learned: false,
        });
        self.counters.broadcasts += 1;
        self.ask_more(id, &range, groups, effects);
    }

    /// Asks the groups that were not asked yet.
    fn ask_more(
        &mut self,
        id: RequestId,
        range: &KeyRange,
        groups: &[GroupId],
        effects: &mut Vec<ClientEffect<O>>,
    ) {
        let Some(broadcast) = self.broadcast(id, range) else { return };
        let more: Vec<GroupId> =
            groups.iter().copied().filter(|group| broadcast.asked.insert(*group)).collect();
        broadcast.silent += more.len();
        let ask = Message::Ask { id, client: self.id, range: range.clone() };
        effects.extend(more.into_iter().map(|to| ClientEffect::Send { to, message: ask.clone() }));
    }

    /// The broadcast lookup of a request for a range.
    fn broadcast(&mut self, id: RequestId, range: &KeyRange) -> Option<&mut Broadcast> {
        let broadcasts = &mut self.pending.get_mut(&id)?.broadcasts;
        broadcasts.iter_mut().find(|broadcast| broadcast.range == *range)
    }

    /// Handles a group's answer to a broadcast lookup. When all groups have answered, the operation
    /// is sent to the owners.
    fn on_owned(
        &mut self,
        id: RequestId,
        asked: &KeyRange,
        entries: &[Entry],
        groups: &[GroupId],
        effects: &mut Vec<ClientEffect<O>>,
    ) {
        let learned = self.image.learn_all(entries);
        self.ask_more(id, asked, groups, effects);
        let Some(broadcast) = self.broadcast(id, asked) else { return };
        broadcast.learned |= learned;
        broadcast.silent -= 1;
        if broadcast.silent > 0 {
            return;
        }
        let vain = u32::from(!broadcast.learned);
        let Some(pending) = self.pending.get_mut(&id) else { return };
        pending.vain_broadcasts += vain;
        pending.broadcasts.retain(|broadcast| broadcast.range != *asked);
        let operation = pending.operation.clone();
        self.send(id, asked, operation, effects);
    }

    /// Sends an operation to the believed owners of a range, one message per entry.
    fn send(
        &self,
        id: RequestId,
        range: &KeyRange,
        operation: O,
        effects: &mut Vec<ClientEffect<O>>,
    ) {
        let mut parts = self.image.cover(range);
        parts.dedup_by(|next, last| {
            let same = next.owner.group == last.owner.group;
            if same {
                last.range.high = next.range.high.clone();
            }
            same
        });
        let sent = parts.into_iter();
        effects.extend(
            sent.map(|part| self.message(id, part.range, operation.clone(), part.owner.group)),
        );
    }

    fn message(
        &self,
        id: RequestId,
        range: KeyRange,
        operation: O,
        to: GroupId,
    ) -> ClientEffect<O> {
        let request =
            Request { id, client: self.id, range, operation, forwards: 0, adjustment: Vec::new() };
        ClientEffect::Send { to, message: Message::Request(request) }
    }

    fn finish(&mut self, id: RequestId, effects: &mut Vec<ClientEffect<O>>) {
        if let Some(pending) = self.pending.remove(&id) {
            let missing = pending.coverage.missing().to_vec();
            effects.push(ClientEffect::Finished { id, missing });
        }
    }
}
