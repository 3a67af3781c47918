//! Carrying rows from one server to another, while both go on serving.
//!
//! ```text
//!  source                                destination
//!   copy               ── pieces ──────> keep apart
//!   what has changed   ── pieces ──────>
//!   ...
//!   freeze, release    ── the rest ────> owns them
//!   drop, record in the directory <─────
//! ```
//!
//! Between freezing and adopting, requests for these keys wait. Rounds of what has changed meanwhile go before, until there is
//! little left to send in that time.

use crate::blob::Blob;
use crate::cluster::{Asked, Cluster, Inner, stopped, unexpected};
use crate::files::File;
use crate::heartbeat::AVERAGING;
use crate::message::{Answer, Order, Reply, Request, garbled};
use bytes::Bytes;
use parking_lot::Mutex;
use sdds::KeyRange;
use sdds::balancing::Sizes;
use sdds::directory::{Content, Message};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use store::catalog::TableId;
use store::{BucketInfo, Busy, Error, MoveIn, MoveOut, MoveSettings};

/// Moves that are remembered for whoever looks.
const REMEMBERED: usize = 256;
/// How often rows that transactions have written to are tried to be frozen, before the move is put off.
const FREEZES: u32 = 100;
/// Moves to this server whose adoption is remembered. A source asks within seconds.
const ADOPTED_REMEMBERED: usize = 1 << 16;
/// Rows whose source is silent for so long are dropped.
const SILENCE: Duration = Duration::from_secs(60);
/// The first pause after a move that came to nothing, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(10));

/// Bytes that a round of changes may have for the rest to be small: what is written in the time that such a round takes.
const REST_BYTES: u64 = 64 << 10;
/// Rounds before a move is done with whatever rest: rows that are written faster than they are sent would never move.
const ROUNDS_MAX: u32 = 10;

/// How long an order is carried out before the root is asked again.
pub(crate) const ORDER_TIME: Duration = Duration::from_secs(2);

/// Rows that come and go.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    next: AtomicU64,
    incoming: Mutex<Arrivals>,
    outgoing: Mutex<Vec<Outgoing>>,
    /// When the limit of what is given away in a second lets more go.
    free_at: Mutex<Option<Instant>>,
    is_moving: AtomicBool,
    pause: Mutex<Pause>,
    /// Until when orders are not looked at; other moves are not held up.
    resting_until: Mutex<Option<Instant>>,
}

/// Moves to this server, by number. Each is adopted once, or never: a source that asks may rely on the answer.
#[derive(Debug, Default)]
struct Arrivals {
    /// Each with a lock of its own: what comes for one does not wait for another. It may be taken before that of all, and
    /// never after.
    open: BTreeMap<u64, Arc<Mutex<Incoming>>>,
    adopted: BTreeSet<u64>,
}

/// How long nothing is given away after a move that came to nothing; each further one doubles it.
#[derive(Debug, Default)]
struct Pause {
    failures: u32,
    until: Option<Instant>,
}

/// A move from here, and when it began.
#[derive(Debug, Clone)]
struct Outgoing {
    info: MoveInfo,
    begun: Instant,
    is_over: bool,
}

/// Rows that are coming.
#[derive(Debug)]
struct Incoming {
    table: TableId,
    /// None once they are adopted, or not wanted any more.
    rows: Option<MoveIn>,
    /// When a piece came last; a source that dies leaves what it sent.
    at: Instant,
}

/// A move, as its source sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveInfo {
    /// The table.
    pub table: TableId,
    /// The keys.
    pub range: KeyRange,
    /// To which group.
    pub to: sdds::GroupId,
    /// Why.
    pub reason: String,
    /// `copying`, `waiting` for transactions that write there, `done`, or what went wrong.
    pub state: String,
    /// Bytes to carry, as the buckets count them.
    pub bytes: u64,
    /// Bytes that have been sent.
    pub sent: u64,
    /// Microseconds since its begin, or that it took.
    pub micros: u64,
    /// Microseconds for which requests had to wait.
    pub frozen_micros: u64,
    /// Rows, or versions of them, that were sent in that time.
    pub frozen_rows: u64,
}

impl Moves {
    /// Whether something is being given away.
    pub(crate) fn is_moving(&self) -> bool {
        self.is_moving.load(Ordering::Relaxed)
    }

