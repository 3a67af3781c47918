//! Settings: the ones that exist ([`known`]), and the values that a session has for them ([`Settings`]).

pub mod cluster;
pub mod isolation;
pub mod known;

use isolation::Isolation;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::catalog::DEFAULT_SCHEMA;
use values::error::{Error, Result, SqlState};
use values::style::Style;

/// The user of a session in which nobody has logged in.
pub(crate) const DEFAULT_USER: &str = "pando";

/// A session's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Who the session belongs to, or pretends to belong to.
    pub session_user: Arc<String>,
    /// Whose rights statements have, where those are not the session's user's.
    pub role: Option<Arc<String>>,
    /// Where unqualified names lead.
    pub search_path: Vec<String>,
    /// After how long a statement is cancelled.
    pub statement_timeout: Option<Duration>,
    /// After how long without a statement a session inside a transaction ends.
    pub idle_in_transaction_timeout: Option<Duration>,
    /// After how long without a statement a session ends.
    pub idle_timeout: Option<Duration>,
    /// Whether the transaction that is open may not write; `None` where none says.
    read_only: Option<bool>,
    /// Whether transactions may not write that do not say.
    read_only_by_default: bool,
    /// The isolation that the open transaction has asked for; `None` where it asks for none.
    isolation: Option<Isolation>,
    /// The isolation of transactions that ask for none.
    isolation_by_default: Isolation,
    /// What is not as it was at first and has no place above, and the settings of programs (`app.user`).
    kept: BTreeMap<String, String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            session_user: Arc::new(DEFAULT_USER.to_owned()),
            role: None,
            search_path: vec![DEFAULT_SCHEMA.to_owned()],
            statement_timeout: None,
            idle_in_transaction_timeout: None,
            idle_timeout: None,
            read_only: None,
            read_only_by_default: false,
            isolation: None,
            isolation_by_default: Isolation::default(),
            kept: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// Every setting with its value, by name.
    pub fn all(&self) -> Vec<(String, String)> {
        let known = known::KNOWN.iter().map(|known| known.name);
        let own = self.kept.keys().map(String::as_str).filter(|name| known::find(name).is_none());
        let names = known.chain(own);
        let mut all: Vec<(String, String)> =
            names.filter_map(|name| Some((name.to_owned(), self.get(name)?))).collect();
        all.sort();
        all
    }

    /// One setting, by its lower-case name.
    pub fn get(&self, name: &str) -> Option<String> {
        let flag = |flag| if flag { "on" } else { "off" }.to_owned();
        Some(match name {
            "search_path" => self.search_path.join(", "),
            "statement_timeout" => known::shown(self.statement_timeout),
            "idle_in_transaction_session_timeout" => known::shown(self.idle_in_transaction_timeout),
            "idle_session_timeout" => known::shown(self.idle_timeout),
            "transaction_read_only" => flag(self.is_read_only()),
            "default_transaction_read_only" => flag(self.read_only_by_default),
            "transaction_isolation" => {
                self.isolation.unwrap_or(self.isolation_by_default).name().to_owned()
            }
            "default_transaction_isolation" => self.isolation_by_default.name().to_owned(),
            other => match self.kept.get(other) {
                Some(kept) => kept.clone(),
                None => known::find(other)?.default.to_owned(),
            },
        })
    }

    /// Whether nothing may be written now.
    pub fn is_read_only(&self) -> bool {
        self.read_only.unwrap_or(self.read_only_by_default)
    }

    /// Whether the client has an image of its own, which is to be adjusted.
    pub fn is_adjusting(&self) -> bool {
        // What is as it was at first is not kept.
        self.kept.contains_key("pando.adjustments")
    }

    /// How values are written.
    pub fn style(&self) -> Style {
        let setting = |name| self.kept.get(name).map_or("", String::as_str);
        Style::named(setting("bytea_output"), setting("intervalstyle"))
    }

    /// Whether a message of a severity is for the client.
    pub fn wants(&self, severity: &str) -> bool {
        match self.kept.get("client_min_messages").map(String::as_str) {
            Some("warning") => severity != "NOTICE",
            Some("error") => false,
            _ => true,
        }
    }

    /// Sets one; only the search path has several values.
    ///
    /// # Errors
    /// 42704 for what is no setting, 22023 for what it cannot be, 55P02 for what nobody sets.
    pub fn set(&mut self, name: &str, values: &[String]) -> Result<()> {
        let value = values.first().map_or("", String::as_str);
        let Some(known) = known::find(name) else {
            if !name.contains('.') {
                return Err(unknown(name));
            }
            self.kept.insert(name.to_owned(), value.to_owned());
            return Ok(());
        };
        let canonical = known.canonical(value)?;
        match name {
            "search_path" => self.search_path = values.to_vec(),
            "statement_timeout" => self.statement_timeout = known.duration(value)?,
            "idle_in_transaction_session_timeout" => {
                self.idle_in_transaction_timeout = known.duration(value)?;
            }
            "idle_session_timeout" => self.idle_timeout = known.duration(value)?,
            "transaction_read_only" => self.read_only = Some(canonical == "on"),
            "default_transaction_read_only" => self.read_only_by_default = canonical == "on",
            "transaction_isolation" => self.isolation = Some(Isolation::of(&canonical)?),
            "default_transaction_isolation" => {
                self.isolation_by_default = Isolation::of(&canonical)?;
            }
            _ if canonical == known.default => drop(self.kept.remove(name)),
            _ => drop(self.kept.insert(name.to_owned(), canonical)),
        }
        Ok(())
    }

    /// Sets all back to what they were when the session began, except for what belongs to the open transaction or to
    /// who the session is.
    pub fn reset_all(&mut self, first: &Self) {
        *self = Self {
            read_only: self.read_only,
            session_user: Arc::clone(&self.session_user),
            role: self.role.clone(),
            ..first.clone()
        };
    }

    /// Sets one back to what it was when the session began.
    ///
    /// # Errors
    /// 42704 for what is no setting.
    pub fn reset(&mut self, name: &str, first: &Self) -> Result<()> {
        let known = known::find(name);
        match name {
            "search_path" => self.search_path.clone_from(&first.search_path),
            "transaction_read_only" => self.read_only = first.read_only,
            "transaction_isolation" => self.isolation = first.isolation,
            _ => match first.get(name) {
                Some(_) if known.is_some_and(|known| known.is_fixed()) => {}
                Some(value) => self.set(name, &[value])?,
                None if name.contains('.') => drop(self.kept.remove(name)),
                None => return Err(unknown(name)),
            },
        }
        Ok(())
    }
}

/// What a name that is no setting is answered with.
pub fn unknown(name: &str) -> Error {
    let message = format!("unrecognized configuration parameter \"{name}\"");
    Error::new(SqlState::UndefinedObject, message)
        .with_hint("SELECT * FROM pando.settings lists them.")
}

/// The values of a setting that is given as one text: the search path is a list, everything else is one value.
pub fn values_of(name: &str, value: &str) -> Vec<String> {
    match name {
        "search_path" => {
            let parts = value.split(',').map(|part| part.trim().trim_matches('"').to_owned());
            parts.filter(|part| !part.is_empty()).collect()
        }
        _ => vec![value.to_owned()],
    }
}
