//! Blocks and their handlers.

use super::host::Host;
use super::quick::{Inside, Quick};
use super::scope::{Content, Slot};
use super::{Flow, Machine, Running};
use crate::tree::{Block, Condition, Handler, Statement};
use values::error::{Error, Result, SqlState};

impl<H: Host> Machine<'_, H> {
    /// Runs a block. An error of its statements rolls back what they have changed, if there is a handler for it.
    pub(super) async fn block(&mut self, block: &Block) -> Result<Flow<H::Value>> {
        let depth = self.scopes.depth();
        self.scopes.open(block.label.clone());
        let flow = self.opened(block).await;
        self.scopes.close_to(depth);
        flow.map(|flow| behind(block, flow))
    }

    async fn opened(&mut self, block: &Block) -> Result<Flow<H::Value>> {
        for declaration in &block.declarations {
            let declared = self.declare(declaration).await;
            self.noted_at(declared, declaration.line)?;
        }
        let reached = self.quickly(&block.body);
        self.body(block, reached).await
    }

    /// A block without declarations, for as long as it only computes.
    pub(super) fn quick_block<'a>(&mut self, block: &'a Block) -> Result<Quick<'a, H::Value>> {
        let depth = self.scopes.depth();
        self.scopes.open(block.label.clone());
        let reached = self.quickly(&block.body);
        self.scopes.close_to(depth);
        match reached {
            Ok(Quick::Flow(flow)) => Ok(Quick::Flow(behind(block, flow))),
            Err(error) if block.handlers.is_empty() => Err(error),
            reached => Ok(Quick::At(0, Inside::Block(block, Box::new(reached)))),
        }
    }

    /// Runs the rest of a block without declarations that came so far.
    pub(super) async fn rest_of_block<'a>(
        &mut self,
        block: &'a Block,
        reached: Result<Quick<'a, H::Value>>,
    ) -> Result<Flow<H::Value>> {
        let depth = self.scopes.depth();
        self.scopes.open(block.label.clone());
        let flow = self.body(block, reached).await;
        self.scopes.close_to(depth);
        flow.map(|flow| behind(block, flow))
    }

    /// Runs the rest of the statements of a block, and its handlers.
    async fn body<'a>(
        &mut self,
        block: &'a Block,
        reached: Result<Quick<'a, H::Value>>,
    ) -> Result<Flow<H::Value>> {
        let depth = self.scopes.depth();
        let (done, savepoint) = match reached {
            Ok(Quick::Flow(flow)) => return Ok(flow),
            Ok(reached) if block.handlers.is_empty() => {
                return self.rest(&block.body, reached).await;
            }
            // What only computes has changed nothing that is to be rolled back.
            Err(error) => (Err(error), None),
            Ok(reached) => {
                let savepoint = self.host.savepoint().await?;
                self.protected += 1;
                let done = self.rest(&block.body, reached).await;
                self.protected -= 1;
                (done, Some(savepoint))
            }
        };
        let error = match done {
            Ok(flow) => return Ok(flow),
            Err(error) => error,
        };
        self.scopes.close_to(depth);
        let handles = |handler: &&Handler| {
            handler.conditions.iter().any(|condition| is_meant(condition, error.state()))
        };
        let Some(handler) = block.handlers.iter().find(handles) else { return Err(error) };
        let error = self.located(error);
        if let Some(savepoint) = savepoint {
            self.host.roll_back(savepoint).await?;
        }
        self.handle(handler, error).await
    }

    /// Runs a handler, in which SQLSTATE and SQLERRM are variables.
    async fn handle(&mut self, handler: &Handler, error: Error) -> Result<Flow<H::Value>> {
        let state = error.state().code().to_owned();
        for (name, text) in [("sqlstate", state), ("sqlerrm", error.message().to_owned())] {
            let value = self.host.of_text(Some(text));
            let content = Content::Value { of: "text".into(), value };
            let name = name.to_owned();
            self.scopes.declare(Slot { is_constant: true, ..Slot::new(name, content) });
        }
        self.errors.push(error);
        let flow = self.all(&handler.body).await;
        self.errors.pop();
        flow
    }

    /// Runs statements.
    pub(super) fn all<'a>(&'a mut self, statements: &'a [Statement]) -> Running<'a, H::Value> {
        Box::pin(async move {
            match self.quickly(statements)? {
                Quick::Flow(flow) => Ok(flow),
                reached => self.rest(statements, reached).await,
            }
        })
    }
}

/// Where a block leads.
fn behind<V>(block: &Block, flow: Flow<V>) -> Flow<V> {
    match flow {
        Flow::Exit(Some(label)) if block.label.as_ref() == Some(&label) => Flow::Next,
        flow => flow,
    }
}

/// Whether a condition of a handler is for errors of this kind.
fn is_meant(condition: &Condition, state: SqlState) -> bool {
    match condition {
        Condition::Others => !matches!(
            state,
            SqlState::QueryCanceled | SqlState::AdminShutdown | SqlState::AssertFailure
        ),
        Condition::State(wanted) => match wanted.strip_suffix("000") {
            Some(class) => state.code().starts_with(class),
            None => state.code() == wanted,
        },
    }
}