    /// The last moves from here, the newest last.
    pub(crate) fn list(&self) -> Vec<MoveInfo> {
        let outgoing = self.outgoing.lock();
        let shown = outgoing.iter().map(|one| {
            let mut info = one.info.clone();
            if !one.is_over {
                info.micros = one.begun.elapsed().as_micros() as u64;
            }
            info
        });
        shown.collect()
    }

    /// Rows are coming.
    pub(crate) fn begin(&self, inner: &Inner, table: TableId, range: &KeyRange) -> Reply {
        let rows = inner.store.move_in(table, range)?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let incoming = Incoming { table, rows: Some(rows), at: Instant::now() };
        self.incoming.lock().open.insert(number, Arc::new(Mutex::new(incoming)));
        Ok(Answer::Move(number))
    }

    /// Rows that are on their way.
    fn open(&self, number: u64) -> Result<Arc<Mutex<Incoming>>, Error> {
        let known = self.incoming.lock().open.get(&number).cloned();
        known.ok_or_else(|| garbled("an unknown move"))
    }

    /// Some of them.
    pub(crate) fn take(&self, number: u64, piece: Bytes, ends_round: bool) -> Reply {
        let incoming = self.open(number)?;
        let mut incoming = incoming.lock();
        incoming.at = Instant::now();
        let rows = incoming.rows.as_mut().ok_or_else(|| garbled("a move that is over"))?;
        rows.take(piece)?;
        if ends_round {
            rows.end_round()?;
        }
        Ok(Answer::Done)
    }

    /// All are there.
    pub(crate) fn adopt(
        &self,
        inner: &Arc<Inner>,
        number: u64,
        (rest, accesses): (Option<Bytes>, u64),
        adopt: Message<()>,
    ) -> Reply {
        if !matches!(adopt, Message::Adopt { content: Content::Rows, .. }) {
            return Err(garbled("a move without its range"));
        }
        let incoming = self.open(number)?;
        // Held until it is done: who asks what became of it hears of all or nothing.
        let mut incoming = incoming.lock();
        let mut rows = incoming.rows.take().ok_or_else(|| garbled("a move that is over"))?;
        let file = inner.file_by_id(incoming.table)?;
        rest.map_or(Ok(()), |rest| rows.take(rest))?;
        rows.adopt(accesses)?;
        // The answer tells the source; the message that the directory would send says the same.
        let _ = file.handle(adopt);
        let mut all = self.incoming.lock();
        all.open.remove(&number);
        all.adopted.insert(number);
        if all.adopted.len() > ADOPTED_REMEMBERED {
            all.adopted.pop_first();
        }
        Ok(Answer::Adopted(true))
    }

    /// Whether rows were adopted. If not, they will not be any more.
    pub(crate) fn outcome(&self, number: u64) -> bool {
        if let Ok(incoming) = self.open(number) {
            incoming.lock().rows = None;
        }
        let mut all = self.incoming.lock();
        all.open.remove(&number);
        all.adopted.contains(&number)
    }

    /// They are not coming.
    pub(crate) fn forget(&self, number: u64) {
        self.incoming.lock().open.remove(&number);
    }

    /// Drops rows whose source has fallen silent.
    pub(crate) fn tidy(&self) {
        let is_silent = |rows: &Mutex<Incoming>| {
            rows.try_lock().is_some_and(|rows| rows.at.elapsed() >= SILENCE)
        };
        self.incoming.lock().open.retain(|_, rows| !is_silent(rows));
    }

    /// Whether a move that failed was only just.
    fn is_paused(&self) -> bool {
        self.pause.lock().until.is_some_and(|until| Instant::now() < until)
    }

    /// Nothing that orders ask for would help: they are looked at again when accesses were averaged again.
    fn rest(&self) {
        *self.resting_until.lock() = Some(Instant::now() + AVERAGING);
    }

    /// Whether orders were only just in vain.
    fn is_resting(&self) -> bool {
        self.resting_until.lock().is_some_and(|until| Instant::now() < until)
    }

    /// Notes how a move went.
    fn ended(&self, is_done: bool) {
        let mut pause = self.pause.lock();
        if is_done {
            *pause = Pause::default();
            return;
        }
        let (first, longest) = PAUSES;
        let length = first.saturating_mul(2u32.saturating_pow(pause.failures)).min(longest);
        *pause = Pause { failures: pause.failures + 1, until: Some(Instant::now() + length) };
    }

    fn note(&self, change: impl FnOnce(&mut MoveInfo)) {
        if let Some(last) = self.outgoing.lock().last_mut() {
            change(&mut last.info);
        }
    }

