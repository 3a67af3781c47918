//! Prepared statements: parsed once. Those on rows by their key are also recognised once, for the short path.

use super::describe::described;
use super::{Description, Session};
use crate::context::outcome::Outcome;
use crate::context::running::ShortWait;
use crate::context::transactions::Waiting;
use crate::repeated::is_short_allowed;
use crate::short::{Given, Short, ready};
use catalog_views::session_context::TransactionStatus;
use catalog_views::settings::Settings;
use chrono::Utc;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::concat_batches;
use datafusion::common::ScalarValue;
use futures::TryStreamExt;
use grammar::tree::NodeEnum;
use keyed::Constants;
use parking_lot::Mutex;
use parser::Statement;
use parser::errors::at_literal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::catalog::{Catalog, SqlType};
use store::{DistributedTransaction, Reading};
use values::error::{Error, Result, SqlState};
use values::field::Field;

/// A statement that is executed many times.
pub struct Prepared {
    session: Session,
    statement: Statement,
    /// The statement with the types of its parameters, once it is described, if they have types of users.
    typed: Mutex<Option<Statement>>,
    /// Whether a parameter is declared with another type than the short form needs, whose values look the same.
    is_planned: AtomicBool,
    short: Mutex<Option<Recognised>>,
    /// The constants that it asks for; `None` if it asks for anything else.
    constants: Option<Constants>,
    /// The answer to a query of constants, under these settings.
    answer: Mutex<Option<Answer>>,
    /// What a client was told of a statement that changes rows and returns columns.
    promised: Mutex<Option<Promised>>,
}

/// The catalog under which a statement was described, the declared types of its parameters, and the types of its columns.
type Promised = (Arc<Catalog>, Vec<Option<SqlType>>, Vec<SqlType>);

/// Settings, and the columns and the row that are the answer under them.
type Answer = (Arc<Settings>, Arc<[Field]>, RecordBatch);

/// The short form of a statement under a catalog and settings, which also say whose privileges and which schemas count;
/// `None` where it has none.
type Recognised = (Arc<Catalog>, Arc<Settings>, Option<Arc<Short>>);

impl Prepared {
    pub(crate) fn new(session: Session, statement: Statement) -> Self {
        let constants = match statement.rows() {
            Some(NodeEnum::SelectStmt(query)) => Constants::recognise(query),
            _ => None,
        };
        let (typed, is_planned, short, answer, promised) = Default::default();
        Self { session, statement, typed, is_planned, short, constants, answer, promised }
    }

    /// The parameters and result columns of the statement; `given` are the parameter types that the client declares.
    ///
    /// # Errors
    /// As planning the statement.
    pub async fn describe(&self, given: &[Option<SqlType>]) -> Result<Description> {
        let catalog = self.catalog();
        let described = match self.describe_short(given) {
            Some(description) => description,
            None => self.session.describe(&self.statement, given).await?,
        };
        let is_query = matches!(self.statement.rows(), Some(NodeEnum::SelectStmt(_)) | None);
        if let (Some(fields), Some(catalog), false) = (&described.fields, catalog, is_query) {
            let types = fields.iter().map(|field| field.sql_type.clone()).collect();
            *self.promised.lock() = Some((catalog, given.to_vec(), types));
        }
        let given = given.iter().chain(std::iter::repeat(&None));
        let types = described.parameters.iter().zip(given);
        let is_own = |of: &SqlType| of.user_type().is_some() || of.system_type().is_some();
        let types: Vec<Option<SqlType>> =
            types.map(|(of, given)| given.clone().or(is_own(of).then(|| of.clone()))).collect();
        let is_hidden = |of: &SqlType| is_own(of) || of.is_represented_as_another();
        if types.iter().flatten().any(is_hidden) {
            *self.typed.lock() = Some(self.statement.clone().with_parameter_types(&types));
        }
        Ok(described)
    }

