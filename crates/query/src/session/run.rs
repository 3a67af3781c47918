//! The life of a statement: gate, dispatch, and what happens to the transaction when it fails.

use super::outcome_stream::{OutcomeStream, RunningMark, ending};
use super::transactions::Conversation;
use super::{Frame, Inner, Notice, TransactionStatus};
use crate::database::Running;
use crate::error::{Error, Result, SqlState};
use crate::outcome::{Field, Outcome, Rows, Tag};
use crate::parse::Statement;
use crate::planner::relations::{Tables, fold};
use crate::planner::unique_names::shown;
use crate::{copy, ddl, dml, types};
use datafusion::common::ScalarValue;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::sql::sqlparser::ast::{Statement as Ast, TransactionAccessMode, TransactionMode};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;
use store::Transaction;
use tokio_util::sync::CancellationToken;

/// A statement outside a transaction is run again so many times when others write the same rows.
const RETRIES: usize = 64;

impl Inner {
    /// Runs one statement.
    pub(crate) async fn run(
        &self,
        me: &Arc<Self>,
        statement: &Statement,
        parameters: &[ScalarValue],
    ) -> Result<Outcome> {
        let mut conversation = self.conversation.lock().await;
        if self.stream_failed.swap(false, Ordering::Relaxed) {
            conversation.fail();
        }
        let token = self.cancellation.begin();
        let timeout = self.settings.load().statement_timeout;
        let mark = self.mark(me, &statement.text);
        let result = tokio::select! {
            biased;
            error = ending(token.clone(), timeout) => Err(error),
            outcome = self.dispatch(&mut conversation, statement, parameters, token, mark) => outcome,
        };
        if result.is_err() {
            conversation.fail();
        }
        result
    }

    fn mark(&self, me: &Arc<Self>, text: &str) -> RunningMark {
        let statement = self.shared.next_number();
        let running =
            Running { session: self.number, text: text.to_owned(), started: SystemTime::now() };
        self.shared.running.lock().insert(statement, running);
        RunningMark { session: Arc::clone(me), statement }
    }

    async fn dispatch(
        &self,
        conversation: &mut Conversation,
        statement: &Statement,
        parameters: &[ScalarValue],
        token: CancellationToken,
        mark: RunningMark,
    ) -> Result<Outcome> {
        if let Some(outcome) = self.control(conversation, &statement.ast)? {
            return Ok(outcome);
        }
        conversation.refuse_if_failed()?;
        let frame = self.frame(parameters, &statement.text);
        match &statement.ast {
            Ast::Query(query) if query_writes(query).is_some() => {
                Err(Error::unsupported("INSERT, UPDATE and DELETE inside WITH are not supported"))
            }
            Ast::Query(_) => {
                self.read(conversation, &frame, statement, "SELECT", token, mark).await
            }
            Ast::Explain { statement: inner, .. } if matches!(**inner, Ast::Query(_)) => {
                self.read(conversation, &frame, statement, "EXPLAIN", token, mark).await
            }
            Ast::Explain { .. } => Err(Error::unsupported("EXPLAIN is for queries")),
            Ast::Set(set) => self.set(&frame, set),
            Ast::ShowVariable { variable } => self.show(variable),
            Ast::Reset(reset) => self.reset(reset),
            Ast::Copy { to: true, .. } => {
                let snapshot = self.shared.store.snapshot();
                let tables: &dyn Tables = match conversation.open() {
                    Some(open) => &open.transaction,
                    None => &snapshot,
                };
                self.names.see(tables, &frame);
                copy::to::run(&frame, tables, &statement.ast).await
            }
            _ => self.write(conversation, &frame, &statement.ast).await,
        }
    }

