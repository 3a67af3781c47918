//! Prepared statements: parsed once. Those on one row by its key are also recognised once, for the short path.

use super::{Description, Session};
use crate::context::outcome::Outcome;
use crate::short::Short;
use catalog_views::session_context::SessionContext;
use catalog_views::session_context::TransactionStatus;
use datafusion::common::ScalarValue;
use parking_lot::Mutex;
use parser::Statement;
use planner::error_position;
use std::sync::Arc;
use store::catalog::{Catalog, SqlType};
use store::{DistributedTransaction, Reading};
use values::error::{Result, SqlState};
use values::style::Style;

/// A statement that is executed many times.
pub struct Prepared {
    session: Session,
    statement: Statement,
    short: Mutex<Option<Recognised>>,
}

/// The short form of a statement under a catalog, for a user; `None` where it has none.
type Recognised = (Arc<Catalog>, Arc<String>, Option<Arc<Short>>);

impl Prepared {
    pub(crate) fn new(session: Session, statement: Statement) -> Self {
        Self { session, statement, short: Mutex::new(None) }
    }

    /// The parameters and result columns of the statement; `given` are the parameter types that the client declares.
    ///
    /// # Errors
    /// As planning the statement.
    pub async fn describe(&self, given: &[Option<SqlType>]) -> Result<Description> {
        self.session.describe(&self.statement, given).await
    }

    /// Runs the statement with values for `$1`, `$2`, ...
    ///
    /// # Errors
    /// As [`Session::run`].
    pub async fn execute(&self, parameters: &[ScalarValue]) -> Result<Outcome> {
        let placed = |error| error_position::placed(error, &self.statement.text, |_, _| false);
        if let Some(outcome) = self.execute_short(parameters).await.map_err(placed)? {
            return Ok(outcome);
        }
        Box::pin(self.session.run(&self.statement, parameters)).await
    }

    /// The short path: a row by its key, without the engine's planner.
    async fn execute_short(&self, parameters: &[ScalarValue]) -> Result<Option<Outcome>> {
        let inner = self.session.inner();
        let Some(mut conversation) = inner.conversation.try_lock() else { return Ok(None) };
        if !self.may_be_short() {
            return Ok(None);
        }
        match conversation.status() {
            TransactionStatus::Failed => Ok(None),
            TransactionStatus::Open => {
                let outcome = match conversation.open() {
                    Some(open) => self.execute_in(&mut open.transaction, parameters).await,
                    None => Ok(None),
                };
                outcome.inspect_err(|_| conversation.fail())
            }
            TransactionStatus::Idle => {
                // The catalog of this server is enough to recognise the statement. The owner checks the version again.
                let store = &inner.shared.store;
                let catalog = store.catalog();
                let recognised = self.recognised(&catalog, || store.snapshot().reading(None))?;
                let Some(short) = recognised else { return Ok(None) };
                let outcome = short.execute(store, &catalog, parameters).await;
                if inner.settings.load().is_adjusting() {
                    self.adjust(&short, parameters);
                }
                outcome
            }
        }
    }

    /// Sends an image adjustment to a client with an image, if another server owns the row. The statement has been executed
    /// already: a failure here is not an error of it.
    fn adjust(&self, short: &Short, parameters: &[ScalarValue]) {
        let inner = self.session.inner();
        let Some(peers) = inner.shared.store.peers() else { return };
        if let Ok(Some(told)) = short.adjustment(&**peers, &self.statement.text, parameters) {
            let message = "the row belongs to another server".to_owned();
            inner.notice_with(SqlState::SuccessfulCompletion, message, told);
        }
    }

    /// Whether the session's state allows the short path.
    fn may_be_short(&self) -> bool {
        let inner = self.session.inner();
        let settings = inner.settings.load();
        settings.style() == Style::default() && !settings.is_read_only()
    }

    /// The short path inside a transaction: a failed statement changes nothing.
    async fn execute_in(
        &self,
        transaction: &mut DistributedTransaction,
        parameters: &[ScalarValue],
    ) -> Result<Option<Outcome>> {
        let recognised = self.recognised(transaction.catalog(), || transaction.reading())?;
        let Some(short) = recognised else { return Ok(None) };
        let before = transaction.savepoint();
        let outcome = short.execute_in(transaction, parameters).await;
        if outcome.is_err() {
            transaction.rollback_to(&before).await?;
        }
        outcome
    }

    /// The statement's short form, found once for each catalog and user.
    fn recognised(
        &self,
        catalog: &Arc<Catalog>,
        tables: impl FnOnce() -> Reading,
    ) -> Result<Option<Arc<Short>>> {
        let inner = self.session.inner();
        let user = inner.context.user();
        let mut known = self.short.lock();
        match &*known {
            Some((of, by, short)) if Arc::ptr_eq(of, catalog) && Arc::ptr_eq(by, &user) => {
                Ok(short.clone())
            }
            _ => {
                let (tables, frame) = (tables(), inner.frame_of(&[], &self.statement));
                inner.context.see(&tables, &frame);
                let short = match self.statement.ast() {
                    Some(ast) => Short::recognise(&frame, &tables, ast)?.map(Arc::new),
                    None => None,
                };
                *known = Some((Arc::clone(tables.catalog()), Arc::clone(&user), short.clone()));
                Ok(short)
            }
        }
    }
}
