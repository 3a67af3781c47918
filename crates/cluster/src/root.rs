//! What only the root does: membership, timestamps, sequences, and saying what should move where.

use crate::cluster::Inner;
use crate::members::{Member, Members, ServerLoad};
use crate::message::{Answer, Beat, Heartbeat, Order, Reply, Request};
use crate::oracle::Oracle;
use crate::timestamps::COMMITS_MAX;
use parking_lot::Mutex;
use sdds::balancing::{Proposal, Share, Sizes, propose};
use sdds::{GroupId, Timestamp};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use store::catalog::{Catalog, TableId};
use store::{Error, TableTotal, TransactionId};

/// A server that has not called for so long is given up.
const SILENCE: Duration = Duration::from_secs(10);

/// How long a server that leaves waits until all others have heard of it.
const FAREWELL: Duration = Duration::from_secs(1);

/// A server is told of as many orders at a time.
const ORDERS_MAX: usize = 8;

/// The SQLSTATE that a server hears which has been given up: a shutdown that it did not ask for.
pub(crate) const EVICTED: &str = "57P01";

/// The root's own state.
#[derive(Debug)]
pub(crate) struct Root {
    oracle: Mutex<Oracle>,
    calls: Mutex<BTreeMap<GroupId, Call>>,
}

/// The last heartbeat of a server.
#[derive(Debug)]
struct Call {
    at: Instant,
    oldest: Timestamp,
    /// The version of the list of servers that it knew.
    members: u64,
    load: ServerLoad,
}

/// What each table has on all servers together.
fn totals<'a>(loads: impl Iterator<Item = &'a ServerLoad>) -> Vec<(TableId, TableTotal)> {
    let mut totals = BTreeMap::<TableId, TableTotal>::new();
    for load in loads.flat_map(|load| &load.tables) {
        let total = totals.entry(load.table).or_default();
        total.rows += load.rows;
        total.bytes += load.bytes;
    }
    totals.into_iter().collect()
}

impl Root {
    /// `oldest` is the oldest snapshot that is in use on the root's own server.
    pub(crate) fn new(here: GroupId, oracle: Oracle, oldest: Timestamp) -> Self {
        let root = Self { oracle: Mutex::new(oracle), calls: Mutex::default() };
        root.heard(here, oldest, 0, ServerLoad::default());
        root
    }

    /// Answers what is asked of the root.
    pub(crate) async fn answer(&self, inner: &Inner, request: &Request) -> Reply {
        Ok(match request {
            Request::Now => Answer::Timestamp(self.now()),
            Request::Next { count } if *count <= COMMITS_MAX => {
                Answer::Timestamp(self.oracle.lock().next(*count))
            }
            Request::Decide { transaction, others, members } => {
                self.decide(inner, *transaction, others, *members)?
            }
            Request::Outcome { transaction } => {
                Answer::Outcome(self.oracle.lock().outcome(*transaction))
            }
            Request::Heartbeat(heartbeat) => {
                Answer::Beat(Box::new(self.heartbeat(inner, heartbeat)?))
            }
            Request::Join { name, address, weight } => {
                self.join(inner, name, address, *weight).await?
            }
            Request::SetWeight { name, weight } => {
                if !inner.members.write().set_weight(name, *weight) {
                    return Err(no_server(&inner.members.read(), name));
                }
                Answer::Done
            }
            Request::ChangeMoves { change } => {
                inner.members.write().change_moves(*change);
                Answer::Done
            }
            Request::Leave { group, is_empty } => {
                self.leave(inner, *group, *is_empty).await;
                Answer::Done
            }
            Request::Members => Answer::Members(inner.members.read().clone()),
            Request::SequenceNext { sequence, count } => {
                Answer::Value(Some(inner.store.sequence_next(sequence, *count)?))
            }
            Request::SequenceSet { sequence, last, called } => {
                inner.store.sequence_set(sequence, *last, *called)?;
                Answer::Done
            }
            Request::SequenceLast { sequence } => {
                Answer::Value(inner.store.sequence_last(sequence)?)
            }
            other => return Err(unexpected_request(other)),
        })
    }

    /// A timestamp that sees every commit so far.
    pub(crate) fn now(&self) -> Timestamp {
        self.oracle.lock().now()
    }

    /// The timestamp of a commit of the root's own.
    pub(crate) fn next(&self) -> Timestamp {
        self.oracle.lock().next(1)
    }