    /// The catalog that the statement would see now. `None` while another statement runs.
    fn catalog(&self) -> Option<Arc<Catalog>> {
        let inner = self.session.inner();
        Some(inner.conversation.try_lock()?.catalog(&inner.shared.store))
    }

    /// Refuses a change that returns other columns than the client was told: the client would think that it has failed.
    ///
    /// # Errors
    /// 0A000.
    async fn keep_promise(&self) -> Result<()> {
        let Some((catalog, given, types)) = self.promised.lock().clone() else { return Ok(()) };
        if self.catalog().is_none_or(|now| Arc::ptr_eq(&now, &catalog)) {
            return Ok(());
        }
        let fields = self.describe(&given).await?.fields.unwrap_or_default();
        let is_same = |(field, of): (&Field, &SqlType)| field.sql_type.is_same(of);
        if fields.len() == types.len() && fields.iter().zip(&types).all(is_same) {
            return Ok(());
        }
        *self.promised.lock() = Some((catalog, given, types));
        Err(Error::new(SqlState::FeatureNotSupported, "cached plan must not change result type"))
    }

    /// The statement as it is run, with the present definitions of its parameters' types.
    fn to_run(&self) -> Statement {
        let typed = self.typed.lock().clone();
        let Some(statement) = typed else { return self.statement.clone() };
        let is_of_users = |of: &SqlType| of.user_type().is_some();
        if !statement.parameter_types().iter().flatten().any(is_of_users) {
            return statement;
        }
        let Some(catalog) = self.catalog() else { return statement };
        let types = statement.parameter_types().iter();
        let types: Vec<Option<SqlType>> =
            types.map(|of| of.as_ref().map(|of| catalog.renewed(of))).collect();
        statement.with_parameter_types(&types)
    }

    /// As [`Self::describe`], a statement with a short form.
    fn describe_short(&self, given: &[Option<SqlType>]) -> Option<Description> {
        let inner = self.session.inner();
        let mut conversation = inner.conversation.try_lock()?;
        let settings = inner.settings.load_full();
        let short = match (conversation.status(), conversation.open()) {
            (TransactionStatus::Failed, _) => return None,
            (_, Some(open)) => {
                let transaction = &open.transaction;
                self.recognised(&settings, transaction.catalog(), || transaction.reading())
            }
            (_, None) => {
                let store = &inner.shared.store;
                self.recognised(&settings, &store.catalog(), || store.snapshot().reading(None))
            }
        };
        let short = short.ok()??;
        self.is_planned.store(short.is_misled(given), Ordering::Relaxed);
        Some(described(&short, given)).filter(|_| !short.is_misled(given))
    }

    /// Runs the statement with values for `$1`, `$2`, ...
    ///
    /// # Errors
    /// As [`Session::run`].
    pub async fn execute(&self, parameters: &[ScalarValue]) -> Result<Outcome> {
        self.keep_promise().await?;
        let placed = |error| at_literal(error, &self.statement);
        if let Some(outcome) = self.execute_short(parameters).await.map_err(placed)? {
            return Ok(outcome);
        }
        let Some(constants) = self.constants.as_ref().filter(|_| self.may_be_constant()) else {
            return Box::pin(self.session.run(&self.to_run(), parameters)).await;
        };
        let settings = self.session.inner().settings.load_full();
        if let Some((under, fields, earlier)) = &*self.answer.lock()
            && Arc::ptr_eq(under, &settings)
            && let Some(answer) = constants.answer(earlier, parameters)
        {
            return ready(fields, answer);
        }
        match Box::pin(self.session.run(&self.to_run(), parameters)).await? {
            Outcome::Rows(rows) => {
                let (fields, schema) = (rows.fields, rows.stream.schema());
                let batches: Vec<_> = rows.stream.try_collect().await?;
                let answer = concat_batches(&schema, &batches)?;
                *self.answer.lock() = Some((settings, fields.clone(), answer.clone()));
                ready(&fields, answer)
            }
            done => Ok(done),
        }
    }

