//! The session's current conversation, and what is known of it without waiting for the statement that uses it.

use super::transactions::{Conversation, Shown};
use arc_swap::ArcSwap;
use catalog_views::session_context::TransactionStatus;
use catalog_views::settings::Settings;
use chrono::{DateTime, Utc};
use std::sync::Arc;
use tokio::sync::{Mutex, OwnedMutexGuard};
use values::error::Result;

/// The session's current conversation. A statement that was abandoned keeps the one that it had, and the session goes on
/// with a new one.
#[derive(Debug)]
pub(crate) struct Current(ArcSwap<Slot>);

#[derive(Debug)]
struct Slot {
    conversation: Arc<Mutex<Conversation>>,
    shown: Shown,
}

impl Current {
    pub(crate) fn new(settings: Arc<ArcSwap<Settings>>) -> Self {
        Self(ArcSwap::from_pointee(Slot::new(settings)))
    }

    /// The conversation, when no statement uses it.
    pub(crate) async fn lock(&self) -> OwnedMutexGuard<Conversation> {
        loop {
            let slot = self.0.load_full();
            let guard = Arc::clone(&slot.conversation).lock_owned().await;
            if Arc::ptr_eq(&slot, &self.0.load()) {
                return guard;
            }
        }
    }

    /// The conversation, if no statement uses it.
    pub(crate) fn try_lock(&self) -> Option<OwnedMutexGuard<Conversation>> {
        Arc::clone(&self.0.load().conversation).try_lock_owned().ok()
    }

    /// The start of the open transaction.
    pub(crate) fn started(&self) -> Option<DateTime<Utc>> {
        self.0.load().shown.started()
    }

    pub(crate) fn status(&self) -> TransactionStatus {
        self.0.load().shown.status()
    }

    /// Refuses a statement in a failed transaction.
    pub(crate) fn refuse_if_failed(&self) -> Result<()> {
        self.0.load().shown.refuse_if_failed()
    }

    /// Marks the open transaction, if any, as failed.
    pub(crate) fn fail(&self) {
        self.0.load().shown.fail();
    }

    /// Leaves the conversation to a statement that does not end. An open transaction is kept: its rows are staged, and the
    /// next statement waits.
    pub(crate) fn abandon(&self, settings: &Arc<ArcSwap<Settings>>) {
        if self.status() == TransactionStatus::Idle {
            self.0.store(Arc::new(Slot::new(Arc::clone(settings))));
        }
    }
}

impl Slot {
    fn new(settings: Arc<ArcSwap<Settings>>) -> Self {
        let conversation = Conversation::new(settings);
        let shown = conversation.shown();
        Self { conversation: Arc::new(Mutex::new(conversation)), shown }
    }
}
