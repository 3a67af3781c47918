//! Calls of procedures for clients of other servers: sessions that stand for theirs.
//!
//! A call is a transaction of its own. Before it commits, it is looked at whether it has left something in its session that
//! later statements of the client could see; then it is rolled back, and the client's own session executes it.

use super::forwarded::row_of;
use super::prepared_call::values_of;
use super::resolved::outputs;
use super::statements::InSession;
use crate::context::cancel::CancelHandle;
use crate::context::running::RunningMark;
use crate::context::transactions::Conversation;
use crate::context::{Inner, Shared};
use crate::forwarding::wire::{self, Answer, Call, Identity};
use crate::session::Session;
use bytes::Bytes;
use executor::Control;
use parking_lot::Mutex;
use sdds::{Key, KeyRange, TransactionId};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store::catalog::TableId;
use values::error::Result;
use values::translate::to_store_error;

/// Sessions that are kept for later calls. They know the plans of their procedures.
const IDLE_MAX: usize = 64;

/// Sessions for clients of other servers.
#[derive(Default)]
pub(crate) struct Guests {
    idle: Mutex<Vec<(Identity, Session)>>,
    running: Mutex<HashMap<TransactionId, CancelHandle>>,
}

/// What a call has come to.
enum Outcome {
    Committed(Option<Vec<u8>>),
    /// It is rolled back: the client's session has to execute it.
    Declined,
}

impl std::fmt::Debug for Guests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guests").field("idle", &self.idle.lock().len()).finish_non_exhaustive()
    }
}

impl Guests {
    /// Executes a call, and returns the encoded result.
    ///
    /// # Errors
    /// This server does not own the key; the call is malformed.
    pub(crate) async fn call(
        &self,
        shared: &Arc<Shared>,
        id: TransactionId,
        (table, key): (TableId, Key),
        call: &[u8],
    ) -> Result<Bytes, store::Error> {
        let range = KeyRange::point(&key);
        if !shared.store.snapshot().table(table).is_some_and(|view| view.owns(&range)) {
            return Err(store::Error::NotOwned { range });
        }
        let answer = self.answer(shared, id, call).await.map_err(to_store_error)?;
        Ok(wire::encode(&answer).map_err(to_store_error)?.into())
    }

    /// Ends a call early, if it runs.
    pub(crate) fn end(&self, id: TransactionId) {
        if let Some(running) = self.running.lock().get(&id) {
            running.cancel();
        }
    }

    async fn answer(&self, shared: &Arc<Shared>, id: TransactionId, call: &[u8]) -> Result<Answer> {
        let call: Call = wire::decode(call)?;
        let session = self.session(shared, &call.identity)?;
        let context = &session.inner().context;
        context.stands_for.store(call.process, Ordering::Relaxed);
        context.presence.activity.lock().client = call.client;
        context.last_values.lock().clone_from(&call.last_values);
        let identity = call.identity.clone();
        self.running.lock().insert(id, session.cancel_handle());
        let _running = Registered { guests: self, id };
        let done = session.on_executor(|session, control| async move {
            Ok(session.inner().run_call_of_guest(&call, &control).await)
        });
        let done = done.await.and_then(|done| done);
        session.announce().await;
        let notices = session.take_notices();
        let notices = notices.iter().map(|notice| (notice.severity, &notice.error));
        let last_values = context.last_values.lock().clone();
        let answer = match done {
            Ok(Outcome::Declined) => Answer::declined(),
            Ok(Outcome::Committed(outputs)) => Answer::new(Ok(outputs), notices, last_values),
            Err(error) => Answer::new(Err(error), notices, last_values),
        };
        let mut idle = self.idle.lock();
        if idle.len() < IDLE_MAX {
            idle.push((identity, session));
        }
        Ok(answer)
    }

    /// A session that nobody uses.
    fn session(&self, shared: &Arc<Shared>, identity: &Identity) -> Result<Session> {
        let mut idle = self.idle.lock();
        if let Some(at) = idle.iter().rposition(|(of, _)| of == identity) {
            return Ok(idle.swap_remove(at).1);
        }
        if idle.len() == IDLE_MAX {
            idle.remove(0);
        }
        drop(idle);
        let session = Session::new(Arc::clone(shared));
        session.log_in(&identity.login_user, identity.is_authenticated);
        let settings = Arc::new(identity.settings()?);
        session.inner().first_settings.store(Arc::clone(&settings));
        session.inner().settings.store(settings);
        Ok(session)
    }
}

/// A running call. Dropping it ends its registration.
struct Registered<'a> {
    guests: &'a Guests,
    id: TransactionId,
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.guests.running.lock().remove(&self.id);
    }
}

impl Inner {
    /// Executes a call for the client of another server in a transaction of its own.
    async fn run_call_of_guest(
        self: &Arc<Self>,
        call: &Call,
        control: &Control,
    ) -> Result<Outcome> {
        let mut conversation = self.conversation.lock().await;
        let catalog = self.shared.store.catalog();
        let Some(function) = catalog.function_by_id(call.procedure) else {
            return Ok(Outcome::Declined);
        };
        let _running = RunningMark::new(self, &format!("CALL {}", function.name));
        let result = tokio::select! {
            biased;
            error = control.ended() => Err(error),
            outcome = self.call_of_guest(&mut conversation, call, control) => outcome,
        };
        if !matches!(result, Ok(Outcome::Committed(_))) {
            conversation.rollback();
        }
        let is_bound = self.context.advisory.are_held();
        self.context.advisory.release_all().await;
        self.functions.settle();
        self.context.requested_settings.lock().clear();
        match result {
            _ if is_bound => Ok(Outcome::Declined),
            result => result,
        }
    }

    async fn call_of_guest(
        &self,
        conversation: &mut Conversation,
        call: &Call,
        control: &Control,
    ) -> Result<Outcome> {
        self.begin_for_statement(conversation).await?;
        let reading = self.reading(conversation).await?;
        let catalog = reading.catalog();
        let kept = match self.function(catalog, call.procedure) {
            Ok(kept) if wire::fingerprint(&kept.prepared.function) == call.fingerprint => kept,
            // Its definition has changed meanwhile.
            _ => return Ok(Outcome::Declined),
        };
        let (_, batches) = distributed::rows_from_bytes(&call.arguments)?;
        let row = batches.iter().find(|batch| batch.num_rows() == 1);
        let mut inside = InSession::new(self, conversation, control, (0, false));
        let arguments = values_of(&kept.prepared.function, row)?;
        let values = inside.execute(&kept, arguments).await?;
        self.check_deferred(conversation).await?;
        self.apply_requested_settings(conversation);
        let is_bound = conversation.changes_session()
            || self.has_temporary(conversation)
            || self.context.advisory.are_held();
        if is_bound {
            return Ok(Outcome::Declined);
        }
        let named = outputs(&kept.prepared.function).map(|(_, parameter)| parameter);
        let row = row_of(named.zip(&values))?;
        let row = row.map(|row| distributed::rows_to_bytes(&row.schema(), &[row])).transpose()?;
        conversation.commit(control).await?;
        Ok(Outcome::Committed(row))
    }

    /// Whether the open transaction has made temporary relations.
    fn has_temporary(&self, conversation: &mut Conversation) -> bool {
        let schema = &self.context.temporary;
        conversation.open().is_some_and(|open| open.transaction.catalog().schema(schema).is_some())
    }
}