    /// Whether the session's state allows an earlier answer to a query of constants. In a cluster, a server that is cut off
    /// answers nothing.
    fn may_be_constant(&self) -> bool {
        let inner = self.session.inner();
        let has_failed = inner.conversation.status() == TransactionStatus::Failed;
        is_short_allowed(&inner.settings.load())
            && !has_failed
            && inner.shared.store.peers().is_none()
    }

    /// The short path: a row by its key, without the engine's planner.
    async fn execute_short(&self, parameters: &[ScalarValue]) -> Result<Option<Outcome>> {
        let inner = self.session.inner();
        let Some(mut conversation) = inner.conversation.try_lock() else { return Ok(None) };
        inner.borrowed.begin(&inner.settings);
        let settings = inner.settings.load_full();
        if !is_short_allowed(&settings) || self.is_planned.load(Ordering::Relaxed) {
            return Ok(None);
        }
        match conversation.status() {
            TransactionStatus::Failed => Ok(None),
            TransactionStatus::Open if self.statement.rows().is_none() => Ok(None),
            TransactionStatus::Open => {
                let waiting = inner.waiting();
                let outcome = match conversation.statement(waiting).await {
                    Ok(Some(open)) => {
                        let mut wait = ShortWait::new(inner, &self.statement.text, waiting);
                        let (moment, repeats) =
                            (inner.conversation.started(), inner.waiting().repeats);
                        let given = Given { parameters, moment, repeats };
                        let transaction = &mut open.transaction;
                        self.execute_in(&settings, transaction, given, &mut wait).await
                    }
                    Ok(None) => Ok(None),
                    Err(error) => Err(error),
                };
                outcome.inspect_err(|_| conversation.fail())
            }
            TransactionStatus::Idle => {
                // The catalog of this server is enough to recognise the statement. The owner checks the version again.
                let store = &inner.shared.store;
                let catalog = store.catalog();
                let tables = || store.snapshot().reading(None);
                let recognised = self.recognised(&settings, &catalog, tables)?;
                let Some(short) = recognised else { return Ok(None) };
                let waiting = Waiting { repeats: true, ..inner.waiting() };
                let mut wait = ShortWait::new(inner, &self.statement.text, waiting);
                let given = Given { parameters, moment: Some(Utc::now()), repeats: true };
                let outcome = short.execute(store, &catalog, given, &mut wait).await;
                if settings.is_adjusting() {
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

    /// The short path inside a transaction: a failed statement changes nothing.
    async fn execute_in(
        &self,
        settings: &Arc<Settings>,
        transaction: &mut DistributedTransaction,
        given: Given<'_>,
        wait: &mut ShortWait<'_>,
    ) -> Result<Option<Outcome>> {
        let recognised =
            self.recognised(settings, transaction.catalog(), || transaction.reading())?;
        let Some(short) = recognised else { return Ok(None) };
        short.execute_waiting(transaction, given, wait).await
    }

    /// The statement's short form, found once for each catalog and settings.
    fn recognised(
        &self,
        settings: &Arc<Settings>,
        catalog: &Arc<Catalog>,
        tables: impl FnOnce() -> Reading,
    ) -> Result<Option<Arc<Short>>> {
        let mut known = self.short.lock();
        match &*known {
            Some((of, under, short))
                if Arc::ptr_eq(of, catalog) && Arc::ptr_eq(under, settings) =>
            {
                Ok(short.clone())
            }
            _ => {
                let inner = self.session.inner();
                let (tables, frame) = (tables(), inner.frame_of(&[], &self.statement));
                inner.context.see(&tables, &frame);
                let short = match self.statement.rows() {
                    Some(rows) => Short::recognise(&frame, &tables, rows)?.map(Arc::new),
                    None => None,
                };
                let (catalog, settings) = (Arc::clone(tables.catalog()), Arc::clone(settings));
                *known = Some((catalog, settings, short.clone()));
                Ok(short)
            }
        }
    }
}
