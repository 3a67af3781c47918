//! What this server does for others.

use crate::apart::{self, LARGE_BYTES};
use crate::batches;
use crate::cluster::{Cluster, Inner, stopped, written};
use crate::files::ADJUSTMENT_ENTRIES;
use crate::message::{
    Adjustment, Answer, Envelope, Reply, Request, Target, WireReader, WireWrite, decode, garbled,
    is_small_talk,
};
use crate::net::{Answers, Caller, NetError, Service};
use crate::peers::{Found, View};
use crate::pushdown;
use crate::report;
use crate::root::evicted;
use bytes::Bytes;
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use sdds::directory::{Entry, Message};
use sdds::{Bound, Key, KeyRange};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store::catalog::{Catalog, Table, TableId};
use store::{BatchStream, Error, Fragments, Peers, Reading, Write};

impl Service for Cluster {
    fn serve(&self, _from: Caller, request: Bytes) -> Answers {
        let (inner, counters) = (Arc::clone(&self.0), Arc::clone(&self.0.network.counters));
        let is_counted = !is_small_talk(&request);
        if is_counted {
            counters.received.count(&request);
        }
        let count = move |answer: &Result<Bytes, _>| {
            if let (true, Ok(answer)) = (is_counted, answer) {
                counters.sent.count(answer);
            }
        };
        stream::once(async move {
            let is_large = request.len() as u64 >= LARGE_BYTES;
            match decode::<Envelope>(&request).and_then(|envelope| inner.open(envelope)) {
                Ok(Request::Run { reader, hops, fragment }) => {
                    run(inner, reader, hops, fragment.0).await
                }
                Ok(Request::DmlPushdown { reader, target, pushdown, step }) => {
                    one(pushdown::answer(&inner, reader, &target, pushdown.0, step).await)
                }
                Ok(Request::Take { exchange, part }) => match fragments(&inner) {
                    Ok(fragments) => answers(fragments.take(exchange, part)),
                    Err(error) => one(Err(error)),
                },
                Ok(Request::Describe { name }) => described(&inner, &name),
                Ok(request) if is_large => {
                    let runtime = inner.runtime.clone();
                    let work = move || runtime.block_on(answer(&inner, request));
                    one(apart::run(work).await.and_then(|reply| reply))
                }
                Ok(request) => one(answer(&inner, request).await),
                Err(error) => one(Err(error)),
            }
        })
        .flatten()
        .inspect(count)
        .boxed()
    }
}

fn one(reply: Reply) -> Answers {
    let bytes = written(&reply);
    stream::once(async move { Ok::<_, NetError>(bytes) }).boxed()
}

impl Inner {
    /// What a envelope asks for, if it is for this server, and from one that the cluster has not given up.
    fn open(&self, envelope: Envelope) -> Result<Request, Error> {
        if self.stopped.is_cancelled() {
            return Err(stopped(&self.name));
        }
        if envelope.to.is_some_and(|to| to != self.here) {
            let reason = "another server is at its address now";
            return Err(Error::unreachable(self.name.clone(), reason));
        }
        match envelope.from.filter(|from| self.is_lost(*from)) {
            Some(lost) => Err(evicted(lost)),
            None => Ok(envelope.request),
        }
    }
}

