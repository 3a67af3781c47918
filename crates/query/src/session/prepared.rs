//! Prepared statements: parsed once; those that touch one row by its key are recognised once, too.

use super::{Description, Session};
use crate::error::Result;
use crate::outcome::Outcome;
use crate::parse::Statement;
use crate::short::Short;
use datafusion::common::ScalarValue;
use parking_lot::Mutex;
use std::sync::Arc;
use store::catalog::{Catalog, SqlType};

/// A statement that is executed many times.
pub struct Prepared {
    session: Session,
    statement: Statement,
    short: Mutex<Option<Recognised>>,
}

/// The short form of a statement under a catalog; `None` where it has none.
type Recognised = (Arc<Catalog>, Option<Arc<Short>>);

impl Prepared {
    pub(crate) fn new(session: Session, statement: Statement) -> Self {
        Self { session, statement, short: Mutex::new(None) }
    }

    /// What the statement takes and gives; `given` are the parameter types that the client says.
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
        if let Some(outcome) = self.execute_short(parameters)? {
            return Ok(outcome);
        }
        self.session.run(&self.statement, parameters).await
    }

    /// The short path: a row by its key, outside a transaction, without the engine's planner.
    fn execute_short(&self, parameters: &[ScalarValue]) -> Result<Option<Outcome>> {
        let inner = self.session.inner();
        let Ok(conversation) = inner.conversation.try_lock() else { return Ok(None) };
        if conversation.status() != super::TransactionStatus::Idle {
            return Ok(None);
        }
        let store = &inner.shared.store;
        let snapshot = store.snapshot();
        let catalog = snapshot.catalog();
        let mut known = self.short.lock();
        let short = match &*known {
            Some((of, short)) if Arc::ptr_eq(of, catalog) => short.clone(),
            _ => {
                let frame = inner.frame(&[], &self.statement.text);
                let short = Short::recognise(&frame, &snapshot, &self.statement.ast)?.map(Arc::new);
                *known = Some((Arc::clone(catalog), short.clone()));
                short
            }
        };
        drop(known);
        match short {
            Some(short) => short.execute(store, snapshot, parameters),
            None => Ok(None),
        }
    }
}
