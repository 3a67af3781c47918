//! The protocol of a move, as its source follows it.
//!
//! ```text
//!  source                                destination
//!   copy               ── pieces ──────> keep apart
//!   copy changes       ── pieces ──────>
//!   ...
//!   freeze, release    ── the rest ────> owns the keys
//!   drop, record in the directory <─────
//! ```
//!
//! Between freeze and adoption, requests for these keys wait. Rounds of changes are sent before,
//! until few are left.

use super::{Moves, deferred};
use crate::calls::CallError;
use crate::directory::File;
use crate::messages::{Answer, Blob, MoveInfo, MoveOrder, Request, invalid_message, unexpected};
use crate::timeouts::TIMEOUTS;
use protocols::planted::{Bug, is_planted};
use sdds::balancing::Sizes;
use sdds::directory::{Level, Message};
use sdds::{GroupId, KeyRange, MoveId};
use std::sync::Arc;
use store::catalog::TableId;
use store::{Acknowledgement, Busy, Error, MoveOut};

/// How often a freeze is tried while transactions have written to the rows, before the move is
/// deferred.
const FREEZES: u32 = 100;

/// Bytes of a round of changes that are few enough to freeze.
const REST_BYTES: u64 = 64 << 10;

/// Maximum number of rounds. Rows that are written faster than they are sent would otherwise never
/// move.
const ROUNDS_MAX: u32 = 10;

/// Moves a range that this server owns to another group, regardless of balance. Completes even if
/// the caller is dropped: rows that may have arrived must not be taken back.
///
/// # Errors
/// [`Error::NotOwned`]; 55P03 if transactions keep writing to the range, or during another move;
/// [`Error::Unreachable`]. The range is then still here.
pub(crate) async fn give(
    moves: &Arc<Moves>,
    table: TableId,
    range: &KeyRange,
    to: GroupId,
) -> Result<(), Error> {
    if to == moves.routing.membership.here {
        return Err(Error::NotOwned { range: range.clone() });
    }
    let guard = moves.begin_now().ok_or_else(|| deferred("another move is running"))?;
    let (range, sizes) = (range.clone(), Sizes::default());
    let order = MoveOrder { table, to, size_max: u64::MAX, sizes, reason: "requested".into() };
    let moving = async move { move_range(&guard.0, &order, &range, 0).await };
    let moved = moves.routing.calls.tasks.spawn(moving);
    moved.await.unwrap_or_else(|| Err(deferred("the move was interrupted")))
}

/// Moves a range to another group, and records that in the history.
pub(super) async fn move_range(
    moves: &Arc<Moves>,
    order: &MoveOrder,
    range: &KeyRange,
    bytes: u64,
) -> Result<(), Error> {
    if !moves.routing.store.is_readable() {
        // Its destination would not know what it lacks.
        return Err(deferred("snapshots from before the last start are in use"));
    }
    let of = moves.next_id();
    let out = moves.routing.store.move_out(of, order.table, range, order.to)?;
    let info = MoveInfo {
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
    };
    let tasks = &moves.routing.calls.tasks;
    moves.outgoing.push(info, tasks.now());
    let result = begin(moves, order, of, out).await;
    let state = match &result {
        Ok(()) => "done".into(),
        Err(error) => error.to_string(),
    };
    moves.outgoing.note_end(state, tasks.now());
    result
}

async fn begin(
    moves: &Arc<Moves>,
    order: &MoveOrder,
    of: MoveId,
    out: MoveOut,
) -> Result<(), Error> {
    let file = moves.routing.files.by_id(order.table)?;
    let request = Request::MoveIn { of, table: order.table, range: out.range().clone() };
    let number = match moves.routing.calls.ask(order.to, &request).await? {
        Answer::Move(number) => number,
        other => return Err(unexpected(&other)),
    };
    let moved = Source { moves, order, of, number, file, out }.run().await;
    if moved.is_err() {
        moves.routing.calls.tasks.spawn(call_off(Arc::clone(moves), order.to, number));
    }
    moved
}

/// Tells a destination to discard a move, until it has heard it: the rows take its memory.
async fn call_off(moves: Arc<Moves>, to: GroupId, number: u64) {
    let (calls, membership) = (&moves.routing.calls, &moves.routing.membership);
    let begun = calls.tasks.now();
    while calls.tasks.now() - begun < TIMEOUTS.source_silence
        && !membership.is_gone(to)
        && !calls.stopped.is_cancelled()
    {
        if calls.ask(to, &Request::MoveDrop { number }).await.is_ok() {
            return;
        }
        calls.tasks.sleep(TIMEOUTS.move_outcome_pause).await;
    }
}

/// A move that its destination knows by a number.
struct Source<'a> {
    moves: &'a Arc<Moves>,
    order: &'a MoveOrder,
    of: MoveId,
    number: u64,
    file: Arc<File>,
    out: MoveOut,
}

