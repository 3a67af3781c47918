//! The session's current conversation, and what is known of it without waiting for the statement that uses it.
//!
//! An abandoned statement may use its conversation for long. Outside a transaction the session goes on with a new one at
//! once. In a transaction, which has failed with the statement, it does so when the transaction ends.

use crate::announcements::Announcements;
use crate::held::Held;
use crate::transactions::{Conversation, Shown};
use arc_swap::ArcSwap;
use catalog_views::session_context::TransactionStatus;
use catalog_views::settings::Settings;
use chrono::{DateTime, Utc};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{Mutex, OwnedMutexGuard};
use values::error::Result;

/// The session's current conversation.
#[derive(Debug)]
pub struct Current(ArcSwap<Slot>, Arc<Announcements>, Arc<Held>);

#[derive(Debug)]
struct Slot {
    conversation: Arc<Mutex<Conversation>>,
    shown: Shown,
    /// Whether a statement that uses it was abandoned.
    is_abandoned: AtomicBool,
}

impl Current {
    /// A conversation of a session with these settings, without a transaction.
    pub fn new(
        settings: Arc<ArcSwap<Settings>>,
        announcements: Arc<Announcements>,
        held: Arc<Held>,
    ) -> Self {
        let slot = Slot::new(settings, Arc::clone(&announcements), Arc::clone(&held));
        Self(ArcSwap::from_pointee(slot), announcements, held)
    }

    /// The conversation, when no statement uses it.
    pub async fn lock(&self) -> OwnedMutexGuard<Conversation> {
        loop {
            let slot = self.0.load_full();
            let guard = Arc::clone(&slot.conversation).lock_owned().await;
            if Arc::ptr_eq(&slot, &self.0.load()) {
                return guard;
            }
        }
    }

    /// The conversation, if no statement uses it.
    pub fn try_lock(&self) -> Option<OwnedMutexGuard<Conversation>> {
        Arc::clone(&self.0.load().conversation).try_lock_owned().ok()
    }

    /// The start of the open transaction.
    pub fn started(&self) -> Option<DateTime<Utc>> {
        self.0.load().shown.started()
    }

    /// Whether a transaction is open, and whether it has failed.
    pub fn status(&self) -> TransactionStatus {
        self.0.load().shown.status()
    }

    /// Refuses a statement in a failed transaction.
    ///
    /// # Errors
    /// 25P02.
    pub fn refuse_if_failed(&self) -> Result<()> {
        self.0.load().shown.refuse_if_failed()
    }

    /// Marks the open transaction, if any, as failed.
    pub fn fail(&self) {
        self.0.load().shown.fail();
    }

    /// Leaves the conversation to a statement that does not end. An open transaction is kept, unless it was begun for the
    /// statement: a statement that needs it waits.
    pub fn abandon(&self, settings: &Arc<ArcSwap<Settings>>) {
        let slot = self.0.load();
        slot.is_abandoned.store(true, Ordering::Relaxed);
        let is_of_statement = slot.shown.is_of_statement();
        if let (true, Some(before)) = (is_of_statement, slot.shown.settings_before_failed()) {
            settings.store(before);
        }
        if is_of_statement || self.status() == TransactionStatus::Idle {
            let (announcements, held) = (Arc::clone(&self.1), Arc::clone(&self.2));
            self.0.store(Arc::new(Slot::new(Arc::clone(settings), announcements, held)));
        }
    }

    /// Ends a failed transaction that an abandoned statement still uses: it is rolled back when the statement ends. Returns
    /// false if no statement uses it, or if it has not failed.
    pub fn leave_failed(&self, settings: &Arc<ArcSwap<Settings>>) -> bool {
        let slot = self.0.load();
        let is_used = || slot.conversation.try_lock().is_err();
        if !slot.is_abandoned.load(Ordering::Relaxed) || !is_used() {
            return false;
        }
        let Some(before) = slot.shown.settings_before_failed() else { return false };
        settings.store(before);
        self.0.store(Arc::new(Slot::new(
            Arc::clone(settings),
            Arc::clone(&self.1),
            Arc::clone(&self.2),
        )));
        true
    }

    /// Whether the open transaction was not begun by BEGIN.
    pub fn is_implicit(&self) -> bool {
        self.0.load().shown.is_implicit()
    }
}

impl Slot {
    fn new(
        settings: Arc<ArcSwap<Settings>>,
        announcements: Arc<Announcements>,
        held: Arc<Held>,
    ) -> Self {
        let conversation = Conversation::new(settings, announcements, held);
        let shown = conversation.shown();
        let conversation = Arc::new(Mutex::new(conversation));
        Self { conversation, shown, is_abandoned: AtomicBool::new(false) }
    }
}
