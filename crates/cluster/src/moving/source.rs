//! Moves from this server.
//!
//! What happens when is decided by a state machine for each, [`protocols::source`]. Here is how it is done. Between freeze
//! and adoption, requests for the keys wait.

use super::{Moves, deferred};
use crate::calls::CallError;
use crate::directory::File;
use crate::timeouts::TIMEOUTS;
use messages::{Blob, MoveAnswer, MoveInfo, MoveOrder, MoveRequest, unexpected};
use protocols::routing as directory;
use protocols::source::{Answer, Effect, Event, Obstacle, REST_BYTES, Source};
use sdds::balancing::Sizes;
use sdds::directory::{Level, Message};
use sdds::{GroupId, KeyRange, MoveId};
use std::sync::Arc;
use std::time::Instant;
use store::catalog::TableId;
use store::{Acknowledgement, Busy, Error, MoveOut};

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
    if moves.routing.membership.is_here(to) {
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
    let result = match moves.routing.files.by_id(order.table) {
        Ok(file) => {
            let (number, has_sent, frozen) = (0, false, None);
            Moving { moves, order, of, number, has_sent, file, out, frozen }.run().await
        }
        Err(error) => Err(error),
    };
    let state = match &result {
        Ok(()) => "done".into(),
        Err(error) => error.to_string(),
    };
    moves.outgoing.note_end(state, tasks.now());
    result
}

/// A move that runs: it does what its [`Source`] says.
struct Moving<'a> {
    moves: &'a Arc<Moves>,
    order: &'a MoveOrder,
    of: MoveId,
    /// The number of the move at the destination, once it is known.
    number: u64,
    /// Whether it has been sent something.
    has_sent: bool,
    file: Arc<File>,
    out: MoveOut,
    /// Once the keys are frozen: when, until when the log has to be durable, and the message to the destination.
    frozen: Option<(Instant, Acknowledgement, Message<()>)>,
}

impl Moving<'_> {
    async fn run(mut self) -> Result<(), Error> {
        let mut effects = Vec::new();
        let mut source = Source::begin(&mut effects);
        let mut is_adopted = None;
        loop {
            assert!(!effects.is_empty(), "a move goes on until it ends");
            for effect in std::mem::take(&mut effects) {
                let event = match effect {
                    Effect::Offer => Event::Offered(self.offer().await),
                    Effect::Send { waits } => Event::Sent(self.send(waits).await),
                    Effect::Freeze => Event::Frozen(self.freeze().await),
                    Effect::Log => Event::Logged(self.log().await),
                    Effect::HandOver => {
                        let answer = self.hand_over().await;
                        self.answered(answer)
                    }
                    Effect::Ask { waits } => {
                        self.answered(ask(self.moves, self.order.to, self.of, waits).await)
                    }
                    Effect::Drop => {
                        is_adopted = Some(true);
                        continue;
                    }
                    Effect::Thaw => {
                        is_adopted = Some(false);
                        continue;
                    }
                    Effect::CallOff => {
                        let calling = call_off(Arc::clone(self.moves), self.order.to, self.number);
                        self.moves.routing.calls.tasks.spawn(calling);
                        continue;
                    }
                    Effect::End(result) => {
                        self.settle(is_adopted);
                        return result;
                    }
                };
                source.step(event, &mut effects);
            }
        }
    }

    /// A server that stops knows nothing any more: its next start asks.
    fn answered(&self, answer: Answer<Error>) -> Event<Error> {
        let calls = &self.moves.routing.calls;
        match answer {
            Answer::Adopted => Event::Answered(Answer::Adopted),
            _ if calls.stopped.is_cancelled() => Event::Stopped(calls.stopped_error()),
            other => Event::Answered(other),
        }
    }

    async fn offer(&mut self) -> Result<(), Error> {
        let (of, table, range) = (self.of, self.order.table, self.out.range().clone());
        let request = MoveRequest::In { of, table, range };
        match self.moves.routing.calls.ask_leader(self.order.to, &request).await? {
            MoveAnswer::Begun(number) => self.number = number,
            other => return Err(unexpected(&other)),
        }
        Ok(())
    }

    /// Sends what the destination does not have, and returns its bytes.
    async fn send(&mut self, waits: bool) -> Result<u64, Error> {
        let (moves, order, number) = (self.moves, self.order, self.number);
        if waits {
            moves.outgoing.note(|info| info.state = "waiting".into());
            moves.routing.calls.tasks.sleep(TIMEOUTS.freeze_pause).await;
        }
        let mut pieces = self.out.copy()?;
        let bytes = pieces.bytes();
        // The last round is not delayed: it would only grow.
        let is_paced = waits || !self.has_sent || bytes > REST_BYTES;
        self.has_sent = true;
        while let Some(piece) = pieces.next() {
            if is_paced {
                pace(moves).await?;
            }
            let piece = piece?;
            let length = piece.len() as u64;
            let ends_round = pieces.is_at_end();
            let request = MoveRequest::Piece { number, piece: piece.into(), ends_round };
            moves.routing.calls.ask_leader(order.to, &request).await?;
            let settings = moves.routing.membership.list().moves;
            moves.outgoing.has_sent(length, settings, moves.routing.calls.tasks.now());
        }
        Ok(bytes)
    }

    /// Freezes the keys, and releases them in the directory: both or nothing.
    async fn freeze(&mut self) -> Result<(), Obstacle<Error>> {
        self.out.reserve().await.map_err(Obstacle::Other)?;
        let range = self.out.range().clone();
        let now = self.moves.routing.calls.tasks.now();
        let mut logged = Acknowledgement::default();
        let freeze = || self.out.freeze().map(|freezing| logged = freezing);
        match self.file.release(&range, self.order.to, freeze) {
            Ok(Some(adopt)) => {
                self.frozen = Some((now, logged, adopt));
                Ok(())
            }
            Ok(None) => Err(Obstacle::Other(Error::NotOwned { range })),
            Err(Busy::Written) => Err(Obstacle::Busy(deferred(Busy::Written))),
            Err(other) => Err(Obstacle::Other(deferred(other))),
        }
    }

    /// Waits until the freeze is durable.
    async fn log(&mut self) -> Result<(), Error> {
        match &mut self.frozen {
            Some((_, logged, _)) => std::mem::take(logged).wait().await,
            None => Ok(()),
        }
    }

    /// Sends the last changes and lets the destination adopt the rows.
    async fn hand_over(&mut self) -> Answer<Error> {
        let Some((_, _, adopt)) = &self.frozen else { return Answer::Lost };
        let (moves, to, number, adopt) = (self.moves, self.order.to, self.number, adopt.clone());
        let rest = match self.send_rest().await {
            Ok(rest) => rest,
            Err(error) => return Answer::Refused(error),
        };
        let (accesses, seen) = (self.out.accesses(), self.out.seen());
        let complete_from = self.out.complete_from();
        let request = MoveRequest::Adopt { number, rest, adopt, accesses, seen, complete_from };
        match moves.routing.calls.ask_leader(to, &request).await {
            Ok(_) => Answer::Adopted,
            Err(CallError::NotDone(error)) => Answer::Refused(error),
            Err(CallError::Unknown(_)) => Answer::Lost,
        }
    }

    /// Sends the last changes, and returns the last piece, which is sent with the message after them.
    async fn send_rest(&mut self) -> Result<Option<Blob>, Error> {
        let (moves, number) = (self.moves, self.number);
        let calls = &moves.routing.calls;
        let pieces = self.out.rest()?;
        moves.outgoing.note(|info| info.frozen_rows = pieces.rows());
        let mut rest: Option<Blob> = None;
        for piece in pieces {
            let piece = piece?;
            let settings = moves.routing.membership.list().moves;
            moves.outgoing.has_sent(piece.len() as u64, settings, calls.tasks.now());
            if let Some(piece) = rest.replace(piece.into()) {
                let request = MoveRequest::Piece { number, piece, ends_round: false };
                calls.ask_leader(self.order.to, &request).await?;
            }
        }
        Ok(rest)
    }

    /// Drops frozen keys that the destination has adopted, or serves them again, at the epoch that was meant for the
    /// destination.
    fn settle(self, is_adopted: Option<bool>) {
        let Self { moves, order, file, out, frozen, .. } = self;
        let (Some(is_adopted), Some((since, _, adopt))) = (is_adopted, frozen) else { return };
        let outbox = match adopt {
            Message::Adopt { range, epoch, .. } if is_adopted => {
                out.finish();
                let level = Level::Rows;
                file.change(directory::Event::Message(Message::Adopted { level, range, epoch }))
            }
            adopt => {
                out.thaw();
                file.change(directory::Event::Undelivered(order.to, adopt))
            }
        };
        let took = (moves.routing.calls.tasks.now() - since).as_micros() as u64;
        moves.outgoing.note(|info| info.frozen_micros = took);
        moves.routing.send(&file, outbox);
    }
}