async fn answer(inner: &Arc<Inner>, request: Request) -> Reply {
    match request {
        about_rows @ (Request::Get { .. }
        | Request::Newest { .. }
        | Request::Write { .. }
        | Request::RowOperation { .. }) => about_rows_here(inner, about_rows).await,
        Request::Run { .. }
        | Request::DmlPushdown { .. }
        | Request::Take { .. }
        | Request::Describe { .. } => Err(garbled("this is not answered here")),
        Request::RollbackTo { .. }
        | Request::RollBack { .. }
        | Request::Prepare { .. }
        | Request::Commit { .. }
        | Request::IsRunning { .. } => about_transaction(inner, request).await,
        Request::Owned { table, range } => Ok(Answer::Owners(inner.file_by_id(table)?.own(&range))),
        Request::Whose { table, range, hops } => {
            let view = served(inner, hops);
            Ok(Answer::Owners(owners(&view, table, &range).await?))
        }
        Request::Directory { table, message } => {
            let file = inner.file_by_id(table)?;
            let rows = sdds::directory::Content::Rows;
            match &message {
                Message::Request(_) | Message::Ask { .. } => {
                    return Err(garbled("a request of the simulation's"));
                }
                Message::Adopt { content, .. } if content.level() == rows.level() => {
                    return Err(garbled("keys without their rows"));
                }
                _ => {}
            }
            let outbox = file.handle(message);
            inner.send_all(&file, outbox);
            Ok(Answer::Done)
        }
        Request::MoveIn { .. }
        | Request::MovePiece { .. }
        | Request::MoveAdopt { .. }
        | Request::MoveDrop { .. }
        | Request::MoveOutcome { .. } => about_move(inner, request),
        Request::Report => Ok(Answer::Report(Box::new(report::held(inner)))),
        to_root @ (Request::Join { .. }
        | Request::Heartbeat(_)
        | Request::Now
        | Request::Next { .. }
        | Request::Members
        | Request::Decide { .. }
        | Request::Outcome { .. }
        | Request::SequenceNext { .. }
        | Request::SequenceSet { .. }
        | Request::SequenceLast { .. }
        | Request::Leave { .. }
        | Request::ChangeMoves { .. }
        | Request::SetWeight { .. }) => match &inner.root {
            Some(root) => root.answer(inner, &to_root).await,
            // Whoever joins may know any of us.
            None if matches!(to_root, Request::Join { .. }) => Ok(inner.ask_root(&to_root).await?),
            None => {
                let reason = "it is not the first server, and cannot lead the cluster";
                Err(Error::unreachable(inner.name.clone(), reason))
            }
        },
    }
}

/// What is asked of an owner.
async fn about_rows_here(inner: &Arc<Inner>, request: Request) -> Reply {
    match request {
        Request::Get { reader, target, keys, columns } => {
            get(inner, &reader, &target, &keys, &columns).await
        }
        Request::Newest { target, key, columns } => newest(inner, &target, key, &columns).await,
        Request::Write { reader, target, write: rows, step } => {
            write(inner, &reader, &target, rows, step).await
        }
        Request::RowOperation { target, key, operation } => {
            row_operation(inner, &target, key, operation.0).await
        }
        other => Err(garbled(&format!("{} is not about rows", other.name()))),
    }
}

/// What a source of rows asks.
fn about_move(inner: &Arc<Inner>, request: Request) -> Reply {
    match request {
        Request::MoveIn { table, range } => inner.moves.begin(inner, table, &range),
        Request::MovePiece { number, piece, ends_round } => {
            inner.moves.take(number, piece.0, ends_round)
        }
        Request::MoveAdopt { number, rest, adopt, accesses } => {
            inner.moves.adopt(inner, number, (rest.map(|rest| rest.0), accesses), adopt)
        }
        Request::MoveDrop { number } => {
            inner.moves.forget(number);
            Ok(Answer::Done)
        }
        Request::MoveOutcome { number } => Ok(Answer::Adopted(inner.moves.outcome(number))),
        other => Err(garbled(&format!("{} is not about a move", other.name()))),
    }
}

/// What is asked about a transaction as a whole.
async fn about_transaction(inner: &Arc<Inner>, request: Request) -> Reply {
    match request {
        Request::RollbackTo { transaction, savepoint, step } => {
            let part = inner.participants.part(transaction)?;
            part.lock().await.rollback_to(savepoint, step);
            Ok(Answer::Done)
        }
        Request::RollBack { transaction } => {
            inner.participants.end(transaction, None).await;
            Ok(Answer::Done)
        }
        Request::Prepare { reader, has_written, newest } => {
            let Some(transaction) = reader.transaction else {
                return Err(garbled("a transaction without a name"));
            };
            inner.store.observe(newest);
            let part = inner.participants.part(transaction)?;
            let prepared = part.lock().await.prepare(&inner.store, &reader, has_written).await;
            prepared.map(|()| Answer::Done)
        }
        Request::Commit { transaction, timestamp } => {
            inner.participants.end(transaction, Some(timestamp)).await;
            inner.low_watermark.lock().learn(timestamp);
            Ok(Answer::Done)
        }
        Request::IsRunning { transaction } => {
            Ok(Answer::Running(inner.coordinated.is_running(transaction)))
        }
        other => Err(garbled(&format!("{} is not about a transaction", other.name()))),
    }
}