    /// Statements that steer the transaction itself.
    fn control(&self, conversation: &mut Conversation, ast: &Ast) -> Result<Option<Outcome>> {
        let tag = match ast {
            Ast::StartTransaction { modes, .. } => {
                let read_only =
                    modes.contains(&TransactionMode::AccessMode(TransactionAccessMode::ReadOnly));
                if !conversation.begin(self.shared.store.begin(), read_only)? {
                    self.warn(
                        SqlState::ActiveSqlTransaction,
                        "there is already a transaction in progress",
                    );
                }
                "BEGIN"
            }
            Ast::Commit { .. } => {
                let was = conversation.status();
                self.warn_without_transaction(conversation);
                match conversation.commit()? {
                    false if was == TransactionStatus::Failed => "ROLLBACK",
                    _ => "COMMIT",
                }
            }
            Ast::Rollback { savepoint: None, .. } => {
                self.warn_without_transaction(conversation);
                conversation.rollback();
                "ROLLBACK"
            }
            Ast::Rollback { savepoint: Some(name), .. } => {
                conversation.rollback_to(&fold(name))?;
                "ROLLBACK"
            }
            Ast::Savepoint { name } => {
                conversation.refuse_if_failed()?;
                conversation.savepoint(fold(name))?;
                "SAVEPOINT"
            }
            Ast::ReleaseSavepoint { name } => {
                conversation.refuse_if_failed()?;
                conversation.release(&fold(name))?;
                "RELEASE"
            }
            _ => return Ok(None),
        };
        Ok(Some(Outcome::Done(Tag::plain(tag))))
    }

    fn warn_without_transaction(&self, conversation: &Conversation) {
        if conversation.status() == TransactionStatus::Idle || conversation.is_implicit() {
            self.warn(SqlState::NoActiveSqlTransaction, "there is no transaction in progress");
        }
    }

    /// Leaves a warning for the client.
    pub(crate) fn warn(&self, state: SqlState, message: impl Into<String>) {
        self.notices.lock().push(Notice { severity: "WARNING", error: Error::new(state, message) });
    }

    /// Leaves a notice for the client, with a detail.
    pub(crate) fn notice_with(&self, state: SqlState, message: String, detail: String) {
        let error = Error::new(state, message).with_detail(detail);
        self.notices.lock().push(Notice { severity: "NOTICE", error });
    }

    /// Leaves a notice for the client.
    pub(crate) fn notice(&self, state: SqlState, message: impl Into<String>) {
        self.notices.lock().push(Notice { severity: "NOTICE", error: Error::new(state, message) });
    }

    async fn read(
        &self,
        conversation: &mut Conversation,
        frame: &Frame<'_>,
        statement: &Statement,
        command: &'static str,
        token: CancellationToken,
        mark: RunningMark,
    ) -> Result<Outcome> {
        let snapshot = self.shared.store.snapshot();
        let (tables, snapshot): (&dyn Tables, _) = match conversation.open() {
            Some(open) => (&open.transaction, None),
            None => (&snapshot, Some(snapshot.clone())),
        };
        self.names.see(tables, frame);
        let mut planner = frame.planner(tables);
        let plan = planner.plan_statement(statement.ast.clone()).await?;
        let plan = planner.shown(plan)?;
        let physical = planner.physical(&plan).await?;
        let fields = fields_of(&plan);
        let stream = execute_stream(Arc::clone(&physical), frame.engine.task_ctx())?;
        let schema = stream.schema();
        let ending = ending(token, frame.settings.statement_timeout);
        let stream =
            OutcomeStream { schema, rows: Some(stream), ending, _snapshot: snapshot, mark };
        Ok(Outcome::Rows(Rows { fields, stream: Box::pin(stream), command }))
    }

