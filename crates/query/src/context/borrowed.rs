//! Settings that functions have for the time of a call: SECURITY DEFINER and SET.
//!
//! A call may outlive its statement, when that is cancelled and the call does not notice at once. The settings of the
//! session come back when the next statement begins, and nothing of an earlier one can change them any more.

use arc_swap::ArcSwap;
use catalog_views::settings::Settings;
use parking_lot::Mutex;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// The settings of a session while its functions have others.
#[derive(Debug, Default)]
pub(crate) struct Borrowed(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The number of the statement that runs.
    statement: u64,
    /// The settings of the session, while a function has others.
    before: Option<Arc<Settings>>,
}

/// The settings of a function, until it is dropped.
pub(crate) struct Loan<'a> {
    borrowed: &'a Borrowed,
    settings: &'a ArcSwap<Settings>,
    statement: u64,
    before: Arc<Settings>,
    is_outermost: bool,
}

impl Borrowed {
    /// A new statement begins, with the settings of the session.
    pub(crate) fn begin(&self, settings: &ArcSwap<Settings>) {
        let mut state = self.0.lock();
        state.statement += 1;
        if let Some(before) = state.before.take() {
            settings.store(before);
        }
    }

    /// The number of the statement that runs.
    pub(crate) fn statement(&self) -> u64 {
        self.0.lock().statement
    }

    /// Whether a function has other settings than the session.
    pub(crate) fn is_lent(&self) -> bool {
        self.0.lock().before.is_some()
    }

    /// Gives a function of a statement other settings.
    ///
    /// # Errors
    /// 57014: the statement has ended.
    pub(crate) fn lend<'a>(
        &'a self,
        settings: &'a ArcSwap<Settings>,
        statement: u64,
        new: Settings,
    ) -> Result<Loan<'a>> {
        let mut state = self.0.lock();
        if state.statement != statement {
            let message = "canceling statement due to user request";
            return Err(Error::new(SqlState::QueryCanceled, message));
        }
        let before = settings.load_full();
        let is_outermost = state.before.is_none();
        state.before.get_or_insert_with(|| Arc::clone(&before));
        settings.store(Arc::new(new));
        Ok(Loan { borrowed: self, settings, statement, before, is_outermost })
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        let mut state = self.borrowed.0.lock();
        if state.statement == self.statement {
            self.settings.store(Arc::clone(&self.before));
            if self.is_outermost {
                state.before = None;
            }
        }
    }
}