impl Source<'_> {
    async fn run(mut self) -> Result<(), Error> {
        let range = &self.out.range().clone();
        let outgoing = &self.moves.outgoing;
        let tasks = &self.moves.routing.calls.tasks;
        let mut tries = 0;
        let mut logged = Acknowledgement::default();
        let (frozen, adopt) = loop {
            self.catch_up().await?;
            self.out.reserve().await?;
            let frozen = tasks.now();
            let freeze = || self.out.freeze().map(|freezing| logged = freezing);
            match self.file.release(range, self.order.to, freeze) {
                Ok(Some(adopt)) => break (frozen, adopt),
                Ok(None) => return Err(Error::NotOwned { range: range.clone() }),
                Err(busy) if tries == FREEZES || busy == Busy::Gone => return Err(deferred(busy)),
                Err(_) => {
                    tries += 1;
                    outgoing.note(|info| info.state = "waiting".into());
                    tasks.sleep(TIMEOUTS.freeze_pause).await;
                }
            }
        };
        // A restart between the freeze and its end asks the destination for the outcome.
        if !is_planted(Bug::FreezeInMemory) {
            logged.wait().await?;
        }
        let adopted = self.hand_over(&adopt).await;
        let Self { moves, order, file, out, .. } = self;
        let took = || (tasks.now() - frozen).as_micros() as u64;
        let note = || outgoing.note(|info| info.frozen_micros = took());
        match adopted {
            Ok(()) => {
                let Message::Adopt { range, epoch, .. } = adopt else {
                    return Err(invalid_message("a release"));
                };
                out.finish();
                let outbox = file.handle(Message::Adopted { level: Level::Rows, range, epoch });
                note();
                moves.routing.send(&file, outbox);
                Ok(())
            }
            // It is not known, and nothing is served any more.
            Err(error) if moves.routing.calls.stopped.is_cancelled() => Err(error),
            Err(error) => {
                // Not adopted: the keys are owned here again, at the epoch meant for the
                // destination.
                out.thaw();
                let outbox = file.undelivered(order.to, adopt);
                note();
                moves.routing.send(&file, outbox);
                Err(error)
            }
        }
    }

    /// Sends what the destination does not have, round after round, until little is left.
    async fn catch_up(&mut self) -> Result<(), Error> {
        let (moves, order, number) = (self.moves, self.order, self.number);
        for round in 0..ROUNDS_MAX {
            let mut pieces = self.out.copy()?;
            let bytes = pieces.bytes();
            let is_small = bytes <= REST_BYTES;
            while let Some(piece) = pieces.next() {
                // The last round is not delayed: it would only grow.
                if round == 0 || !is_small {
                    pace(moves).await?;
                }
                let piece = piece?;
                let length = piece.len() as u64;
                let ends_round = pieces.is_at_end();
                let request = Request::MovePiece { number, piece: piece.into(), ends_round };
                moves.routing.calls.ask(order.to, &request).await?;
                let settings = moves.routing.membership.list.read().moves;
                moves.outgoing.has_sent(length, settings, moves.routing.calls.tasks.now());
            }
            if is_small {
                break;
            }
        }
        Ok(())
    }

    /// Sends the last changes and lets the destination adopt the rows. An error means that it has
    /// not adopted them.
    async fn hand_over(&mut self, adopt: &Message<()>) -> Result<(), Error> {
        let (moves, order, number) = (self.moves, self.order, self.number);
        let calls = &moves.routing.calls;
        let pieces = self.out.rest()?;
        moves.outgoing.note(|info| info.frozen_rows = pieces.rows());
        let mut rest: Option<Blob> = None;
        for piece in pieces {
            let piece = piece?;
            let settings = moves.routing.membership.list.read().moves;
            moves.outgoing.has_sent(piece.len() as u64, settings, calls.tasks.now());
            if let Some(piece) = rest.replace(piece.into()) {
                let request = Request::MovePiece { number, piece, ends_round: false };
                calls.ask(order.to, &request).await?;
            }
        }
        let (adopt, accesses) = (adopt.clone(), self.out.accesses());
        let seen = self.out.seen();
        let request = Request::MoveAdopt { number, rest, adopt, accesses, seen };
        match calls.ask(order.to, &request).await {
            Ok(_) => Ok(()),
            Err(CallError::NotDone(error)) => Err(error),
            Err(CallError::Unknown(_)) => ask_outcome(moves, order.to, self.of, number).await,
        }
    }
}

/// Asks the destination whether it has adopted the rows, until that is known.
async fn ask_outcome(moves: &Moves, to: GroupId, of: MoveId, number: u64) -> Result<(), Error> {
    let (calls, membership) = (&moves.routing.calls, &moves.routing.membership);
    let request = Request::MoveOutcome { of, number };
    loop {
        if calls.stopped.is_cancelled() {
            return Err(calls.stopped_error());
        }
        match calls.ask(to, &request).await {
            Ok(Answer::Adopted(true)) => return Ok(()),
            Ok(Answer::Adopted(false)) => {
                let reason = "it did not adopt the rows";
                return Err(Error::unreachable(membership.name_of(to), reason));
            }
            // An evicted server never returns as the same group.
            Err(CallError::NotDone(error)) if membership.is_lost(to) => return Err(error),
            _ => calls.tasks.sleep(TIMEOUTS.move_outcome_pause).await,
        }
    }
}

/// Waits until the limit of bytes per second allows more.
async fn pace(moves: &Moves) -> Result<(), Error> {
    let tasks = &moves.routing.calls.tasks;
    loop {
        let settings = moves.routing.membership.list.read().moves;
        if settings.is_paused {
            return Err(deferred("moves are paused"));
        }
        let Some(wait) = moves.outgoing.wait(settings, tasks.now()) else { return Ok(()) };
        // In short steps: the settings may change.
        tasks.sleep(wait.min(TIMEOUTS.pace_max)).await;
    }
}
