//! DO, and calls of functions in PL/pgSQL, whose statements a session runs.

mod call;
mod forwarded;
pub(crate) mod guests;
mod in_transaction;
mod prepared_call;
mod procedures;
mod resolved;
mod statements;
mod triggered;

pub(super) use triggered::run_trigger;

use crate::analysis::calls::in_statement;
use crate::context::outcome::{Outcome, Rows, Tag};
use crate::context::transactions::Conversation;
use crate::context::{Frame, Inner};
use datafusion::physical_plan::memory::MemoryStream;
use executor::Control;
use grammar::tree::NodeEnum;
use parser::Statement;
use parser::commands::{Command, Do};
use procedural::{StatementHost, calls_any, check_block};
use statements::InSession;
use std::sync::Arc;
use values::error::{Error, Result};

/// The name of a DO block as a label.
const INLINE: &str = "inline_code_block";

impl Inner {
    /// Runs a DO block or a CALL.
    pub(super) async fn run_procedural(
        &self,
        conversation: &mut Conversation,
        frame: &Frame<'_>,
        command: &Command,
        control: &Control,
    ) -> Result<Outcome> {
        match (command, frame.statement) {
            (Command::Do(block), _) => self.run_do(conversation, frame, block, control).await,
            (Command::Call(call), Some(statement)) => {
                self.run_call(conversation, frame, (statement, call), control).await
            }
            _ => Err(Error::unsupported("this form of the statement is not supported")),
        }
    }

    /// Runs a DO block in the open transaction, or in one of its own.
    async fn run_do(
        &self,
        conversation: &mut Conversation,
        frame: &Frame<'_>,
        block: &Do,
        control: &Control,
    ) -> Result<Outcome> {
        let tree = plpgsql::parse(&block.source)
            .map_err(|error| in_statement(error, frame.text, &block.source))?;
        let is_own = self.begin_own(conversation).await?;
        let place = (0, is_own);
        let catalog = InSession::new(self, conversation, control, place).catalog();
        if let Err(error) = check_block(&catalog, frame.path(), &tree, INLINE) {
            let refused = Err(in_statement(error, frame.text, &block.source));
            return self.end_own(conversation, is_own, refused, control).await;
        }
        let mut host = StatementHost::new(InSession::new(self, conversation, control, place));
        let of = plpgsql::Called { name: INLINE, signature: INLINE, id: 0 };
        let done = plpgsql::run(&tree, of, Vec::new(), &[], &mut host).await;
        let done = done.map(|_| Outcome::Done(Tag::plain("DO")));
        self.end_own(conversation, is_own, done, control).await
    }

    /// Whether a query without FROM calls a function that is no SQL: it may be called before the query.
    pub(super) fn may_call_before(
        &self,
        conversation: &mut Conversation,
        statement: &Statement,
    ) -> bool {
        let catalog = conversation.catalog(&self.shared.store);
        let is_called = |name: &str| {
            let mut functions = catalog.functions();
            functions.any(|function| function.name == name && function.language != "sql")
        };
        let Some(NodeEnum::SelectStmt(select)) = statement.query() else { return false };
        select.from_clause.is_empty()
            && statement.query().is_some_and(|query| calls_any(query, is_called))
    }

    /// Runs a query that calls functions whose statements are executed in the transaction.
    pub(super) async fn run_calls(
        &self,
        conversation: &mut Conversation,
        statement: &Statement,
        frame: &Frame<'_>,
        control: &Control,
    ) -> Result<Outcome> {
        let is_own = self.begin_own(conversation).await?;
        let mut inside = InSession::new(self, conversation, control, (0, false));
        let given = (frame.names, frame.parameters);
        let done = match self.reading(inside.conversation).await {
            Ok(reading) => inside.query(reading, statement, given, None).await,
            Err(error) => Err(error),
        };
        let outcome = done.and_then(|done| {
            let fields = done.fields.unwrap_or_default();
            let schema = done
                .schema
                .unwrap_or_else(|| Arc::new(datafusion::arrow::datatypes::Schema::empty()));
            let stream = MemoryStream::try_new(done.batches, schema, None)?;
            Ok(Outcome::Rows(Rows::ready(fields, stream, "SELECT")))
        });
        self.end_own(conversation, is_own, outcome, control).await
    }

    /// Begins a transaction, unless one is open.
    async fn begin_own(&self, conversation: &mut Conversation) -> Result<bool> {
        let is_own = conversation.open().is_none();
        if is_own {
            self.begin_for_statement(conversation).await?;
        }
        Ok(is_own)
    }

    /// Begins a transaction that ends with the statement, and has the advisory locks that are taken in it.
    async fn begin_for_statement(&self, conversation: &mut Conversation) -> Result<()> {
        conversation.begin_for_statement(&self.shared.store).await?;
        self.context.advisory.use_transaction(conversation.lock_owner(self.waiting()));
        Ok(())
    }

    /// Ends what [`Self::begin_own`] has begun.
    async fn end_own(
        &self,
        conversation: &mut Conversation,
        is_own: bool,
        done: Result<Outcome, Error>,
        control: &Control,
    ) -> Result<Outcome> {
        if is_own && done.is_err() {
            conversation.rollback();
        } else if is_own {
            self.check_deferred(conversation).await?;
            conversation.commit(control).await?;
        }
        done
    }
}