    fn push(&self, info: MoveInfo) {
        let mut outgoing = self.outgoing.lock();
        if outgoing.len() == REMEMBERED {
            outgoing.remove(0);
        }
        outgoing.push(Outgoing { info, begun: Instant::now(), is_over: false });
    }

    fn note_end(&self, state: String) {
        if let Some(last) = self.outgoing.lock().last_mut() {
            last.is_over = true;
            last.info.micros = last.begun.elapsed().as_micros() as u64;
            last.info.state = state;
        }
    }

    /// Notes what was sent, towards the limit of a second.
    fn has_sent(&self, bytes: u64, settings: MoveSettings) {
        self.note(|info| info.sent += bytes);
        if let Some(limit) = settings.bytes_per_second {
            let mut free_at = self.free_at.lock();
            let from = free_at.map_or_else(Instant::now, |at| at.max(Instant::now()));
            *free_at = Some(from + Duration::from_secs_f64(bytes as f64 / limit.get() as f64));
        }
    }
}

/// Begins to give something away; `None` while something is, after a move that came to nothing, and while somebody has
/// paused all moves.
pub(crate) fn begin(inner: &Arc<Inner>) -> Option<Moving> {
    let is_paused = inner.moves.is_paused() || inner.members.read().moves.is_paused;
    let is_free = !is_paused && !inner.moves.is_moving.swap(true, Ordering::AcqRel);
    is_free.then(|| Moving(Arc::clone(inner)))
}

/// Carries out the first of the root's orders for which there is something to give, in a task of its own; one at a time.
pub(crate) fn carry_out(inner: &Arc<Inner>, orders: Vec<Order>) {
    if inner.moves.is_resting() {
        return;
    }
    let Some(moving) = begin(inner) else { return };
    inner.runtime.spawn(async move {
        let inner = &moving.0;
        for order in &orders {
            if has_carried_out(inner, order).await {
                return;
            }
        }
        inner.moves.rest();
    });
}

/// Whether there was something to do for an order.
async fn has_carried_out(inner: &Arc<Inner>, order: &Order) -> bool {
    let (begun, mut left) = (Instant::now(), order.size_max);
    let mut did_something = false;
    while left > 0 && begun.elapsed() < ORDER_TIME {
        let chosen = match choose(inner, order, left) {
            Choice::Give(chosen) => chosen,
            Choice::Split => return true,
            Choice::Nothing => break,
        };
        did_something = true;
        if !carry_out_one(inner, order, &chosen.range, chosen.bytes).await {
            break;
        }
        // What moves is missing here and there is more of it there.
        let size = order.sizes.size(chosen.bytes, chosen.accesses);
        left = left.saturating_sub(size.max(1).saturating_mul(2));
    }
    did_something
}

/// Gives one bucket away; whether that was done.
pub(crate) async fn carry_out_one(
    inner: &Arc<Inner>,
    order: &Order,
    range: &KeyRange,
    bytes: u64,
) -> bool {
    let result = record(inner, order, range, bytes).await;
    // A pause is nobody's failure: after it there is none more.
    inner.moves.ended(result.is_ok() || inner.members.read().moves.is_paused);
    if let Err(error) = &result {
        tracing::warn!(%error, %range, table = order.table.0, "a move was put off");
    }
    result.is_ok()
}

impl Cluster {
    /// Gives a range that is owned here to another server, whatever the shares are.
    ///
    /// # Errors
    /// [`Error::NotOwned`]; 55P03 where transactions keep writing there, or another move is on; [`Error::Unreachable`]. The
    /// range is here as before then.
    pub async fn give(
        &self,
        table: TableId,
        range: &KeyRange,
        to: sdds::GroupId,
    ) -> Result<(), Error> {
        let inner = &self.0;
        if to == inner.here {
            return Err(Error::NotOwned { range: range.clone() });
        }
        if inner.moves.is_moving.swap(true, Ordering::AcqRel) {
            return Err(put_off("another move is on"));
        }
        let (moving, range) = (Moving(Arc::clone(inner)), range.clone());
        let (size_max, sizes) = (u64::MAX, Sizes::default());
        let order = Order { table, to, size_max, sizes, reason: "somebody said so".into() };
        // It goes on when nobody waits for it: rows that may have arrived must not be taken back.
        let given = inner.runtime.spawn(async move { record(&moving.0, &order, &range, 0).await });
        given.await.unwrap_or_else(|_| Err(put_off("it was broken off")))
    }
}

