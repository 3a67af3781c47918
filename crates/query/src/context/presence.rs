//! What other sessions see of a session, and what ends it.

use catalog_views::session_context::{Activity, TransactionStatus};
use executor::cancel::Cancellation;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::SystemTime;
use tokio_util::sync::CancellationToken;

/// What other sessions see of a session.
#[derive(Debug)]
pub(crate) struct Presence {
    pub(crate) process: u32,
    pub(crate) begun: SystemTime,
    pub(crate) cancellation: Cancellation,
    /// Cancelled when the session has to end.
    pub(crate) terminated: CancellationToken,
    pub(crate) activity: Mutex<Activity>,
}

impl Presence {
    /// A session that begins now and that no client is connected to.
    pub(crate) fn new(process: u32) -> Self {
        let begun = SystemTime::now();
        let activity = Activity {
            is_connected: false,
            client: None,
            is_active: false,
            status: TransactionStatus::Idle,
            query: Arc::from(""),
            query_began: None,
            transaction_began: None,
            changed: begun,
        };
        Self {
            process,
            begun,
            cancellation: Cancellation::default(),
            terminated: CancellationToken::new(),
            activity: Mutex::new(activity),
        }
    }

    pub(crate) fn activity(&self) -> Activity {
        self.activity.lock().clone()
    }
}
