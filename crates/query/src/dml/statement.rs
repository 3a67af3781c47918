//! Statements that change rows, with the changes in their WITH.

use super::called::Calls;
use super::change::Ready;
use super::writer::Writer;
use super::{constants, kept};
use crate::analysis::Returned;
use crate::analysis::changes::{self, Planned, Statement};
use crate::analysis::targets;
use crate::context::Frame;
use crate::context::call_site::{CallSite, Requests};
use crate::context::outcome::{Outcome, Rows};
use crate::row_locks;
use analyzer::tree::{Main, NamedChange};
use datafusion::arrow::array::RecordBatch;
use datafusion::physical_plan::collect;
use datafusion::physical_plan::memory::MemoryStream;
use futures::FutureExt;
use futures::future::BoxFuture;
use grammar::tree::NodeEnum;
use planner::Planner;
use planner::results::for_clients;
use store::DistributedTransaction;
use values::error::{Error, Result, SqlState};

/// Runs the statement of a frame.
///
/// # Errors
/// What is wrong with the statement, and the errors of its execution.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
) -> Result<Outcome> {
    let node = node_of(frame)?;
    let plain = match frame.statement.is_some_and(row_locks::are_in) {
        true => row_locks::without_locking(frame, transaction, node).await?,
        false => None,
    };
    let node = plain.as_ref().unwrap_or(node);
    if let Some(outcome) = kept::run(frame, transaction, node).await? {
        return Ok(outcome);
    }
    let constants = constants::of(frame, transaction, node);
    let constants = match constants {
        Some(constants) if constants.is_plain(transaction.catalog()) => {
            match constants.insert(frame, transaction).await? {
                Ok(outcome) => return Ok(outcome),
                Err(rows) => Some(rows),
            }
        }
        constants => constants.map(|constants| constants.rows),
    };
    let reading = transaction.reading();
    let (site, requests) = CallSite::with_driver(frame.site.depth);
    let mut planner = frame.planner(&reading);
    planner.user_functions = frame.user_functions(&reading, &site);
    planner.shown = targets::shown(transaction.catalog(), node);
    let statement = changes::bind(frame, &planner, node).await?;
    let changes = &statement.tree.changes;
    let writer = Writer::new(transaction, !changes.is_empty());
    let (planner, statement, requests) = (&planner, &statement, Some(requests));
    let mut running = Running { frame, planner, statement, writer, site, requests };
    let mut returned = Vec::new();
    let (before, after) = changes.split_at(statement.tree.before);
    running.changes(before, &mut returned).await?;
    let outcome = running.main(&returned, constants).await?;
    running.changes(after, &mut returned).await?;
    running.writer.finish().await?;
    Ok(outcome)
}

/// As [`run`].
fn boxed<'f>(
    frame: &'f Frame<'_>,
    transaction: &'f mut DistributedTransaction,
) -> BoxFuture<'f, Result<Outcome>> {
    run(frame, transaction).boxed()
}

/// A statement that is running.
struct Running<'a> {
    frame: &'a Frame<'a>,
    planner: &'a Planner<'a>,
    statement: &'a Statement<'a>,
    writer: Writer<'a>,
    /// The place of calls of users' functions.
    site: CallSite,
    /// The statements that they ask for, until the writer has them.
    requests: Option<Requests>,
}

impl Running<'_> {
    /// Executes changes in WITH.
    async fn changes(
        &mut self,
        changes: &[NamedChange],
        returned: &mut Vec<Returned>,
    ) -> Result<()> {
        for named in changes {
            let planned = self.statement.planned(&named.change, returned, true)?;
            let ready = self.ready(planned, None).await?;
            let done = ready.run(self.frame, self.planner, &mut self.writer).await?;
            returned.extend(done.relation()?.map(|rows| (named.id, rows)));
        }
        Ok(())
    }

    /// A planned change.
    async fn ready(&mut self, planned: Planned, constants: Option<RecordBatch>) -> Result<Ready> {
        let Self { frame, planner, site, .. } = self;
        let ready = Ready::new(frame, planner, planned, constants, site).await?;
        self.show();
        Ok(ready)
    }

    /// Lets functions see what has been written, if there are some.
    fn show(&mut self) {
        if self.site.needs_driver()
            && let Some(requests) = self.requests.take()
        {
            self.writer.show(Calls::new(self.frame, requests, boxed));
        }
    }

    /// Executes the statement itself.
    async fn main(
        &mut self,
        returned: &[Returned],
        constants: Option<RecordBatch>,
    ) -> Result<Outcome> {
        match &self.statement.tree.main {
            Main::Query(query) => {
                let (plan, fields) = self.statement.query(query, returned)?;
                let plan = for_clients(plan, &fields, self.planner.functions)?;
                self.show();
                let (physical, task) = match self.writer.is_in_turn() {
                    true => self.planner.physical_in_turn(&plan).await?,
                    false => {
                        let task = self.frame.engine().task_ctx();
                        (self.planner.physical(&plan).await?, task)
                    }
                };
                let schema = physical.schema();
                let rows = async move { Ok(collect(physical, task).await?) };
                let batches = self.writer.computed(rows).await?;
                let stream = MemoryStream::try_new(batches, schema, None)?;
                Ok(Outcome::Rows(Rows::ready(fields, stream, "SELECT")))
            }
            Main::Change(change) => {
                let planned = self.statement.planned(change, returned, false)?;
                let ready = self.ready(planned, constants).await?;
                ready.run(self.frame, self.planner, &mut self.writer).await?.outcome()
            }
        }
    }
}

/// The parse tree of the statement.
///
/// # Errors
/// 42601 if it is not in PostgreSQL's grammar.
pub(crate) fn node_of<'a>(frame: &Frame<'a>) -> Result<&'a NodeEnum> {
    if let Some(node) = frame.statement.and_then(|of| of.change().or_else(|| of.source())) {
        return Ok(node);
    }
    match grammar::parse(frame.text) {
        Ok(_) => Err(Error::unsupported("this form of statement is not supported")),
        Err(error) => {
            let refused = Error::new(SqlState::SyntaxError, error.message);
            Err(error.position.map_or(refused.clone(), |position| refused.at(position)))
        }
    }
}
