//! Stops the statement that takes the most memory, when the process has more than it may have.
//!
//! Operators reserve the memory that they know of. What the engine allocates besides is seen only in the size of the
//! process. Its growth is charged to the statements that run meanwhile, in equal parts: one that grows for long has the
//! most in the end.

use crate::control::Control;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use values::error::{Error, SqlState};

/// Bytes of a page of `/proc/self/statm`.
const PAGE_BYTES: u64 = 4096;

/// Bytes of the process at least that are no rows: the program, buffers, what the allocator keeps.
const SLACK_BYTES: u64 = 256 << 20;

/// Bytes that a statement is charged with at least before it is stopped.
const LARGE_BYTES: u64 = 64 << 20;

/// Time in which a stopped statement gives its memory back, before another one is stopped.
const EFFECT: Duration = Duration::from_millis(250);

/// What a running statement is charged with.
#[derive(Debug)]
pub(crate) struct Charge {
    control: Control,
    bytes: AtomicU64,
}

impl Charge {
    pub(crate) fn new(control: Control) -> Self {
        Self { control, bytes: AtomicU64::new(0) }
    }
}

/// The memory of the process, and its limit.
#[derive(Debug)]
pub(crate) struct Shortage {
    limit: u64,
    /// Makes the allocator return the memory that it keeps.
    give_back: fn(),
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    resident: u64,
    stopped: Option<Instant>,
}

impl Shortage {
    /// A process may have [`SLACK_BYTES`] or an eighth more than `limit` bytes.
    pub(crate) fn new(limit: u64, give_back: fn()) -> Self {
        let state = State { resident: resident(), stopped: None };
        Self {
            limit: limit.saturating_add(SLACK_BYTES.max(limit / 8)),
            give_back,
            state: Mutex::new(state),
        }
    }

    /// Charges the statements that run with the growth of the process, and stops the largest if it has grown too much.
    pub(crate) fn look<'a>(&self, running: impl Iterator<Item = &'a Charge> + Clone) {
        let mut state = self.state.lock();
        let before = std::mem::replace(&mut state.resident, resident());
        let share = state.resident.saturating_sub(before) / (running.clone().count() as u64).max(1);
        running.clone().for_each(|charge| {
            charge.bytes.fetch_add(share, Ordering::Relaxed);
        });
        if state.resident <= self.limit || state.stopped.is_some_and(|at| at.elapsed() < EFFECT) {
            return;
        }
        (self.give_back)();
        state.resident = resident();
        if state.resident <= self.limit {
            return;
        }
        let bytes = |charge: &&Charge| charge.bytes.load(Ordering::Relaxed);
        if let Some(largest) = running.max_by_key(bytes).filter(|all| bytes(all) > LARGE_BYTES) {
            state.stopped = Some(Instant::now());
            largest.control.stop(out_of_memory(self.limit));
        }
    }
}

fn out_of_memory(limit: u64) -> Error {
    let message = format!("out of memory: the server has more than {limit} bytes in use");
    Error::new(SqlState::OutOfMemory, message).with_hint(
        "The statement that took the most was stopped. Give it fewer rows, or start with a larger --memory.",
    )
}

/// Resident bytes of this process; 0 where the system does not tell.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * PAGE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_util::sync::CancellationToken;

    #[test]
    fn the_largest_statement_is_stopped() {
        let charge = |bytes| {
            let charge = Charge::new(Control::new(CancellationToken::new(), None));
            charge.bytes.store(bytes, Ordering::Relaxed);
            charge
        };
        let running = [charge(LARGE_BYTES), charge(3 * LARGE_BYTES), charge(2 * LARGE_BYTES)];
        let is_stopped = |number: usize| running[number].control.check().is_err();
        Shortage::new(u64::MAX / 2, || {}).look(running.iter());
        assert!((0..3).all(|number| !is_stopped(number)), "there is enough memory");
        let short = Shortage { limit: 0, ..Shortage::new(0, || {}) };
        short.look(running.iter());
        assert!(!is_stopped(0) && is_stopped(1) && !is_stopped(2));
        short.look(running.iter());
        assert!(!is_stopped(2), "the first may still give its memory back");
    }
}
