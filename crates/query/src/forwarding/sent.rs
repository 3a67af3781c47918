//! Calls of clients of this server.

use super::wire::{self, Answer, Call, End, Identity};
use crate::context::Inner;
use crate::context::kept_functions::KeptFunction;
use bytes::Bytes;
use catalog_views::session_context::SessionContext;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::ScalarValue;
use executor::Control;
use procedural::Home;
use sdds::{Key, KeyRange};
use std::sync::atomic::Ordering;
use store::catalog::Catalog;
use values::assign::converted;
use values::error::{Error, Result, SqlState};

/// Tries to find the owner of the rows.
const TRIES: usize = 8;

/// How a call has ended that another server has executed: with a row of the output parameters, if there are any.
pub(crate) type Forwarded = Result<Option<RecordBatch>>;

/// Has a procedure executed by the owner of its rows, as a transaction of its own. No transaction is open. `None` if this
/// server is to execute it; nothing has changed then.
pub(crate) async fn call(
    session: &Inner,
    catalog: &Catalog,
    (kept, home): (&KeptFunction, &Home),
    arguments: &RecordBatch,
    control: &Control,
) -> Result<Option<Forwarded>> {
    let store = &session.shared.store;
    let Some(peers) = store.peers().filter(|_| is_free(session, catalog)) else { return Ok(None) };
    let Some(key) = key_of(home, arguments)? else { return Ok(None) };
    let mut message = None;
    for _ in 0..TRIES {
        let here = store.snapshot().table(home.table.id);
        if here.is_none_or(|view| view.owns(&KeyRange::point(&key))) {
            break;
        }
        let message: &Bytes = match &mut message {
            Some(message) => message,
            none => none.insert(encoded(session, kept, arguments)?),
        };
        // Whoever ends the statement waits until the owner says how the call has ended.
        let guard = control.begin_commit()?;
        let ending = Box::pin(control.due());
        match peers.call(&home.table, &key, message.clone(), ending).await {
            Ok(bytes) => {
                let forwarded = settle(session, kept, wire::decode(&bytes)?)?;
                match &forwarded {
                    Some(Ok(_)) => {
                        guard.succeeded();
                        session.context.say("DEBUG", executed_by_owner(kept, home));
                    }
                    Some(Err(error)) if error.state() == SqlState::QueryCanceled => {
                        // The statement knows better why it had to end.
                        drop(guard);
                        control.check()?;
                    }
                    _ => {}
                }
                return Ok(forwarded);
            }
            Err(store::Error::NotOwned { .. }) => {}
            Err(store::Error::SchemaConflict { .. }) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// Whether a session has nothing that its procedures could see and that other servers do not know.
fn is_free(session: &Inner, catalog: &Catalog) -> bool {
    let context = &session.context;
    !session.borrowed.is_lent()
        && !context.advisory.are_held()
        && catalog.schema(&context.temporary).is_none()
}

/// The first key of the rows that a call is about; `None` if it is about none.
fn key_of(home: &Home, arguments: &RecordBatch) -> Result<Option<Key>> {
    let mut columns = Vec::with_capacity(home.parameters.len());
    for (parameter, column) in home.parameters.iter().zip(home.table.key_indices()) {
        let Some(argument) = arguments.columns().get(*parameter) else { return Ok(None) };
        let value = ScalarValue::try_from_array(argument, 0)?;
        if value.is_null() {
            return Ok(None);
        }
        let of = home.table.columns[column].sql_type.arrow();
        // What is no value of the key is for the procedure to refuse.
        let Ok(value) = converted(&value, &of) else { return Ok(None) };
        columns.push(value.to_array_of_size(1)?);
    }
    Ok(store::key::encode_columns(&columns)?.pop())
}

fn encoded(session: &Inner, kept: &KeptFunction, arguments: &RecordBatch) -> Result<Bytes> {
    let context = &session.context;
    let (login_user, is_authenticated) =
        (context.login_user.load(), context.authenticated.load(Ordering::Relaxed));
    let function = &kept.prepared.function;
    let call = Call {
        procedure: function.id,
        fingerprint: wire::fingerprint(function),
        arguments: distributed::rows_to_bytes(
            &arguments.schema(),
            std::slice::from_ref(arguments),
        )?,
        identity: Identity::new(&login_user, is_authenticated, &session.settings.load()),
        process: context.presence.process,
        client: context.presence.activity().client,
        last_values: context.last_values.lock().clone(),
    };
    Ok(wire::encode(&call)?.into())
}

/// Gives a session what its call has done to it. `None` if the session has to execute it itself.
fn settle(session: &Inner, kept: &KeptFunction, mut answer: Answer) -> Result<Option<Forwarded>> {
    let notices = answer.take_notices();
    let forwarded = match answer.end {
        End::Declined => {
            kept.keep_at_session();
            return Ok(None);
        }
        End::Failed(failure) => Err(Error::from(store::Error::Failed(failure))),
        End::Committed(None) => Ok(None),
        End::Committed(Some(outputs)) => {
            Ok(distributed::rows_from_bytes(&outputs)?.1.into_iter().next())
        }
    };
    notices.into_iter().for_each(|(severity, error)| session.context.say(severity, error));
    *session.context.last_values.lock() = answer.last_values;
    Ok(Some(forwarded))
}

fn executed_by_owner(kept: &KeptFunction, home: &Home) -> Error {
    let (function, table) = (&kept.prepared.function.name, &home.table.name);
    let message =
        format!("procedure \"{function}\" was executed by the owner of rows of \"{table}\"");
    Error::new(SqlState::SuccessfulCompletion, message)
}
