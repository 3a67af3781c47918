//! What runs the statements of functions.

use crate::cursors::Held;
use crate::done::Done;
use crate::evaluation::Compiled;
use crate::scalar::{Caller, Scalar};
use datafusion::common::ScalarValue;
use parser::Statement;
use planner::NamedParameter;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// What runs the statements of a function, in the open transaction.
pub trait Statements: Send {
    /// A place to return to.
    type Savepoint: Send;
    /// What the session keeps.
    type Held: Held;

    /// Runs a statement whose parameters have names; of its rows, not more than `limit`.
    fn run(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
        limit: Option<usize>,
    ) -> impl Future<Output = Result<Done>> + Send;

    /// The expression that a query consists of, to be evaluated often. `None` for other queries.
    fn expression(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
    ) -> impl Future<Output = Option<Compiled>> + Send;

    /// The expression of plain values that a query consists of. `None` for other queries.
    fn scalar(
        &mut self,
        _statement: &Statement,
        _names: &[NamedParameter],
        _values: &[ScalarValue],
    ) -> impl Future<Output = Option<Scalar>> + Send {
        std::future::ready(None)
    }

    /// Whether a statement needs no plan.
    fn is_short(
        &mut self,
        _statement: &Statement,
        _names: &[NamedParameter],
        _values: &[ScalarValue],
    ) -> impl Future<Output = bool> + Send {
        std::future::ready(false)
    }

    /// Who calls the functions of users in expressions of plain values, until the transaction ends. `None` if nobody does.
    fn caller(&mut self) -> impl Future<Output = Option<Arc<dyn Caller>>> + Send {
        std::future::ready(None)
    }

    /// Whether the catalog or a setting has changed since it was last asked, so that texts may mean something else.
    fn has_moved(&mut self) -> bool {
        false
    }

    /// What the session keeps until its transaction ends.
    ///
    /// # Errors
    /// The session has ended.
    fn held(&self) -> Result<Arc<Self::Held>>;

    /// Says something to the client.
    fn say(&mut self, severity: &'static str, error: Error);

    /// Marks a place to return to.
    ///
    /// # Errors
    /// There is no transaction.
    fn savepoint(&mut self) -> impl Future<Output = Result<Self::Savepoint>> + Send;

    /// Returns to a place.
    fn roll_back(&mut self, to: Self::Savepoint) -> impl Future<Output = Result<()>> + Send;

    /// Commits the transaction, or rolls it back, and begins another one.
    ///
    /// # Errors
    /// 2D000 where it may not be ended, 55000 in a [loop](Running::check_end); errors of the commit.
    fn end_transaction(&mut self, commits: bool) -> impl Future<Output = Result<()>> + Send {
        let _ = commits;
        async { Err(termination()) }
    }

    /// Whether loops let others run, on a thread that others need.
    fn yields(&self) -> bool {
        true
    }

    /// Whether the client's statement has to end.
    ///
    /// # Errors
    /// 57014.
    fn check(&self) -> Result<()>;
}

/// The error for COMMIT and ROLLBACK where the transaction cannot be ended.
pub fn termination() -> Error {
    Error::new(SqlState::chosen("2D000"), "invalid transaction termination")
}
