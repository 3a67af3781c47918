//! The statements of a function, in the open transaction of a session.

use crate::analysis;
use crate::calls::functions;
use crate::context::Inner;
use crate::context::call_site::CallSite;
use crate::context::held::Held;
use crate::context::transactions::Conversation;
use crate::repeated::{is_short, rows_again};
use crate::row_locks;
use crate::session::run::Write;
use datafusion::common::ScalarValue;
use executor::Control;
use parser::commands::Command;
use parser::{Body, Statement};
use plan_cache::Basis;
use planner::NamedParameter;
use procedural::{
    Caller, Compiled, Done, Scalar, Statements, calls_any, is_of_settings, may_call, reads_tables,
    termination,
};
use std::sync::Arc;
use store::DistributedSavepoint;
use store::catalog::Catalog;
use values::error::{Error, Result, SqlState};

/// A session whose transaction is open.
pub(super) struct InSession<'a> {
    pub(super) inner: &'a Inner,
    pub(super) conversation: &'a mut Conversation,
    pub(super) control: &'a Control,
    /// The functions around.
    pub(super) depth: usize,
    /// Whether the function may end the transaction.
    pub(super) ends: bool,
    /// What the texts of the function were last read for.
    basis: Basis,
}

impl<'a> InSession<'a> {
    pub(super) fn new(
        inner: &'a Inner,
        conversation: &'a mut Conversation,
        control: &'a Control,
        (depth, ends): (usize, bool),
    ) -> Self {
        let basis = inner.basis(conversation);
        Self { inner, conversation, control, depth, ends, basis }
    }

    /// The catalog of the open transaction.
    pub(super) fn catalog(&mut self) -> Arc<Catalog> {
        self.conversation.catalog(&self.inner.shared.store)
    }
}

impl Inner {
    /// What the meaning of texts depends on.
    fn basis(&self, conversation: &mut Conversation) -> Basis {
        let settings = self.settings.load_full();
        Basis::new(&conversation.catalog(&self.shared.store), &settings)
    }
}

impl Statements for InSession<'_> {
    type Savepoint = DistributedSavepoint;
    type Held = Held;

    async fn run(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
        limit: Option<usize>,
    ) -> Result<Done> {
        let write = match statement.body() {
            Body::Query => {
                let reading = self.inner.reading(self.conversation).await?;
                let given = (names, values);
                if let Some(done) = rows_again(self.inner, &reading, statement, given, limit)? {
                    return Ok(done);
                }
                if row_locks::are_in(statement) {
                    let frame = self.inner.frame_of(values, statement).with_names(names);
                    let locked = self.inner.read_locking(self.conversation, &frame, statement);
                    return Box::pin(locked).await?.done().await;
                }
                let done = self.query(reading, statement, given, limit).await?;
                self.inner.apply_requested_settings(self.conversation);
                return Ok(done);
            }
            Body::Change => Write::Change,
            Body::Refused(error) => return Err(error.clone()),
            Body::Command(Command::Definition(definition))
                if definition.outside_transactions().is_none() =>
            {
                Write::Definition(definition)
            }
            Body::Command(Command::Call(call)) => {
                return self.call_procedure(statement, call, (names, values)).await;
            }
            Body::Command(Command::Role(role)) => Write::Role(role),
            Body::Command(Command::Setting(setting)) => {
                return self.inner.setting(self.conversation, setting)?.done().await;
            }
            Body::Command(
                command @ (Command::Listen(_) | Command::Unlisten(_) | Command::Notify(..)),
            ) => return self.inner.channel(command)?.done().await,
            Body::Command(_) => {
                return Err(Error::unsupported("this statement in PL/pgSQL is not supported"));
            }
        };
        let site = CallSite::alone(self.depth);
        let frame = self.inner.frame_of(values, statement).with_names(names).at(site);
        let written = self.inner.write(self.conversation, &frame, write, self.control);
        Box::pin(written).await?.done().await
    }

    async fn scalar(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
    ) -> Option<Scalar> {
        let frame = self.inner.frame_of(values, statement).with_names(names);
        let reading = self.inner.reading(self.conversation).await.ok()?;
        let planner = frame.planner(&reading);
        let query = analysis::query_of(statement).ok()?;
        if calls_any(query, is_of_settings) {
            return None;
        }
        let tree = Box::pin(analysis::tree_without_values(&frame, &planner, query)).await.ok()?;
        Scalar::calling(&tree, names, &|executed| may_call(reading.catalog(), executed))
    }

    async fn is_short(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
    ) -> bool {
        let frame = self.inner.frame_of(values, statement).with_names(names);
        match self.inner.reading(self.conversation).await {
            Ok(reading) => is_short(self.inner, &frame, statement, &reading).await,
            Err(_) => false,
        }
    }

    async fn caller(&mut self) -> Option<Arc<dyn Caller>> {
        let reading = self.inner.reading(self.conversation).await.ok()?;
        self.inner.context.see(&reading, &self.inner.frame(&[], ""));
        let (catalog, site) = (Arc::clone(reading.catalog()), CallSite::alone(self.depth));
        Some(functions(&self.inner.me, catalog, Some(reading), site))
    }

    async fn expression(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
    ) -> Option<Compiled> {
        let site = CallSite::alone(self.depth);
        let frame = self.inner.frame_of(values, statement).with_names(names).at(site.clone());
        let reading = self.inner.reading(self.conversation).await.ok()?;
        if reads_tables(reading.catalog(), statement) {
            return None;
        }
        self.inner.context.see(&reading, &frame);
        let mut planner = frame.planner(&reading);
        planner.parameters = &[];
        let query = analysis::query_of(statement).ok()?;
        if calls_any(query, is_of_settings) {
            return None;
        }
        let planned = analysis::plan_without_values(&frame, &planner, query).await;
        let (plan, fields) = planned.ok()?;
        if site.needs_driver() {
            return None;
        }
        Compiled::of(&planner, &plan, &fields)
    }

    fn has_moved(&mut self) -> bool {
        let basis = self.inner.basis(self.conversation);
        std::mem::replace(&mut self.basis, basis.clone()) != basis
    }

    fn held(&self) -> Result<Arc<Held>> {
        Ok(Arc::clone(&self.inner.context.held))
    }

    fn say(&mut self, severity: &'static str, error: Error) {
        use catalog_views::session_context::SessionContext;
        self.inner.context.say(severity, error);
    }

    async fn savepoint(&mut self) -> Result<DistributedSavepoint> {
        let open = self.conversation.open().ok_or_else(no_transaction)?;
        Ok(open.transaction.savepoint())
    }

    async fn roll_back(&mut self, to: DistributedSavepoint) -> Result<()> {
        let open = self.conversation.open().ok_or_else(no_transaction)?;
        Ok(open.transaction.rollback_to(&to).await?)
    }

    async fn end_transaction(&mut self, commits: bool) -> Result<()> {
        if !self.ends {
            return Err(termination());
        }
        self.inner.context.held.running.check_end()?;
        let Self { inner, conversation, control, .. } = self;
        inner.end_and_begin(conversation, commits, control).await
    }

    fn check(&self) -> Result<()> {
        self.control.check()
    }
}

fn no_transaction() -> Error {
    Error::new(SqlState::InternalError, "PL/pgSQL without a transaction")
}