/// The cluster as this server sees it while it works for another.
pub(crate) fn served(inner: &Arc<Inner>, hops: u32) -> View {
    View { inner: Arc::clone(inner), hops: hops.max(1), found: Arc::new(Mutex::default()) }
}

/// What a transaction reads here.
pub(crate) async fn reading(
    inner: &Arc<Inner>,
    reader: &WireReader,
    view: &View,
) -> Result<Reading, Error> {
    let peers = (Arc::new(view.clone()) as Arc<dyn Peers>, reader.reader());
    if reader.timestamp.0 < inner.horizon.load(Ordering::Acquire) {
        return Err(too_old());
    }
    if reader.transaction.is_some_and(|transaction| transaction.coordinator == inner.here) {
        // Its own writes are with its client's session: it reads here without asking itself.
        return Err(Error::NotOwned { range: KeyRange::all() });
    }
    let part = reader.transaction.and_then(|transaction| inner.participants.known(transaction));
    if let Some(part) = part {
        return part.lock().await.reading(&inner.store, reader, peers).await;
    }
    let snapshot = inner.store.snapshot_at(reader.timestamp).await;
    if reader.changes.is_empty() {
        return Ok(snapshot.reading(Some(peers)));
    }
    // It has written nothing here: what it has changed of the catalog is looked at and forgotten.
    let mut transaction = inner.store.begin_at(snapshot);
    for change in &reader.changes {
        transaction.change_catalog(change.clone())?;
    }
    Ok(transaction.reading(Some(peers)))
}

fn too_old() -> Error {
    Error::Remote {
        sql_state: "72000".into(),
        message: "the snapshot is too old: row versions that it sees may be gone".into(),
        detail: None,
        hint: Some("Run the transaction again.".into()),
    }
}

/// The definition that a coordinator plans with; another one is tried again there.
pub(crate) fn definition(catalog: &Catalog, target: &Target) -> Result<Arc<Table>, Error> {
    match catalog.table_by_id(target.table) {
        Some(table) if table.version == target.version => Ok(Arc::clone(table)),
        Some(table) => Err(Error::SchemaConflict { relation: table.name.clone() }),
        None => Err(Error::SchemaConflict { relation: format!("table {}", target.table.0) }),
    }
}

async fn get(
    inner: &Arc<Inner>,
    reader: &WireReader,
    target: &Target,
    keys: &[Key],
    columns: &[u32],
) -> Reply {
    let view = served(inner, target.hops);
    let reading = reading(inner, reader, &view).await?;
    let table = definition(reading.catalog(), target)?;
    let columns = columns_of(&table, columns)?;
    let rows = reading.table(table.id).ok_or_else(|| gone(&table))?;
    let found = rows.find_many(keys, &columns).await;
    found_rows(found, view.adjustment(inner, table.id, keys))
}

/// A row as it is now, which may be another server's: then that one is asked.
async fn newest(inner: &Arc<Inner>, target: &Target, key: Key, columns: &[u32]) -> Reply {
    let view = served(inner, target.hops);
    let table = definition(&inner.store.catalog(), target)?;
    let columns = columns_of(&table, columns)?;
    let row = inner.store.find_newest(&view, &table, &key, &columns).await;
    let found = row.map(|row| row.map_or_else(Default::default, |values| (values, vec![0])));
    found_rows(found, view.adjustment(inner, table.id, &[key]))
}

fn columns_of(table: &Table, columns: &[u32]) -> Result<Vec<usize>, Error> {
    let columns: Vec<usize> = columns.iter().map(|column| *column as usize).collect();
    match columns.iter().all(|column| *column < table.columns.len()) {
        true => Ok(columns),
        false => Err(garbled("a column that the table has not")),
    }
}

