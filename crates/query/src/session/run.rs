//! The life of a statement: checks, dispatch, retries, and the effect of a failure on the transaction.

use super::outcome_stream::OutcomeStream;
use super::temporary;
use crate::analysis;
use crate::context::outcome::{Outcome, Rows, Tag};
use crate::context::running::RunningMark;
use crate::context::transactions::{Conversation, Failure, Waiting, committed, rolled_back};
use crate::context::writes_nothing;
use crate::context::{Frame, Inner};
use crate::repeated::{self, Begun, begun};
use crate::roles;
use crate::row_locks;
use crate::{copy, ddl, dml, triggers};
use catalog_views::session_context::{SessionContext, TransactionStatus};
use catalog_views::settings::isolation::Isolation;
use datafusion::common::ScalarValue;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::execute_stream;
use executor::Control;
use grammar::tree::NodeEnum;
use notifications::Listening;
use parser::commands::{Command, Copy, Definition, Discard, Mode, RoleStatement, Transaction};
use parser::errors::at_literal;
use parser::{Body, Statement};
use planner::large_joins;
use procedural::{Held, may_be_plain};
use std::sync::Arc;
use store::catalog::Catalog;
use store::{DistributedTransaction, Reading};
use values::error::{Error, Result, SqlState};

/// Retries of a statement outside a transaction after conflicts with other writes or changed definitions.
const RETRIES: usize = 64;

/// Repetitions of a statement that waits for others. Each of them waited, so that it rarely needs more than a few.
const REPETITIONS: usize = 1024;

