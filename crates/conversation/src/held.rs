//! What a session keeps until its transaction ends, in addition to the changes of the store: cursors that functions have opened,
//! constraint triggers that wait, and what runs around the statements of functions.

use crate::triggers::WaitingTrigger;
use arc_swap::ArcSwap;
use catalog_views::settings::Settings;
use parking_lot::Mutex;
use procedural::{Around, CursorMark, Cursors, Held as _, Running};
use std::sync::Arc;
use store::catalog::TableId;

/// What a session keeps until its transaction ends.
#[derive(Debug)]
pub struct Held {
    settings: Arc<ArcSwap<Settings>>,
    /// What runs around the statements of functions.
    pub running: Running,
    /// The cursors that functions have opened.
    pub cursors: Mutex<Cursors>,
    /// The triggers that wait for the end of the transaction, in the order of their events.
    waiting: Mutex<Vec<WaitingTrigger>>,
}

/// A moment of a transaction.
#[derive(Debug, Clone, Copy)]
pub struct HeldMark {
    cursors: CursorMark,
    waiting: usize,
    queries: usize,
}

impl Held {
    /// Nothing yet, of a session with these settings.
    pub fn new(settings: Arc<ArcSwap<Settings>>) -> Self {
        let (running, cursors, waiting) = Default::default();
        Self { settings, running, cursors, waiting }
    }

    /// Notes that a query calls functions, until the result is dropped.
    pub fn calls(&self, query: &str) -> Around<'_> {
        self.running.query(query, self.search_path())
    }

    /// Whether a trigger of a table waits.
    pub fn waits(&self, table: TableId) -> bool {
        self.waiting.lock().iter().any(|waiting| waiting.table.id == table)
    }

    /// Keeps a trigger for the end of the transaction.
    pub fn wait(&self, trigger: WaitingTrigger) {
        self.waiting.lock().push(trigger);
    }

    /// Whether no trigger waits.
    pub fn nothing_waits(&self) -> bool {
        self.waiting.lock().is_empty()
    }

    /// Takes the triggers that wait, and leaves those that are to wait on.
    pub fn take(&self, waits_on: impl FnMut(&WaitingTrigger) -> bool) -> Vec<WaitingTrigger> {
        let mut waiting = self.waiting.lock();
        let (left, due) = std::mem::take(&mut *waiting).into_iter().partition(waits_on);
        *waiting = left;
        due
    }

    /// Forgets everything: the transaction has ended.
    pub fn end(&self) {
        self.cursors.lock().close_all();
        self.waiting.lock().clear();
        self.running.end_transaction();
    }
}

impl procedural::Held for Held {
    type Mark = HeldMark;

    fn cursors(&self) -> &Mutex<Cursors> {
        &self.cursors
    }

    fn search_path(&self) -> Vec<String> {
        self.settings.load().search_path.clone()
    }

    fn running(&self) -> &Running {
        &self.running
    }

    fn mark(&self) -> HeldMark {
        let (cursors, waiting) = (self.cursors.lock().mark(), self.waiting.lock().len());
        HeldMark { cursors, waiting, queries: self.running.depth() }
    }

    fn go_back(&self, to: HeldMark) {
        self.cursors.lock().go_back(to.cursors);
        self.waiting.lock().truncate(to.waiting);
        self.running.end_to(to.queries);
    }
}