    /// Commits a transaction, if all who have prepared it are still part of the cluster.
    fn decide(
        &self,
        inner: &Inner,
        transaction: TransactionId,
        others: &[GroupId],
        members: Option<u64>,
    ) -> Reply {
        // Held until it is decided: who joins before is noticed, and who joins after gets the catalog with it.
        let known = inner.members.read();
        if members.is_some_and(|version| version != known.version) {
            return Err(Error::SchemaConflict { relation: "the list of servers".into() });
        }
        let mut groups = std::iter::once(&transaction.coordinator).chain(others);
        if let Some(lost) = groups.find(|group| known.get(**group).is_none_or(|m| m.is_lost)) {
            return Err(evicted(*lost));
        }
        let mut oracle = self.oracle.lock();
        Ok(match others.is_empty() {
            true => Answer::Timestamp(oracle.next(1)),
            false => Answer::Outcome(oracle.decide(transaction)),
        })
    }

    /// Takes a server in. Transactions that change the catalog and have not heard of it are refused from now on, so that
    /// the catalog which it is given is the one that it goes on with.
    async fn join(&self, inner: &Inner, name: &str, address: &str, weight: u32) -> Reply {
        let (member, members, timestamp) = {
            let mut members = inner.members.write();
            let of_name = members.named(name).map(|known| (known.group, known.address == address));
            if let Some((group, true)) = of_name.filter(|(group, _)| *group != inner.here) {
                // Nobody else can listen there: the one that we know has ended.
                members.lose(group);
            } else if of_name.is_some() {
                return Err(Error::Remote {
                    sql_state: "42710".into(),
                    message: format!("a server named \"{name}\" is part of the cluster already"),
                    detail: None,
                    hint: Some("Give every server a name of its own (--name).".into()),
                });
            }
            let member = members.join(name.to_owned(), address.to_owned(), weight);
            (member, members.clone(), self.oracle.lock().now())
        };
        self.heard(member.group, timestamp, members.version, ServerLoad::default());
        inner.files.all().iter().for_each(|file| file.join(member.group));
        let snapshot = inner.store.snapshot_at(timestamp).await;
        let catalog = snapshot.catalog().shared();
        tracing::info!(server = name, group = member.group.0, address, "a server has joined");
        Ok(Answer::Joined { member, members, catalog, timestamp })
    }

    fn heard(&self, group: GroupId, oldest: Timestamp, members: u64, load: ServerLoad) {
        self.calls.lock().insert(group, Call { at: Instant::now(), oldest, members, load });
    }

    /// Notes what a server says of itself, and tells it what it should know and do.
    pub(crate) fn heartbeat(&self, inner: &Inner, heartbeat: &Heartbeat) -> Result<Beat, Error> {
        let members = inner.members.read().clone();
        match members.get(heartbeat.group) {
            Some(member) if !member.is_lost => {}
            _ => return Err(evicted(heartbeat.group)),
        }
        if let Some(pg) = &heartbeat.pg {
            inner.members.write().set_pg(heartbeat.group, pg);
        }
        self.heard(heartbeat.group, heartbeat.oldest, heartbeat.members, heartbeat.load.clone());
        self.give_up_silent(inner);
        if heartbeat.group == inner.here {
            // A file may have been opened by somebody who did not know of the last to join.
            for file in inner.files.all() {
                members.present().for_each(|member| file.join(member.group));
            }
        }
        let orders = match heartbeat.load.is_moving || members.moves.is_paused {
            true => Vec::new(),
            false => self.orders(&members, heartbeat.group, &inner.store.catalog()),
        };
        let now = self.oracle.lock().now();
        let calls = self.calls.lock();
        let horizon = calls.values().map(|call| call.oldest).min().unwrap_or(now);
        let members = (members.version != heartbeat.members).then_some(members);
        let totals = totals(calls.values().map(|call| &call.load));
        Ok(Beat { now, horizon, members, totals, orders })
    }

    /// Lets a server go that ends by itself. One that is empty stays until all others have heard of it, so that nobody
    /// looks there for rows any more.
    async fn leave(&self, inner: &Inner, group: GroupId, is_empty: bool) {
        if group == inner.here || inner.is_lost(group) {
            return;
        }
        if is_empty {
            inner.members.write().set_left(group, true);
            let version = inner.members.read().version;
            let have_heard = || self.calls.lock().values().all(|call| call.members >= version);
            let begun = Instant::now();
            while !have_heard() && begun.elapsed() < FAREWELL {
                tokio::time::sleep(FAREWELL / 100).await;
            }
        }
        let last = self.calls.lock().remove(&group);
        let mut members = inner.members.write();
        if last.is_some_and(|call| !call.load.tables.is_empty()) {
            // Rows that were on their way to it have arrived meanwhile.
            members.set_left(group, false);
        }
        members.lose(group);
        tracing::info!(group = group.0, is_empty, "a server has left");
    }