/// Asks a destination whether it has adopted the keys of a move. It discards the move if it has not.
pub(super) async fn ask(moves: &Moves, to: GroupId, of: MoveId, waits: bool) -> Answer<Error> {
    let (calls, membership) = (&moves.routing.calls, &moves.routing.membership);
    if waits {
        calls.tasks.sleep(TIMEOUTS.move_outcome_pause).await;
    }
    match calls.ask_leader(to, &MoveRequest::Outcome { of }).await {
        Ok(MoveAnswer::Adopted(true)) => Answer::Adopted,
        Ok(MoveAnswer::Adopted(false)) => {
            let reason = "it did not adopt the rows";
            Answer::Refused(Error::unreachable(
                membership.name_of(membership.leader_of(to)),
                reason,
            ))
        }
        // An evicted server never returns as the same group.
        Err(CallError::NotDone(error)) if membership.is_lost(membership.leader_of(to)) => {
            Answer::Refused(error)
        }
        _ => Answer::Lost,
    }
}

/// Tells a destination to discard a move, until it has heard it: the rows take its memory.
async fn call_off(moves: Arc<Moves>, to: GroupId, number: u64) {
    let (calls, membership) = (&moves.routing.calls, &moves.routing.membership);
    let begun = calls.tasks.now();
    while calls.tasks.now() - begun < TIMEOUTS.source_silence
        && !membership.is_gone(to)
        && !calls.stopped.is_cancelled()
    {
        if calls.ask_leader(to, &MoveRequest::Drop { number }).await.is_ok() {
            return;
        }
        calls.tasks.sleep(TIMEOUTS.move_outcome_pause).await;
    }
}
/// Waits until the limit of bytes per second allows more.
async fn pace(moves: &Moves) -> Result<(), Error> {
    let tasks = &moves.routing.calls.tasks;
    loop {
        let settings = moves.routing.membership.list().moves;
        if settings.is_paused {
            return Err(deferred("moves are paused"));
        }
        let Some(wait) = moves.outgoing.wait(settings, tasks.now()) else { return Ok(()) };
        // In short steps: the settings may change.
        tasks.sleep(wait.min(TIMEOUTS.pace_max)).await;
    }
}
