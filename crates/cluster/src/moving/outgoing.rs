//! Moves from this server: the history, the pauses after failures, and the limit of bytes per
//! second.

use crate::timeouts::TIMEOUTS;
use messages::MoveInfo;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use store::MoveSettings;

/// Length of the history.
const REMEMBERED: usize = 256;

/// The moves from this server. One runs at a time.
#[derive(Debug, Default)]
pub(crate) struct OutgoingMoves {
    history: Mutex<Vec<Outgoing>>,
    /// When the limit of bytes per second allows more.
    free_at: Mutex<Option<Instant>>,
    is_moving: AtomicBool,
    back_off: Mutex<BackOff>,
    /// Until when orders are ignored. Other moves are not affected.
    resting_until: Mutex<Option<Instant>>,
}

/// The pause after failed moves.
#[derive(Debug, Default)]
struct BackOff {
    failures: u32,
    until: Option<Instant>,
}

/// A move from this server.
#[derive(Debug, Clone)]
struct Outgoing {
    info: MoveInfo,
    begun: Instant,
    is_over: bool,
}

impl OutgoingMoves {
    /// Whether a move runs.
    pub(crate) fn is_moving(&self) -> bool {
        self.is_moving.load(Ordering::Relaxed)
    }

    /// Begins a move. Returns false if another one runs.
    pub(super) fn begin(&self) -> bool {
        !self.is_moving.swap(true, Ordering::AcqRel)
    }

    /// Ends the move that [`Self::begin`] began.
    pub(super) fn end(&self) {
        self.is_moving.store(false, Ordering::Release);
    }

    /// The history, newest last.
    pub(crate) fn list(&self, now: Instant) -> Vec<MoveInfo> {
        let history = self.history.lock();
        let shown = history.iter().map(|one| {
            let mut info = one.info.clone();
            if !one.is_over {
                info.micros = (now - one.begun).as_micros() as u64;
            }
            info
        });
        shown.collect()
    }

    /// Whether a recent failure forbids another move.
    pub(super) fn is_backing_off(&self, now: Instant) -> bool {
        self.back_off.lock().until.is_some_and(|until| now < until)
    }

    /// Ignores orders until access rates are averaged again: no move would help now.
    pub(super) fn rest(&self, now: Instant) {
        *self.resting_until.lock() = Some(now + TIMEOUTS.access_averaging);
    }

    /// Whether orders are ignored.
    pub(super) fn is_resting(&self, now: Instant) -> bool {
        self.resting_until.lock().is_some_and(|until| now < until)
    }

    /// Starts or ends the pause after failed moves.
    pub(super) fn note_result(&self, is_done: bool, now: Instant) {
        let mut back_off = self.back_off.lock();
        if is_done {
            *back_off = BackOff::default();
            return;
        }
        let doubled = 2u32.saturating_pow(back_off.failures);
        let until = now + TIMEOUTS.move_pause.saturating_mul(doubled).min(TIMEOUTS.move_pause_max);
        *back_off = BackOff { failures: back_off.failures + 1, until: Some(until) };
    }

    /// Adds a move to the history.
    pub(super) fn push(&self, info: MoveInfo, now: Instant) {
        let mut history = self.history.lock();
        if history.len() == REMEMBERED {
            history.remove(0);
        }
        history.push(Outgoing { info, begun: now, is_over: false });
    }

    /// Changes the newest move in the history.
    pub(super) fn note(&self, change: impl FnOnce(&mut MoveInfo)) {
        if let Some(last) = self.history.lock().last_mut() {
            change(&mut last.info);
        }
    }

    /// Notes the final state of the newest move.
    pub(super) fn note_end(&self, state: String, now: Instant) {
        if let Some(last) = self.history.lock().last_mut() {
            last.is_over = true;
            last.info.micros = (now - last.begun).as_micros() as u64;
            last.info.state = state;
        }
    }

    /// Counts sent bytes towards the limit per second.
    pub(super) fn has_sent(&self, bytes: u64, settings: MoveSettings, now: Instant) {
        self.note(|info| info.sent += bytes);
        if let Some(limit) = settings.bytes_per_second {
            let mut free_at = self.free_at.lock();
            let from = free_at.map_or(now, |at| at.max(now));
            *free_at = Some(from + Duration::from_secs_f64(bytes as f64 / limit.get() as f64));
        }
    }

    /// How long to wait until more may be sent.
    pub(super) fn wait(&self, settings: MoveSettings, now: Instant) -> Option<Duration> {
        settings.bytes_per_second?;
        self.free_at.lock().filter(|free_at| *free_at > now).map(|free_at| free_at - now)
    }
}