    /// Gives up servers that have not called for too long.
    fn give_up_silent(&self, inner: &Inner) {
        let mut calls = self.calls.lock();
        let is_lost = |group: GroupId| inner.is_lost(group);
        calls.retain(|group, _| !is_lost(*group));
        let silent = calls
            .iter()
            .filter(|(group, call)| **group != inner.here && call.at.elapsed() > SILENCE);
        for group in silent.map(|(group, _)| *group).collect::<Vec<_>>() {
            calls.remove(&group);
            inner.members.write().lose(group);
            tracing::error!(
                group = group.0,
                "a server has not called for too long and is given up"
            );
        }
    }

    /// What a server should give to others, of its fullest table first: it carries out the first order for which it finds
    /// something. Tables that lie beside others follow them.
    fn orders(&self, members: &Members, group: GroupId, catalog: &Catalog) -> Vec<Order> {
        let calls = self.calls.lock();
        let Some(own) = calls.get(&group) else { return Vec::new() };
        let mut orders: Vec<Order> = Vec::new();
        let follows = |id| catalog.table_by_id(id).is_some_and(|t| catalog.colocated(t).is_some());
        for load in own.load.tables.iter().filter(|load| !follows(load.table)) {
            let shares: Vec<Share> =
                members.present().map(|m| share(&calls, m, load.table)).collect();
            // The buckets of a table that splits are about three quarters full on average.
            let usual = load.bucket_size / 4 * 3;
            let bucket = (load.bytes / load.buckets.max(1)).min(usual).max(1);
            let proposal = propose(&shares, bucket, load.bucket_size);
            let proposal = proposal.filter(|proposal| proposal.from == group);
            let Some(proposal) = proposal else { continue };
            orders.push(Order {
                table: load.table,
                to: proposal.to,
                size_max: proposal.size_max,
                sizes: proposal.sizes,
                reason: reason(members, &shares, &proposal),
            });
        }
        orders.sort_by_key(|order| std::cmp::Reverse(order.size_max));
        orders.truncate(ORDERS_MAX);
        orders
    }
}

/// What a member holds of a table, as it said last.
fn share(calls: &BTreeMap<GroupId, Call>, member: &Member, table: TableId) -> Share {
    let load = calls.get(&member.group).map(|call| &call.load);
    let of_table = load.and_then(|load| load.tables.iter().find(|held| held.table == table));
    // A server that is emptied gives buckets without rows, too: their keys are to have an owner when it has gone.
    let least = of_table.filter(|_| member.weight == 0).map_or(0, |held| held.buckets);
    Share {
        group: member.group,
        bytes: of_table.map_or(0, |held| held.bytes).max(least),
        accesses: of_table.map_or(0, |held| held.accesses),
        weight: member.weight,
    }
}

fn reason(members: &Members, shares: &[Share], proposal: &Proposal) -> String {
    let share = |group| shares.iter().find(|share| share.group == group);
    let (from, to) = (share(proposal.from), share(proposal.to));
    let bytes = |share: Option<&Share>| share.map_or(0, |share| share.bytes);
    let accesses = |share: Option<&Share>| share.map_or(0, |share| share.accesses);
    let (here, there) = (bytes(from), bytes(to));
    if members.get(proposal.from).is_some_and(|member| member.weight == 0) {
        return format!("the server is emptied; {here} bytes are left");
    }
    if proposal.sizes == Sizes::default() {
        return format!("{here} bytes here, {there} there");
    }
    let (often, less) = (accesses(from), accesses(to));
    format!("{here} bytes and {often} accesses a second here, {there} and {less} there")
}

/// What a server hears that the root has given up.
pub(crate) fn evicted(group: GroupId) -> Error {
    Error::Remote {
        sql_state: EVICTED.into(),
        message: format!(
            "server {group} did not call for {} s and was given up",
            SILENCE.as_secs()
        ),
        detail: Some("What it held is lost to the cluster.".into()),
        hint: Some("Start it again: it joins as a new server.".into()),
    }
}

fn no_server(members: &Members, name: &str) -> Error {
    let names: Vec<&str> = members.present().map(|member| member.name.as_str()).collect();
    Error::Remote {
        sql_state: "42704".into(),
        message: format!("server \"{name}\" does not exist"),
        detail: None,
        hint: Some(format!("The servers are {}.", names.join(", "))),
    }
}

fn unexpected_request(request: &Request) -> Error {
    crate::message::garbled(&format!("{} is not for the root", request.name()))
}