/// A server that is giving something away, until this goes.
pub(crate) struct Moving(Arc<Inner>);

impl Drop for Moving {
    fn drop(&mut self) {
        self.0.moves.is_moving.store(false, Ordering::Release);
    }
}

/// What an order comes to.
enum Choice {
    /// This is to be given.
    Give(BucketInfo),
    /// A bucket was split: the next order finds two.
    Split,
    /// There is nothing that would help.
    Nothing,
}

/// The bucket to give: of those that may move, and are not small beside the others, the one with the highest keys. So what
/// an order moves lies together, and stretches of one owner stay long. If none fits the whole order, and it is for its accesses that
/// the largest one does not, that is split between its visitors.
fn choose(inner: &Inner, order: &Order, size_max: u64) -> Choice {
    let mut buckets: Vec<BucketInfo> = inner.store.bucket_infos(order.table);
    buckets.retain(|bucket| !bucket.is_leaving);
    let size = |bucket: &BucketInfo| order.sizes.size(bucket.bytes, bucket.accesses);
    let fits = |bucket: &&BucketInfo| size(bucket) <= size_max;
    if let Some(largest) = buckets.iter().filter(fits).map(size).max() {
        let chosen = buckets.iter().filter(fits).rfind(|bucket| size(bucket) >= largest / 2);
        return chosen.map_or(Choice::Nothing, |bucket| Choice::Give(bucket.clone()));
    }
    let hottest = buckets.iter().max_by_key(|bucket| size(bucket));
    // Where accesses count fully, they are at least about half of it.
    let is_hot = |bucket: &&BucketInfo| {
        order.sizes.of_accesses(bucket.accesses) >= size(bucket) / 4 && size_max >= order.size_max
    };
    let is_split = hottest
        .filter(is_hot)
        .is_some_and(|bucket| inner.store.split_by_accesses(order.table, &bucket.range));
    if is_split { Choice::Split } else { Choice::Nothing }
}

/// Gives a range to another group, and notes what came of it for whoever looks.
async fn record(
    inner: &Arc<Inner>,
    order: &Order,
    range: &KeyRange,
    bytes: u64,
) -> Result<(), Error> {
    let out = inner.store.move_out(order.table, range)?;
    inner.moves.push(MoveInfo {
        table: order.table,
        range: range.clone(),
        to: order.to,
        reason: order.reason.clone(),
        state: "copying".into(),
        bytes,
        sent: 0,
        micros: 0,
        frozen_micros: 0,
        frozen_rows: 0,
    });
    let result = give(inner, order, out).await;
    inner.moves.note_end(match &result {
        Ok(()) => "done".into(),
        Err(error) => error.to_string(),
    });
    result
}

/// Waits until more may be sent.
async fn pace(inner: &Inner) -> Result<(), Error> {
    loop {
        let settings = inner.members.read().moves;
        if settings.is_paused {
            return Err(put_off("moves are paused"));
        }
        let now = Instant::now();
        let wait = match (*inner.moves.free_at.lock(), settings.bytes_per_second) {
            (Some(free_at), Some(_)) if free_at > now => free_at - now,
            _ => return Ok(()),
        };
        // In short steps: the limit may go, or everything be paused.
        tokio::time::sleep(wait.min(Duration::from_millis(100))).await;
    }
}

/// Gives a range to another group.
async fn give(inner: &Arc<Inner>, order: &Order, out: MoveOut) -> Result<(), Error> {
    let file = inner.file_by_id(order.table)?;
    let range = out.range().clone();
    let request = Request::MoveIn { table: order.table, range };
    let number = match inner.ask(order.to, &request).await? {
        Answer::Move(number) => number,
        other => return Err(unexpected(&other)),
    };
    let given = give_to(inner, order, number, &file, out).await;
    if given.is_err() {
        inner.runtime.spawn(call_off(Arc::clone(inner), order.to, number));
    }
    given
}