    /// Runs a write: in the open transaction, or in one of its own, again when others were first.
    async fn write(
        &self,
        conversation: &mut Conversation,
        frame: &Frame<'_>,
        ast: &Ast,
    ) -> Result<Outcome> {
        if let Some(open) = conversation.open() {
            if open.read_only {
                let message = "cannot write in a read-only transaction";
                return Err(Error::new(SqlState::ReadOnlySqlTransaction, message));
            }
            let before = open.transaction.savepoint();
            let result = self.apply(frame, &mut open.transaction, ast).await;
            if result.is_err() {
                open.transaction.rollback_to(&before);
            }
            return result;
        }
        for _ in 0..RETRIES {
            let mut transaction = self.shared.store.begin();
            let outcome = self.apply(frame, &mut transaction, ast).await?;
            match transaction.commit() {
                Ok(_) => return Ok(outcome),
                Err(error) if error.is_retryable() => tokio::task::yield_now().await,
                Err(error) => return Err(error.into()),
            }
        }
        let message = format!("gave up after {RETRIES} conflicts with other transactions");
        Err(Error::new(SqlState::SerializationFailure, message))
    }

    async fn apply(
        &self,
        frame: &Frame<'_>,
        transaction: &mut Transaction,
        ast: &Ast,
    ) -> Result<Outcome> {
        self.names.see(transaction, frame);
        let outcome = match ast {
            Ast::Insert(insert) => dml::insert::run(frame, transaction, insert).await,
            Ast::Update(update) => dml::update::run(frame, transaction, update).await,
            Ast::Delete(delete) => dml::delete::run(frame, transaction, delete).await,
            Ast::Copy { to: false, .. } => copy::from::run(frame, transaction, ast).await,
            other => ddl::run(frame, transaction, other).await,
        };
        self.names.see(transaction, frame);
        outcome
    }

    /// Loads batches into a table, in the open transaction or in one of its own.
    pub(crate) async fn load(
        &self,
        table: &str,
        batches: SendableRecordBatchStream,
    ) -> Result<u64> {
        let mut conversation = self.conversation.lock().await;
        let token = self.cancellation.begin();
        let timeout = self.settings.load().statement_timeout;
        let result = tokio::select! {
            biased;
            error = ending(token, timeout) => Err(error),
            rows = self.load_into(&mut conversation, table, batches) => rows,
        };
        if result.is_err() {
            conversation.fail();
        }
        result
    }

    async fn load_into(
        &self,
        conversation: &mut Conversation,
        table: &str,
        batches: SendableRecordBatchStream,
    ) -> Result<u64> {
        conversation.refuse_if_failed()?;
        let frame = self.frame(&[], "");
        if let Some(open) = conversation.open() {
            return dml::load::run(&frame, &mut open.transaction, table, batches).await;
        }
        let mut transaction = self.shared.store.begin();
        let rows = dml::load::run(&frame, &mut transaction, table, batches).await?;
        transaction.commit()?;
        Ok(rows)
    }
}

/// The columns that a plan gives.
pub(crate) fn fields_of(plan: &LogicalPlan) -> Vec<Field> {
    let field = |field: &Arc<datafusion::arrow::datatypes::Field>| Field {
        name: shown(field.name()).to_owned(),
        sql_type: types::of_field(field),
    };
    plan.schema().fields().iter().map(field).collect()
}

/// Starts a plan whose rows a write takes in.
pub(crate) fn start(
    frame: &Frame<'_>,
    plan: Arc<dyn ExecutionPlan>,
) -> Result<SendableRecordBatchStream> {
    Ok(execute_stream(plan, frame.engine.task_ctx())?)
}

/// A statement that writes, inside a query.
fn query_writes(query: &datafusion::sql::sqlparser::ast::Query) -> Option<()> {
    use datafusion::sql::sqlparser::ast::SetExpr;
    let writes = |body: &SetExpr| {
        matches!(
            body,
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_)
        )
    };
    let in_with = query.with.iter().flat_map(|with| &with.cte_tables);
    let any = writes(&query.body) || in_with.into_iter().any(|cte| writes(&cte.query.body));
    any.then_some(())
}

impl super::Names {
    /// Lets functions see what the statement sees.
    pub(crate) fn see(&self, tables: &dyn Tables, frame: &Frame<'_>) {
        self.catalog.store(Arc::clone(tables.catalog()));
        self.search_path.store(Arc::new(frame.settings.search_path.clone()));
    }
}