/// The answer to whoever has asked for rows by their keys.
fn found_rows(found: Result<Found, Error>, adjustment: Adjustment) -> Reply {
    let (values, positions) = match found {
        Err(Error::NotOwned { range } | Error::Astray { range }) => {
            return Ok(Answer::NotOwned { range, adjustment });
        }
        found => found?,
    };
    let positions: Vec<u32> = positions.into_iter().map(|position| position as u32).collect();
    let rows = match positions.is_empty() {
        true => None,
        false => Some(batches::write(&batches::of_columns(values, positions.len())?)?.into()),
    };
    Ok(Answer::Found { rows, positions, adjustment })
}

fn gone(table: &Table) -> Error {
    Error::SchemaConflict { relation: table.name.clone() }
}

impl View {
    /// What whoever has asked for these keys can learn: nothing, where the request came to the owner at once.
    fn adjustment(&self, inner: &Inner, table: TableId, keys: &[Key]) -> Adjustment {
        let mut found = std::mem::take(&mut *self.found.lock());
        if self.hops > 1
            && let Ok(file) = inner.file_by_id(table)
        {
            let own = keys.iter().flat_map(|key| file.own(&KeyRange::point(key)));
            let mut own: Vec<Entry> = own.collect();
            own.sort_by(|a, b| a.range.low.cmp(&b.range.low));
            own.dedup();
            own.truncate(ADJUSTMENT_ENTRIES);
            found.entries.extend(own.into_iter().map(|entry| (table, entry)));
        }
        found
    }
}

/// Stages rows for a transaction. Where some are not this server's, nothing is staged, and the answer says whose they are.
async fn write(
    inner: &Arc<Inner>,
    reader: &WireReader,
    target: &Target,
    rows: WireWrite,
    step: u64,
) -> Reply {
    let Some(transaction) = reader.transaction else {
        return Err(garbled("a write outside of transactions"));
    };
    let write = match rows {
        WireWrite::Insert(rows) => Write::Insert(batches::read(&rows)?),
        WireWrite::Load(rows) => Write::Load(batches::read(&rows)?),
        WireWrite::Upsert(rows) => Write::Upsert(batches::read(&rows)?),
        WireWrite::Delete(keys) => Write::Delete(keys),
    };
    if reader.timestamp.0 < inner.horizon.load(Ordering::Acquire) {
        return Err(too_old());
    }
    let part = inner.participants.part(transaction)?;
    let written = {
        let mut part = part.lock().await;
        let view = served(inner, target.hops);
        let peers = (Arc::new(view) as Arc<dyn Peers>, reader.reader());
        let reading = part.reading(&inner.store, reader, peers).await?;
        let table = definition(reading.catalog(), target)?;
        part.write(&inner.store, reader, step, |open| open.write(&table, write.clone())).await
    };
    match written {
        Ok(rows) => Ok(Answer::Written { rows }),
        Err(Error::NotOwned { .. }) => {
            let span = span(inner, target.table, &write)?;
            not_owned(inner, target, span).await
        }
        Err(error) => Err(error),
    }
}

/// Does a row operation. Where its key is not this server's, nothing is done, and the answer says whose it is.
async fn row_operation(inner: &Arc<Inner>, target: &Target, key: Key, operation: Bytes) -> Reply {
    let range = KeyRange::point(&key);
    definition(&inner.store.catalog(), target)?;
    match fragments(inner)?.row_operation(key, operation).await {
        Err(Error::NotOwned { .. }) => not_owned(inner, target, range).await,
        done => Ok(Answer::Written { rows: done? }),
    }
}

/// The answer to whoever has taken keys for this server's.
async fn not_owned(inner: &Arc<Inner>, target: &Target, range: KeyRange) -> Reply {
    let view = served(inner, target.hops);
    let entries = owners(&view, target.table, &range).await?;
    Ok(Answer::NotOwned { range, adjustment: Adjustment::of(target.table, 1, entries) })
}