/// A statement that changes rows or definitions.
#[derive(Clone, Copy)]
pub(super) enum Write<'a> {
    /// INSERT, UPDATE, DELETE or MERGE, or a query with changes in WITH: the frame's statement.
    Change,
    /// COPY from a file.
    Copy(&'a Copy),
    /// A statement that changes definitions.
    Definition(&'a Definition),
    /// A statement about roles or privileges.
    Role(&'a RoleStatement),
}

impl Inner {
    /// Runs one statement, which `control` ends early.
    pub(crate) async fn run(
        &self,
        me: &Arc<Self>,
        statement: &Statement,
        parameters: &[ScalarValue],
        control: &Control,
    ) -> Result<Outcome> {
        if ends_failed(statement) && self.conversation.leave_failed(&self.settings) {
            return Ok(Outcome::Done(Tag::plain("ROLLBACK")));
        }
        let mut conversation = self.conversation.lock().await;
        self.apply_requested_settings(&mut conversation);
        self.context.advisory.use_transaction(conversation.lock_owner(self.waiting()));
        let mark = RunningMark::new(me, &statement.text);
        self.close_with_transaction(&conversation);
        let result = tokio::select! {
            biased;
            error = control.ended() => Err(error),
            outcome = self.dispatch(&mut conversation, statement, parameters, control, mark) => outcome,
        };
        self.context.advisory.released().await;
        self.functions.settle();
        match statement.command() {
            _ if result.is_ok() => {}
            // Its checks may have failed, or been cancelled while they waited.
            Some(Command::Transaction(Transaction::Commit { .. })) => conversation.rollback(),
            _ => conversation.fail(),
        }
        self.close_with_transaction(&conversation);
        result.map(|outcome| self.styled(outcome))
    }

    /// The outcome, with its values written in the session's style.
    fn styled(&self, mut outcome: Outcome) -> Outcome {
        if let Outcome::Rows(rows) = &mut outcome {
            let style = self.settings.load().style();
            if rows.fields.iter().any(|field| field.style != style) {
                Arc::make_mut(&mut rows.fields).iter_mut().for_each(|field| field.style = style);
            }
        }
        outcome
    }

    async fn dispatch(
        &self,
        conversation: &mut Conversation,
        statement: &Statement,
        parameters: &[ScalarValue],
        control: &Control,
        mark: RunningMark,
    ) -> Result<Outcome> {
        if let Some(Command::Transaction(transaction)) = statement.command() {
            return self.control(conversation, transaction, control).await;
        }
        conversation.refuse_if_failed()?;
        let frame = self.frame_of(parameters, statement);
        let command = match statement.body() {
            Body::Query if row_locks::are_in(statement) => {
                return self.read_locking(conversation, &frame, statement).await;
            }
            Body::Query => return self.read(conversation, &frame, statement, control, mark).await,
            Body::Change => {
                return self.write(conversation, &frame, Write::Change, control).await;
            }
            Body::Refused(error) => return Err(error.clone()),
            Body::Command(command) => command,
        };
        let write = match command {
            Command::Setting(setting) => return self.setting(conversation, setting),
            Command::Listen(_) | Command::Unlisten(_) | Command::Notify(..) => {
                return self.channel(command);
            }
            Command::AlterSystem(alter) => return self.alter_system(conversation, alter).await,
            Command::Explain(explain) => {
                let Some(inner) = statement.inner() else { return Err(requires_connection()) };
                let frame = self.frame_of(parameters, &inner);
                return self.explain(conversation, &frame, (&inner, explain), control).await;
            }
            Command::Copy(copy) if copy.is_of_client() => return Err(requires_connection()),
            Command::Copy(copy) if !copy.is_from => {
                let tables = self.reading(conversation).await?;
                self.context.see(&tables, &frame);
                return copy::to::run(&frame, &tables, copy).await;
            }
            Command::Copy(copy) => Write::Copy(copy),
            Command::Definition(definition) => {
                if let Some(statement) = definition.outside_transactions()
                    && conversation.open().is_some()
                    && !conversation.is_implicit()
                {
                    let message = format!("{statement} cannot run inside a transaction block");
                    return Err(Error::new(SqlState::ActiveSqlTransaction, message));
                }
                Write::Definition(definition)
            }
            Command::Role(role) => Write::Role(role),
            Command::Do(_) | Command::Call(_) => {
                return Box::pin(self.run_procedural(conversation, &frame, command, control)).await;
            }
            Command::Discard(Discard::All) => {
                Write::Definition(&Definition::DropTemporary { all: true })
            }
            Command::Discard(Discard::Temporary) => {
                Write::Definition(&Definition::DropTemporary { all: false })
            }
            _ => return self.of_connection(conversation, statement),
        };
        self.write(conversation, &frame, write, control).await
    }

    /// LISTEN, UNLISTEN and NOTIFY, which have effect at the end of the transaction.
    pub(super) fn channel(&self, command: &Command) -> Result<Outcome> {
        let announcements = &self.context.announcements;
        let tag = match command {
            Command::Listen(channel) => {
                announcements.listen(Listening::Begin(channel.clone()));
                "LISTEN"
            }
            Command::Unlisten(channel) => {
                announcements.listen(channel.clone().map_or(Listening::EndAll, Listening::End));
                "UNLISTEN"
            }
            Command::Notify(channel, payload) => {
                self.context.notify(channel, payload)?;
                "NOTIFY"
            }
            _ => return Err(requires_connection()),
        };
        Ok(Outcome::Done(Tag::plain(tag)))
    }

    /// Executes a statement that controls transactions.
    async fn control(
        &self,
        conversation: &mut Conversation,
        transaction: &Transaction,
        control: &Control,
    ) -> Result<Outcome> {
        let tag = match transaction {
            Transaction::Begin { modes, is_start } => {
                refuse_isolation(modes)?;
                if !conversation.begin(self.shared.store.begin_distributed().await?)? {
                    self.warn(
                        SqlState::ActiveSqlTransaction,
                        "there is already a transaction in progress",
                    );
                }
                self.set_transaction(conversation, modes, false)?;
                if *is_start { "START TRANSACTION" } else { "BEGIN" }
            }
            Transaction::Commit { chain } => {
                let was = conversation.status();
                let next = self.chained(conversation, *chain, "COMMIT")?;
                self.warn_without_transaction(conversation);
                self.check_deferred(conversation).await?;
                let committed = conversation.commit(control).await?;
                self.begin_chained(conversation, next).await?;
                match committed {
                    false if was == TransactionStatus::Failed => "ROLLBACK",
                    _ => "COMMIT",
                }
            }
            Transaction::Rollback { chain } => {
                let next = self.chained(conversation, *chain, "ROLLBACK")?;
                self.warn_without_transaction(conversation);
                conversation.rollback();
                self.begin_chained(conversation, next).await?;
                "ROLLBACK"
            }
            Transaction::RollbackTo(name) => {
                conversation.rollback_to(name).await?;
                "ROLLBACK"
            }
            Transaction::Savepoint(name) => {
                conversation.refuse_if_failed()?;
                conversation.savepoint(name.clone())?;
                "SAVEPOINT"
            }
            Transaction::Release(name) => {
                conversation.refuse_if_failed()?;
                conversation.release(name)?;
                "RELEASE"
            }
        };
        Ok(Outcome::Done(Tag::plain(tag)))
    }

    /// The settings that AND CHAIN passes to the next transaction.
    fn chained(
        &self,
        conversation: &Conversation,
        chain: bool,
        command: &str,
    ) -> Result<Option<Vec<(&'static str, String)>>> {
        if !chain {
            return Ok(None);
        }
        if conversation.status() == TransactionStatus::Idle || conversation.is_implicit() {
            let message = format!("{command} AND CHAIN can only be used in transaction blocks");
            return Err(Error::new(SqlState::NoActiveSqlTransaction, message));
        }
        let settings = self.settings.load();
        let names = ["transaction_isolation", "transaction_read_only", "transaction_deferrable"];
        let kept = names.into_iter().filter_map(|name| Some((name, settings.get(name)?)));
        Ok(Some(kept.collect()))
    }

    async fn begin_chained(
        &self,
        conversation: &mut Conversation,
        next: Option<Vec<(&'static str, String)>>,
    ) -> Result<()> {
        let Some(settings) = next else { return Ok(()) };
        conversation.begin(self.shared.store.begin_distributed().await?)?;
        for (name, value) in settings {
            let value = [value];
            self.change(conversation, true, |set| set.set(name, &value))?;
        }
        Ok(())
    }

    fn warn_without_transaction(&self, conversation: &Conversation) {
        if conversation.status() == TransactionStatus::Idle || conversation.is_implicit() {
            self.warn(SqlState::NoActiveSqlTransaction, "there is no transaction in progress");
        }
    }

    async fn read(
        &self,
        conversation: &mut Conversation,
        frame: &Frame<'_>,
        statement: &Statement,
        control: &Control,
        mark: RunningMark,
    ) -> Result<Outcome> {
        if may_be_plain(statement) && self.shared.store.peers().is_none() {
            let reading = self.reading(conversation).await?;
            let begun = self.begin_plain(frame, statement, &reading).await;
            if let Some(begun) = begun.map_err(|error| at_literal(error, statement))? {
                return Ok(self.started(conversation, begun, reading, control, mark));
            }
        }
        if self.may_call_before(conversation, statement) {
            return self.run_calls(conversation, statement, frame, control).await;
        }
        // Other servers refuse a plan after definitions have changed.
        let mut retries = match conversation.open() {
            None if self.shared.store.peers().is_some() => RETRIES,
            _ => 0,
        };
        loop {
            let reading = self.reading_for(conversation, statement).await?;
            match self.begin_reading(frame, statement, &reading, retries > 0).await {
                Ok(Some(begun)) => {
                    return Ok(self.started(conversation, begun, reading, control, mark));
                }
                Ok(None) => return self.run_calls(conversation, statement, frame, control).await,
                Err(error) if error.is_retryable() && retries > 0 => {
                    retries -= 1;
                    tokio::task::yield_now().await;
                }
                Err(error) => return Err(at_literal(error, statement)),
            }
        }
    }

    /// The outcome of a query that has been started.
    fn started(
        &self,
        conversation: &mut Conversation,
        (fields, stream): Begun,
        reading: Reading,
        control: &Control,
        mark: RunningMark,
    ) -> Outcome {
        // Rows that are computed ahead fail their transaction when somebody reads as far.
        let failure = match &self.shared.executors {
            Some(_) => Failure::default(),
            None => conversation.failure(),
        };
        let stream = Box::pin(OutcomeStream::new(stream, control, reading, mark, failure));
        Outcome::Rows(Rows { fields, stream, command: "SELECT", control: control.clone() })
    }

    /// Plans a query and starts it. If it may be repeated, the first rows are awaited here, before the client sees any; also
    /// if a join may turn out to be too large ([`large_joins`]). `None` if functions of the query have statements that are
    /// executed in a transaction.
    async fn begin_reading(
        &self,
        frame: &Frame<'_>,
        statement: &Statement,
        reading: &Reading,
        may_repeat: bool,
    ) -> Result<Option<Begun>> {
        self.context.see(reading, frame);
        if reading.peers().is_none()
            && let Some(begun) = self.begin_kept(frame, statement, reading).await?
        {
            return Ok(Some(begun));
        }
        let planner = frame.planner(reading);
        let query = analysis::query_of(statement)?;
        let (plan, fields) = analysis::plan(frame, &planner, query).await?;
        if frame.site.needs_driver() {
            return Ok(None);
        }
        let physical = planner.physical(&plan).await?;
        let limit = self.shared.store.memory().limit();
        let has_joins = limit.is_some_and(|limit| large_joins::are_possible(&physical, limit));
        let task = frame.engine().task_ctx();
        if !may_repeat && !has_joins {
            return Ok(Some((fields.into(), execute_stream(physical, task)?)));
        }
        let stream = match begun(physical, task).await {
            Err(error) if has_joins && large_joins::have_failed(&error) => {
                let (sorted, task) = planner.physical_with_sorts(&plan).await?;
                begun(sorted, task).await?
            }
            begun => begun?,
        };
        Ok(Some((fields.into(), stream)))
    }

    /// The snapshot of a statement that changes nothing.
    pub(super) async fn reading(&self, conversation: &mut Conversation) -> Result<Reading> {
        Ok(match conversation.statement(self.waiting()).await? {
            Some(open) => open.transaction.reading(),
            None => self.shared.store.reading().await?,
        })
    }

    /// Runs a write in the open transaction, or in one of its own with retries.
    pub(super) async fn write(
        &self,
        conversation: &mut Conversation,
        frame: &Frame<'_>,
        write: Write<'_>,
        control: &Control,
    ) -> Result<Outcome> {
        if self.settings.load().is_read_only() {
            let catalog = conversation.catalog(&self.shared.store);
            if !write.is_lock() && !write.is_temporary(frame, &catalog) {
                return Err(writes_nothing(&write.command(frame)));
            }
        }
        let waiting = self.waiting();
        if let Some(open) = conversation.statement(waiting).await? {
            let mut left = REPETITIONS;
            let transaction = &mut open.transaction;
            return self.apply_waiting(frame, transaction, (write, waiting), &mut left).await;
        }
        // At first without locks: most statements meet nobody.
        // Functions of triggers may do anything, and should not be run twice.
        let may_fire = || self.shared.store.catalog().triggers().next().is_some();
        let mut locks = frame.statement.is_some_and(row_locks::are_in)
            || matches!(write, Write::Change | Write::Copy(_)) && may_fire();
        let mut left = REPETITIONS;
        for _ in 0..RETRIES {
            self.context.held.end();
            let mut transaction = self.shared.store.begin_distributed().await?;
            if waiting.validates {
                transaction.validate_reads();
            }
            let applied = if locks {
                transaction.lock_rows(waiting.party, waiting.patience);
                let waiting = Waiting { repeats: true, ..waiting };
                self.apply_waiting(frame, &mut transaction, (write, waiting), &mut left).await
            } else {
                self.apply(frame, &mut transaction, write).await
            };
            let done = match applied {
                Ok(outcome) => match triggers::settle_all(frame, &mut transaction).await {
                    Ok(()) => committed(transaction, control).await.map(|()| outcome),
                    Err(error) => Err(error),
                },
                Err(error) => Err(error),
            };
            match done {
                Err(error) if error.is_retryable() && left > 0 => tokio::task::yield_now().await,
                // It holds nothing from before, and may begin anew without its client.
                Err(error) if error.state() == SqlState::DeadlockDetected => {}
                done => return done,
            }
            locks = true;
        }
        let message = format!("gave up after {RETRIES} conflicts with other transactions");
        Err(Error::new(SqlState::SerializationFailure, message))
    }

    /// Executes a write, again whenever it meets changes of other transactions, up to as many times as are `left`.
    async fn apply_waiting(
        &self,
        frame: &Frame<'_>,
        transaction: &mut DistributedTransaction,
        (write, waiting): (Write<'_>, Waiting),
        left: &mut usize,
    ) -> Result<Outcome> {
        let held = self.context.held.mark();
        loop {
            let before = transaction.savepoint();
            match self.apply(frame, transaction, write).await {
                Err(error) if *left > 0 => {
                    *left -= 1;
                    self.context.held.go_back(held);
                    rolled_back(transaction, &before, error, waiting).await?;
                }
                done => return done,
            }
        }
    }

    pub(super) async fn apply(
        &self,
        frame: &Frame<'_>,
        transaction: &mut DistributedTransaction,
        write: Write<'_>,
    ) -> Result<Outcome> {
        self.context.see(transaction, frame);
        frame.changed.lock().clear();
        let outcome = match write {
            Write::Role(statement) => return roles::run(frame, transaction, statement),
            Write::Definition(definition) => ddl::run(frame, transaction, definition).await,
            Write::Copy(copy) => copy::from::run(frame, transaction, copy).await,
            Write::Change => match repeated::changed(self, frame, transaction).await {
                Ok(Some(outcome)) => Ok(outcome),
                Ok(None) => Box::pin(dml::statement::run(frame, transaction)).await,
                Err(error) => Err(error),
            },
        };
        let outcome = match outcome {
            Ok(outcome) => settle(frame, transaction).await.map(|()| outcome),
            error => error,
        };
        self.context.see(transaction, frame);
        outcome.map_err(|error| match frame.statement {
            Some(statement) => at_literal(error, statement),
            None => error,
        })
    }

    /// Loads batches into a table, in the open transaction or in one of its own.
    pub(crate) async fn load(
        &self,
        table: &str,
        batches: SendableRecordBatchStream,
        control: &Control,
    ) -> Result<u64> {
        let mut conversation = self.conversation.lock().await;
        let result = tokio::select! {
            biased;
            error = control.ended() => Err(error),
            rows = self.load_into(&mut conversation, table, batches, control) => rows,
        };
        self.functions.settle();
        if result.is_err() {
            conversation.fail();
        }
        result
    }

    /// Executes a statement on a cursor that a function has opened.
    ///
    /// # Errors
    /// 0A000 for other statements, which only the connection to a client can execute, or what is wrong with their types.
    fn of_connection(
        &self,
        conversation: &mut Conversation,
        statement: &Statement,
    ) -> Result<Outcome> {
        if let Some(command) = statement.command()
            && let Some(done) = self.use_opened(command)?
        {
            return Ok(done);
        }
        let wrong = match statement.command() {
            Some(Command::Prepare(prepare)) => {
                self.declared_types(conversation, prepare, &statement.text).err()
            }
            _ => None,
        };
        Err(wrong.unwrap_or_else(requires_connection))
    }

    async fn load_into(
        &self,
        conversation: &mut Conversation,
        table: &str,
        batches: SendableRecordBatchStream,
        control: &Control,
    ) -> Result<u64> {
        conversation.refuse_if_failed()?;
        let frame = self.frame(&[], "");
        if let Some(open) = conversation.statement(self.waiting()).await? {
            let rows = dml::load::run(&frame, &mut open.transaction, table, batches).await?;
            settle(&frame, &mut open.transaction).await?;
            return Ok(rows);
        }
        let mut transaction = self.shared.store.begin_distributed().await?;
        let rows = dml::load::run(&frame, &mut transaction, table, batches).await?;
        triggers::fire_after(&frame, &mut transaction).await?;
        triggers::settle_all(&frame, &mut transaction).await?;
        committed(transaction, control).await?;
        Ok(rows)
    }
}

/// Refuses an unsupported isolation level before the transaction begins.
fn refuse_isolation(modes: &[Mode]) -> Result<()> {
    for mode in modes {
        if let Mode::Isolation(level) = mode {
            Isolation::of(level)?;
        }
    }
    Ok(())
}

/// Looks at the changes of a statement as foreign keys see them, and fires the triggers after them.
async fn settle(frame: &Frame<'_>, transaction: &mut DistributedTransaction) -> Result<()> {
    integrity::settle(frame, transaction).await?;
    triggers::fire_after(frame, transaction).await
}

impl Write<'_> {
    /// Whether it changes rows of temporary tables only.
    fn is_temporary(self, frame: &Frame<'_>, catalog: &Catalog) -> bool {
        match self {
            Self::Change => temporary::is_target(frame, catalog),
            _ => false,
        }
    }

    /// Whether it locks tables or makes a checkpoint, which a read-only transaction may do.
    fn is_lock(self) -> bool {
        matches!(self, Self::Definition(Definition::Lock(_) | Definition::Checkpoint))
    }

    /// Its command: `INSERT`, `CREATE TABLE`.
    fn command(self, frame: &Frame<'_>) -> String {
        match self {
            Self::Change => match frame.statement.and_then(Statement::change) {
                Some(NodeEnum::UpdateStmt(_)) => "UPDATE".to_owned(),
                Some(NodeEnum::DeleteStmt(_)) => "DELETE".to_owned(),
                Some(NodeEnum::MergeStmt(_)) => "MERGE".to_owned(),
                Some(NodeEnum::SelectStmt(_)) => "SELECT".to_owned(),
                _ => "INSERT".to_owned(),
            },
            Self::Copy(_) => "COPY FROM".to_owned(),
            Self::Definition(definition) => definition.tag().to_owned(),
            Self::Role(statement) => statement.command().to_owned(),
        }
    }
}

/// Whether a statement rolls a failed transaction back and needs nothing of it.
fn ends_failed(statement: &Statement) -> bool {
    use Transaction::{Commit, Rollback};
    matches!(
        statement.command(),
        Some(Command::Transaction(Commit { chain: false } | Rollback { chain: false }))
    )
}

/// The error of a statement that only the connection to a client can execute.
fn requires_connection() -> Error {
    Error::unsupported("cursors, COPY FROM STDIN and COPY TO STDOUT require a client connection")
}