/// Tells a group that rows are not coming, until it has heard it: what it has got of them takes its memory.
async fn call_off(inner: Arc<Inner>, to: sdds::GroupId, number: u64) {
    let begun = Instant::now();
    while begun.elapsed() < SILENCE && !inner.is_gone(to) && !inner.stopped.is_cancelled() {
        if inner.ask(to, &Request::MoveDrop { number }).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Gives a range to a group that waits for it.
async fn give_to(
    inner: &Arc<Inner>,
    order: &Order,
    number: u64,
    file: &Arc<File>,
    mut out: MoveOut,
) -> Result<(), Error> {
    let range = &out.range().clone();
    let mut tries = 0;
    let (frozen, adopt) = loop {
        catch_up(inner, order, number, &mut out).await?;
        let frozen = Instant::now();
        match file.release(range, order.to, || out.freeze()) {
            Ok(Some(adopt)) => break (frozen, adopt),
            Ok(None) => return Err(Error::NotOwned { range: range.clone() }),
            Err(busy) if tries == FREEZES || busy == Busy::Gone => return Err(put_off(busy)),
            Err(_) => {
                tries += 1;
                inner.moves.note(|info| info.state = "waiting".into());
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    };
    let adopted = hand_over(inner, order, number, &mut out, &adopt).await;
    let note = || inner.moves.note(|info| info.frozen_micros = frozen.elapsed().as_micros() as u64);
    match adopted {
        Ok(()) => {
            let Message::Adopt { range, epoch, .. } = adopt else {
                return Err(garbled("a release"));
            };
            out.finish();
            let level = sdds::directory::Level::Rows;
            let outbox = file.handle(Message::Adopted { level, range, epoch });
            note();
            inner.send_all(file, outbox);
            Ok(())
        }
        Err(error) => {
            // Certainly not adopted: the keys are ours again, under the epoch that the other one would have had.
            drop(out);
            let outbox = file.undelivered(order.to, adopt);
            note();
            inner.send_all(file, outbox);
            Err(error)
        }
    }
}

/// Sends what the other group has not got yet, round after round, until what is left is small.
async fn catch_up(
    inner: &Arc<Inner>,
    order: &Order,
    number: u64,
    out: &mut MoveOut,
) -> Result<(), Error> {
    for round in 0..ROUNDS_MAX {
        let mut pieces = out.copy()?;
        let bytes = pieces.bytes();
        let is_small = bytes <= REST_BYTES;
        while let Some(piece) = pieces.next() {
            // What is sent just before the freeze is not held up: it would only grow.
            if round == 0 || !is_small {
                pace(inner).await?;
            }
            let piece = piece?;
            let length = piece.len() as u64;
            let ends_round = pieces.is_at_end();
            let request = Request::MovePiece { number, piece: piece.into(), ends_round };
            inner.ask(order.to, &request).await?;
            inner.moves.has_sent(length, inner.members.read().moves);
        }
        if is_small {
            break;
        }
    }
    Ok(())
}

/// Sends what has changed since the last round and lets the other group adopt the rows. An error means that it has not.
async fn hand_over(
    inner: &Arc<Inner>,
    order: &Order,
    number: u64,
    out: &mut MoveOut,
    adopt: &Message<()>,
) -> Result<(), Error> {
    let pieces = out.rest()?;
    inner.moves.note(|info| info.frozen_rows = pieces.rows());
    let mut rest: Option<Blob> = None;
    for piece in pieces {
        let piece = piece?;
        inner.moves.has_sent(piece.len() as u64, inner.members.read().moves);
        if let Some(piece) = rest.replace(piece.into()) {
            let request = Request::MovePiece { number, piece, ends_round: false };
            inner.ask(order.to, &request).await?;
        }
    }
    let request =
        Request::MoveAdopt { number, rest, adopt: adopt.clone(), accesses: out.accesses() };
    match inner.ask(order.to, &request).await {
        Ok(_) => Ok(()),
        Err(Asked::Answered(error)) => Err(error),
        Err(Asked::Lost(_)) => {
            let request = Request::MoveOutcome { number };
            loop {
                if inner.stopped.is_cancelled() {
                    return Err(stopped(&inner.name));
                }
                match inner.ask(order.to, &request).await {
                    Ok(Answer::Adopted(true)) => return Ok(()),
                    Ok(Answer::Adopted(false)) => {
                        let error = "it did not adopt the rows";
                        return Err(Error::unreachable(order.to.to_string(), error));
                    }
                    // Given up by the root, it will never come back as this group.
                    Err(Asked::Answered(error)) if inner.is_lost(order.to) => return Err(error),
                    _ => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            }
        }
    }
}

fn put_off(reason: impl ToString) -> Error {
    Error::Remote {
        sql_state: "55P03".into(),
        message: reason.to_string(),
        detail: None,
        hint: Some("The move is tried again later.".into()),
    }
}