/// The stretch of keys that a write is about.
fn span(inner: &Inner, table: TableId, write: &Write) -> Result<KeyRange, Error> {
    let keys = match write {
        Write::Delete(keys) => keys.clone(),
        Write::Insert(rows) | Write::Load(rows) | Write::Upsert(rows) => {
            let view = inner.store.snapshot().table(table);
            let missing = || Error::SchemaConflict { relation: format!("table {}", table.0) };
            view.ok_or_else(missing)?.encode_keys(rows)?
        }
    };
    let (first, last) = (keys.iter().min(), keys.iter().max());
    let range = first.zip(last).and_then(|(first, last)| {
        KeyRange::new(Bound::At(first.clone()), Bound::At(last.successor()))
    });
    Ok(range.unwrap_or_else(KeyRange::all))
}

/// Who owns what of a range, by the directory.
pub(crate) async fn owners(
    view: &View,
    table: TableId,
    range: &KeyRange,
) -> Result<Vec<Entry>, Error> {
    let inner = &view.inner;
    let file = inner.file_by_id(table)?;
    let parts = view.cover(table, range).await?;
    let listed = std::mem::take(&mut view.found.lock().entries);
    let mut entries: Vec<Entry> = listed.into_iter().map(|(_, entry)| entry).collect();
    for (part, group) in parts {
        // What a page that this server keeps says need not be asked for.
        let is_listed = |entry: &Entry| entry.owner.group == group && entry.range.overlaps(&part);
        if group == inner.here {
            entries.extend(file.own(&part));
        } else if !entries.iter().any(is_listed) {
            let request = Request::Whose { table, range: part, hops: view.hops + 1 };
            if let Answer::Owners(owners) = inner.ask(group, &request).await? {
                entries.extend(owners);
            }
        }
    }
    Ok(entries)
}

/// What this server tells of itself.
fn described(inner: &Inner, name: &str) -> Answers {
    let rows = inner.fragments.get().and_then(|fragments| fragments.describe(name));
    let pieces = rows
        .iter()
        .flat_map(batches::pieces)
        .map(|piece| Ok(Answer::Batch(batches::write(&piece)?.into())));
    let replies: Vec<Reply> = pieces.collect();
    stream::iter(replies).map(|reply| Ok(written(&reply))).boxed()
}

/// Runs a fragment, and says what its coordinator can learn: with the first rows, for not everybody reads on, and at the end.
async fn run(inner: Arc<Inner>, reader: WireReader, hops: u32, fragment: Bytes) -> Answers {
    let view = served(&inner, hops);
    let fragments = match fragments(&inner) {
        Ok(fragments) => fragments,
        Err(error) => return one(Err(error)),
    };
    let reading = match reading(&inner, &reader, &view).await {
        Ok(reading) => reading,
        Err(error) => return one(Err(error)),
    };
    let rows = answers(fragments.run(reading, fragment)).fuse();
    let told = async move {
        let (first, rest) = rows.into_future().await;
        let begin = stream::iter(learnt(&view)).chain(stream::iter(first));
        let end = stream::once(async move { learnt(&view) }).flat_map(stream::iter);
        begin.chain(rest).chain(end)
    };
    stream::once(told).flatten().boxed()
}

/// What was found out on behalf of a coordinator, if anything was since it was told last.
fn learnt(view: &View) -> Option<Result<Bytes, NetError>> {
    let adjustment = std::mem::take(&mut *view.found.lock());
    let is_news = adjustment.forwards > 0 || !adjustment.entries.is_empty();
    is_news.then(|| Ok(written(&Ok(Answer::Adjustment(adjustment)))))
}

/// Who runs fragments here.
pub(crate) fn fragments(inner: &Inner) -> Result<Arc<dyn Fragments>, Error> {
    inner
        .fragments
        .get()
        .cloned()
        .ok_or_else(|| Error::unreachable(inner.name.clone(), "it is still starting"))
}

/// Rows in pieces that are small enough to travel.
fn answers(batches: BatchStream) -> Answers {
    let pieces = batches.flat_map(|batch| {
        let pieces: Vec<Reply> = match batch {
            Ok(batch) => batches::pieces(&batch)
                .map(|piece| Ok(Answer::Batch(batches::write(&piece)?.into())))
                .collect(),
            Err(error) => vec![Err(error)],
        };
        stream::iter(pieces)
    });
    pieces.map(|reply| Ok(written(&reply))).boxed()
}
