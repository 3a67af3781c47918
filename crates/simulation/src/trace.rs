//! What happened, in order: a hash of everything, and lines for people if they are wanted.

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

/// A trace. Clones are the same one.
#[derive(Debug, Clone)]
pub(crate) struct Trace(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    hash: u64,
    /// `None` if nobody wants lines.
    lines: Option<Vec<String>>,
}

impl Trace {
    /// An empty trace, which keeps lines or not.
    pub(crate) fn new(keeps_lines: bool) -> Self {
        let lines = keeps_lines.then(Vec::new);
        Self(Arc::new(Mutex::new(State { hash: 0xcbf2_9ce4_8422_2325, lines })))
    }

    /// Adds a step of a task.
    pub(crate) fn step(&self, now: Duration, owner: u64, task: u64) {
        let mut state = self.0.lock();
        for part in [now.as_micros() as u64, owner, task] {
            state.add(&part.to_le_bytes());
        }
    }

    /// Adds an event.
    pub(crate) fn event(&self, now: Duration, event: impl FnOnce() -> String) {
        let mut state = self.0.lock();
        let line = format!("{:>11.6} {}", now.as_secs_f64(), event());
        state.add(line.as_bytes());
        if let Some(lines) = &mut state.lines {
            lines.push(line);
        }
    }

    /// A number for all that happened: equal traces have the same.
    pub(crate) fn hash(&self) -> u64 {
        self.0.lock().hash
    }

    /// The lines so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().lines.clone().unwrap_or_default()
    }
}

impl State {
    /// FNV-1a.
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}
