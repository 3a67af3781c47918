//! The statements that run: listed until they end, and ended early on request.

use super::{Frame, Inner};
use catalog_views::session_context::Running;
use conversation::transactions::{Waiting, rolled_back};
use executor::Control;
use std::sync::Arc;
use std::time::SystemTime;
use store::{DistributedSavepoint, DistributedTransaction};
use values::error::{Error, Result};

/// Marks a statement as running until it is dropped.
pub(crate) struct RunningMark {
    session: Arc<Inner>,
    statement: u64,
}

impl RunningMark {
    /// Marks a statement of a session, by its text.
    pub(crate) fn new(session: &Arc<Inner>, text: &str) -> Self {
        let statement = session.shared.next_number();
        let (user, text) = (session.context.login_user.load_full(), text.to_owned());
        let (number, started) = (session.number, SystemTime::now());
        let running = Running { statement, session: number, user, text, started };
        session.shared.running.lock().insert(statement, running);
        Self { session: Arc::clone(session), statement }
    }
}

impl Drop for RunningMark {
    fn drop(&mut self) {
        self.session.shared.running.lock().remove(&self.statement);
    }
}

/// How a statement on the short path waits for other transactions. From its first wait on it is listed as running, and
/// ends after a cancel request or a time-out: most statements do not wait, and need neither.
pub(crate) struct ShortWait<'a> {
    session: &'a Arc<Inner>,
    text: &'a str,
    pub(crate) waiting: Waiting,
    begun: Option<(Control, RunningMark)>,
}

impl<'a> ShortWait<'a> {
    /// The waits of a statement of a session, which has not waited yet.
    pub(crate) fn new(session: &'a Arc<Inner>, text: &'a str, waiting: Waiting) -> Self {
        Self { session, text, waiting, begun: None }
    }

    /// The surroundings of the statement, without its parameters.
    pub(crate) fn frame(&self) -> Frame<'_> {
        self.session.frame(&[], self.text)
    }

    /// As [`rolled_back`], until the statement has to end.
    ///
    /// # Errors
    /// As [`rolled_back`]; 57014 after a cancel request or the time-out.
    pub(crate) async fn rolled_back(
        &mut self,
        transaction: &mut DistributedTransaction,
        before: &DistributedSavepoint,
        error: Error,
    ) -> Result<()> {
        let Self { session, text, waiting, begun } = self;
        let (control, _) = begun
            .get_or_insert_with(|| (session.begin_statement(), RunningMark::new(session, text)));
        tokio::select! {
            biased;
            ended = control.ended() => Err(ended),
            done = rolled_back(transaction, before, error, *waiting) => done,
        }
    }
}
