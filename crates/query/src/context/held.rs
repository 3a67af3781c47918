//! What a session keeps until its transaction ends, in addition to the changes of the store: cursors that functions have opened, and
//! constraint triggers that wait.

use super::triggered::WaitingTrigger;
use parking_lot::Mutex;
use procedural::{CursorMark, Cursors};

/// What a session keeps until its transaction ends.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// The cursors that functions have opened.
    pub(crate) cursors: Mutex<Cursors>,
    /// The triggers that wait for the end of the transaction, in the order of their events.
    waiting: Mutex<Vec<WaitingTrigger>>,
}

/// A moment of a transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeldMark {
    cursors: CursorMark,
    waiting: usize,
}

impl Held {
    /// Keeps a trigger for the end of the transaction.
    pub(crate) fn wait(&self, trigger: WaitingTrigger) {
        self.waiting.lock().push(trigger);
    }

    /// Whether no trigger waits.
    pub(crate) fn nothing_waits(&self) -> bool {
        self.waiting.lock().is_empty()
    }

    /// Takes the triggers that wait, and leaves those that are to wait on.
    pub(crate) fn take(
        &self,
        waits_on: impl FnMut(&WaitingTrigger) -> bool,
    ) -> Vec<WaitingTrigger> {
        let mut waiting = self.waiting.lock();
        let (left, due) = std::mem::take(&mut *waiting).into_iter().partition(waits_on);
        *waiting = left;
        due
    }

    /// Forgets everything: the transaction has ended.
    pub(crate) fn end(&self) {
        self.cursors.lock().close_all();
        self.waiting.lock().clear();
    }
}

impl procedural::Held for Held {
    type Mark = HeldMark;

    fn cursors(&self) -> &Mutex<Cursors> {
        &self.cursors
    }

    fn mark(&self) -> HeldMark {
        HeldMark { cursors: self.cursors.lock().mark(), waiting: self.waiting.lock().len() }
    }

    fn go_back(&self, to: HeldMark) {
        self.cursors.lock().go_back(to.cursors);
        self.waiting.lock().truncate(to.waiting);
    }
}
