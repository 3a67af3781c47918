//! Calls and their results, as servers send them to each other.

use catalog_views::session_context::LastValues;
use catalog_views::settings::Settings;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;
use std::sync::Arc;
use store::Failure;
use store::catalog::{Function, RelationId};
use values::error::{Error, Result, SqlState};
use values::translate::to_store_error;

/// The severities of messages that are no errors.
const SEVERITIES: [&str; 5] = ["DEBUG", "LOG", "INFO", "NOTICE", "WARNING"];

/// A call, and the session that makes it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Call {
    /// The procedure.
    pub(crate) procedure: RelationId,
    /// Of its definition ([`fingerprint`]).
    pub(crate) fingerprint: u64,
    /// A batch of one row: the arguments.
    pub(crate) arguments: Vec<u8>,
    /// Whose session it is.
    pub(crate) identity: Identity,
    /// The process number of the session.
    pub(crate) process: u32,
    /// The address of the client.
    pub(crate) client: Option<SocketAddr>,
    /// The last values of sequences in the session.
    pub(crate) last_values: LastValues,
}

/// What calls of a session have in common, while its settings stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// The user who logged in.
    pub(crate) login_user: String,
    /// Whether the user was authenticated.
    pub(crate) is_authenticated: bool,
    session_user: String,
    role: Option<String>,
    /// The settings that differ from their defaults.
    settings: Vec<(String, Vec<String>)>,
}

impl Identity {
    /// That of a session.
    pub(crate) fn new(login_user: &str, is_authenticated: bool, settings: &Settings) -> Self {
        Self {
            login_user: login_user.to_owned(),
            is_authenticated,
            session_user: settings.session_user.to_string(),
            role: settings.role.as_deref().cloned(),
            settings: changed(settings),
        }
    }

    /// Its settings.
    ///
    /// # Errors
    /// 22023 and 42704: the other server has other settings.
    pub(crate) fn settings(&self) -> Result<Settings> {
        let mut settings = Settings::default();
        settings.session_user = Arc::new(self.session_user.clone());
        settings.role = self.role.clone().map(Arc::new);
        for (name, values) in &self.settings {
            settings.set(name, values)?;
        }
        Ok(settings)
    }
}

/// The settings that differ from their defaults.
fn changed(settings: &Settings) -> Vec<(String, Vec<String>)> {
    let defaults = Settings::default();
    let differs = |(name, value): &(String, String)| {
        // Those of the open transaction: there is none.
        !name.starts_with("transaction_") && defaults.get(name).as_ref() != Some(value)
    };
    let values = |(name, value): (String, String)| match name.as_str() {
        "search_path" => (name, settings.search_path.clone()),
        _ => (name, vec![value]),
    };
    settings.all().into_iter().filter(differs).map(values).collect()
}

/// The result of a call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// How it has ended.
    pub(crate) end: End,
    /// The warnings and notices: the places of their severities, and the messages.
    notices: Vec<(u8, Failure)>,
    /// The last values of sequences in the session.
    pub(crate) last_values: LastValues,
}

/// How a call has ended.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum End {
    /// It is committed: a batch of one row with the values of the output parameters; `None` without any.
    Committed(Option<Vec<u8>>),
    /// It has failed, and is rolled back.
    Failed(Box<Failure>),
    /// It is rolled back: only the session itself can execute it.
    Declined,
}

impl Answer {
    /// A result with its warnings and notices.
    pub(crate) fn new<'a>(
        end: Result<Option<Vec<u8>>>,
        notices: impl Iterator<Item = (&'static str, &'a Error)>,
        last_values: LastValues,
    ) -> Self {
        let end = match end {
            Ok(outputs) => End::Committed(outputs),
            Err(error) => End::Failed(Box::new(failure(error))),
        };
        let place = |severity| SEVERITIES.iter().position(|known| *known == severity);
        let notice = |(severity, error): (&'static str, &Error)| {
            Some((u8::try_from(place(severity)?).ok()?, failure(error.clone())))
        };
        Self { end, notices: notices.filter_map(notice).collect(), last_values }
    }

    /// That of a call that was not executed.
    pub(crate) fn declined() -> Self {
        Self { end: End::Declined, notices: Vec::new(), last_values: LastValues::default() }
    }

    /// The warnings and notices, with their severities.
    pub(crate) fn take_notices(&mut self) -> Vec<(&'static str, Error)> {
        let notices = std::mem::take(&mut self.notices).into_iter();
        let notice = |(place, failure)| {
            let severity = SEVERITIES.get(usize::from(place))?;
            Some((*severity, Error::from(store::Error::Failed(Box::new(failure)))))
        };
        notices.filter_map(notice).collect()
    }
}

fn failure(error: Error) -> Failure {
    match to_store_error(error) {
        store::Error::Failed(failure) => *failure,
        other => Failure { message: other.to_string(), ..Failure::default() },
    }
}

/// A number that differs between different definitions of a procedure.
pub(crate) fn fingerprint(function: &Function) -> u64 {
    let mut hasher = DefaultHasher::new();
    let bytes = postcard::to_allocvec(function).unwrap_or_default();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// Encodes a call or a result.
///
/// # Errors
/// XX000: it cannot be written.
pub(crate) fn encode(value: &impl Serialize) -> Result<Vec<u8>> {
    let cannot =
        |error| Error::new(SqlState::InternalError, format!("a call cannot be sent: {error}"));
    postcard::to_allocvec(value).map_err(cannot)
}

/// Decodes a call or a result.
///
/// # Errors
/// 08P01: it is malformed.
pub(crate) fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T> {
    postcard::from_bytes(bytes)
        .map_err(|_| distributed::out_of_range("a call of a procedure cannot be read"))
}
