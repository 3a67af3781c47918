//! The statements of functions that a change calls.

use crate::analysis;
use crate::context::call_site::{CallSite, Requests};
use crate::context::held::Held;
use crate::context::outcome::Outcome;
use crate::context::{Frame, Inner};
use crate::served::{Serves, collected, served};
use datafusion::common::ScalarValue;
use futures::FutureExt;
use futures::future::BoxFuture;
use parser::{Body, Statement};
use planner::NamedParameter;
use procedural::{Compiled, Done, Statements};
use std::sync::Arc;
use store::{DistributedSavepoint, DistributedTransaction};
use values::error::{Error, Result};

/// Runs the statement of a frame.
pub(super) type RunChange =
    for<'f, 'x> fn(&'f Frame<'x>, &'f mut DistributedTransaction) -> BoxFuture<'f, Result<Outcome>>;

/// The functions that a change calls, whose statements see what it has changed so far.
pub(super) struct Calls<'a> {
    session: &'a Inner,
    depth: usize,
    requests: Requests,
    run: RunChange,
}

impl<'a> Calls<'a> {
    pub(super) fn new(frame: &Frame<'a>, requests: Requests, run: RunChange) -> Self {
        Self { session: frame.session, depth: frame.site.depth, requests, run }
    }

    /// Does work that calls functions, in a transaction.
    ///
    /// # Errors
    /// Those of the work.
    pub(super) async fn served<T: Send + 'static>(
        &mut self,
        transaction: &mut DistributedTransaction,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let mut server = InStatement::new(self.session, transaction, self.depth, self.run);
        served(&mut self.requests, &mut server, work).await
    }
}

/// A statement that calls functions, and its transaction.
struct InStatement<'a> {
    session: &'a Inner,
    transaction: &'a mut DistributedTransaction,
    depth: usize,
    run: RunChange,
}

impl<'a> InStatement<'a> {
    fn new(
        session: &'a Inner,
        transaction: &'a mut DistributedTransaction,
        depth: usize,
        run: RunChange,
    ) -> Self {
        Self { session, transaction, depth, run }
    }

    fn query<'b>(
        &'b mut self,
        statement: &'b Statement,
        names: &'b [NamedParameter],
        values: &'b [ScalarValue],
        limit: Option<usize>,
    ) -> BoxFuture<'b, Result<Done>> {
        async move {
            let (site, mut requests) = CallSite::with_driver(self.depth);
            let session = self.session;
            let frame = session.frame_of(values, statement).with_names(names).at(site.clone());
            let reading = self.transaction.reading();
            let planner = frame.planner(&reading);
            let query = analysis::query_of(statement)?;
            let (plan, fields) = analysis::plan(&frame, &planner, query).await?;
            let place = (&site, &mut requests);
            let (schema, batches) = collected(&planner, plan, limit, place, self).await?;
            Ok(Done { fields: Some(fields), schema: Some(schema), batches, count: 0 })
        }
        .boxed()
    }

    fn change<'b>(
        &'b mut self,
        statement: &'b Statement,
        names: &'b [NamedParameter],
        values: &'b [ScalarValue],
    ) -> BoxFuture<'b, Result<Done>> {
        async move {
            let site = CallSite::alone(self.depth);
            let frame = self.session.frame_of(values, statement).with_names(names).at(site);
            let changed = (self.run)(&frame, self.transaction).await?;
            integrity::settle(&frame, self.transaction).await?;
            changed.done().await
        }
        .boxed()
    }
}

impl Serves for InStatement<'_> {
    fn set_depth(&mut self, depth: usize) {
        self.depth = depth;
    }
}

impl Statements for InStatement<'_> {
    type Savepoint = DistributedSavepoint;
    type Held = Held;

    async fn run(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
        limit: Option<usize>,
    ) -> Result<Done> {
        match statement.body() {
            Body::Query => self.query(statement, names, values, limit).await,
            Body::Change => self.change(statement, names, values).await,
            Body::Refused(error) => Err(error.clone()),
            Body::Command(_) => Err(Error::unsupported(
                "this statement in a function that a change of rows calls is not supported",
            )),
        }
    }

    async fn expression(
        &mut self,
        _: &Statement,
        _: &[NamedParameter],
        _: &[ScalarValue],
    ) -> Option<Compiled> {
        None
    }

    fn held(&self) -> Result<Arc<Held>> {
        Ok(Arc::clone(&self.session.context.held))
    }

    fn say(&mut self, severity: &'static str, error: Error) {
        use catalog_views::session_context::SessionContext;
        self.session.context.say(severity, error);
    }

    async fn savepoint(&mut self) -> Result<DistributedSavepoint> {
        Ok(self.transaction.savepoint())
    }

    async fn roll_back(&mut self, to: DistributedSavepoint) -> Result<()> {
        Ok(self.transaction.rollback_to(&to).await?)
    }

    fn check(&self) -> Result<()> {
        executor::check()
    }
}
