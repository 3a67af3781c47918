//! Settings: those that exist ([`known`]), and the values that a session has for them
//! ([`Settings`]), as transactions change them ([`scopes`]).

pub mod byte_size;
pub mod cluster;
mod defaults;
pub mod isolation;
pub mod known;
mod memory;
mod missing;
pub mod modes;
mod names;
pub mod scopes;
mod setting;
mod spelling;

use isolation::Isolation;
use modes::Modes;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::catalog::DEFAULT_SCHEMA;
use values::style::{BytesStyle, DateFormat, DateOrder, FloatDigits, IntervalStyle, Style};
use values::zone::Zone;
use values::{Error, Result, SqlState};

/// The bootstrap superuser. It owns every object that no role owns, and it is the user of every
/// session while no role exists.
pub const BOOTSTRAP_SUPERUSER: &str = "pando";

/// A session's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The session user: the user who logged in, unless SET SESSION AUTHORIZATION changed it.
    pub session_user: Arc<String>,
    /// The current role, if SET ROLE changed it.
    pub role: Option<Arc<String>>,
    /// The schemas in which names without a schema are looked up.
    pub search_path: Vec<String>,
    /// Statements are cancelled after this time.
    pub statement_timeout: Option<Duration>,
    /// A wait for a lock ends after this time.
    pub lock_timeout: Option<Duration>,
    /// A session that is idle in a transaction ends after this time.
    pub idle_in_transaction_timeout: Option<Duration>,
    /// A session that is idle outside of a transaction ends after this time.
    pub idle_timeout: Option<Duration>,
    /// The modes that the open transaction has set.
    modes: Modes,
    /// The setting `default_transaction_read_only`.
    read_only_by_default: bool,
    /// The setting `default_transaction_isolation`.
    isolation_by_default: Isolation,
    /// Other settings that differ from their default, and custom settings (`app.user`).
    kept: BTreeMap<String, String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            session_user: Arc::new(BOOTSTRAP_SUPERUSER.to_owned()),
            role: None,
            search_path: vec![DEFAULT_SCHEMA.to_owned()],
            statement_timeout: None,
            lock_timeout: None,
            idle_in_transaction_timeout: None,
            idle_timeout: None,
            modes: Modes::default(),
            read_only_by_default: false,
            isolation_by_default: Isolation::default(),
            kept: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// All settings with their values, sorted by name.
    pub fn all(&self) -> Vec<(String, String)> {
        let known = known::KNOWN.iter().chain(defaults::DEFAULTS).map(|known| known.name);
        // PostgreSQL takes this one for old dumps, and does not list it.
        let known = known.filter(|name| *name != "default_with_oids");
        let own = self.kept.keys().map(String::as_str).filter(|name| known::find(name).is_none());
        let names = known.chain(own);
        let mut all: Vec<(String, String)> =
            names.filter_map(|name| Some((name.to_owned(), self.get(name)?))).collect();
        all.sort();
        all
    }

    /// The value of a setting by its name in lower case.
    pub fn get(&self, name: &str) -> Option<String> {
        let flag = |flag| if flag { "on" } else { "off" }.to_owned();
        Some(match name {
            "role" => self.role.as_deref().map_or("none", String::as_str).to_owned(),
            "session_authorization" => self.session_user.to_string(),
            "search_path" => names::shown(&self.search_path),
            "statement_timeout" => setting::shown(self.statement_timeout),
            "lock_timeout" => setting::shown(self.lock_timeout),
            "idle_in_transaction_session_timeout" => {
                setting::shown(self.idle_in_transaction_timeout)
            }
            "idle_session_timeout" => setting::shown(self.idle_timeout),
            "transaction_read_only" => flag(self.is_read_only()),
            "default_transaction_read_only" => flag(self.read_only_by_default),
            "transaction_isolation" => self.isolation().name().to_owned(),
            "transaction_deferrable" => match self.modes.deferrable {
                Some(is_on) => flag(is_on),
                None => return self.get("default_transaction_deferrable"),
            },
            "default_transaction_isolation" => self.isolation_by_default.name().to_owned(),
            other => match self.kept.get(other) {
                Some(kept) => kept.clone(),
                None => known::find(other)?.default.to_owned(),
            },
        })
    }

    /// Whether the open transaction, or the next one, is read-only.
    pub fn is_read_only(&self) -> bool {
        self.modes.read_only.unwrap_or(self.read_only_by_default)
    }

    /// The isolation level of the open transaction, or of the next one.
    pub fn isolation(&self) -> Isolation {
        self.modes.isolation.unwrap_or(self.isolation_by_default)
    }

    /// Whether the client keeps an image of its own and wants image adjustments.
    pub fn is_adjusting(&self) -> bool {
        // `kept` has no settings with their default value.
        self.kept.contains_key("pando.adjustments")
    }

    /// The formats in which values are read and written.
    pub fn style(&self) -> Style {
        let setting = |name| self.kept.get(name).map_or("", String::as_str);
        // Looking an unknown name up takes longer than a statement by key.
        let zone = self.kept.get("timezone").and_then(|name| Zone::of_setting(name));
        Style {
            bytes: BytesStyle::of_setting(setting("bytea_output")),
            interval: IntervalStyle::of_setting(setting("intervalstyle")),
            date: DateOrder::of_setting(setting("datestyle")),
            date_format: DateFormat::of_setting(setting("datestyle")),
            float: FloatDigits::of_setting(setting("extra_float_digits")),
            zone: zone.map_or(Zone::UTC, |(zone, _)| zone),
        }
    }

    /// Whether the client gets messages of this severity.
    pub fn wants(&self, severity: &str) -> bool {
        let least = match self.kept.get("client_min_messages").map(String::as_str) {
            Some(debug) if debug.starts_with("debug") => "DEBUG",
            Some("log") => "LOG",
            Some("warning") => "WARNING",
            Some("error") => "ERROR",
            _ => "NOTICE",
        };
        let order = ["DEBUG", "LOG", "NOTICE", "WARNING", "ERROR"];
        let rank = |severity: &str| order.iter().position(|known| *known == severity);
        severity == "INFO" || rank(severity) >= rank(least)
    }

    /// Sets a setting. Only the search path has several values.
    ///
    /// # Errors
    /// 42704 if there is no such setting, 22023 for an invalid value, 55P02 if sessions cannot set it, 0A000 for one that
    /// only PostgreSQL has, and for other values than the default of one that has only this here.
    pub fn set(&mut self, name: &str, values: &[String]) -> Result<()> {
        let value = values.first().map_or("", String::as_str);
        let Some(known) = known::find(name) else {
            if matches!(name, "role" | "session_authorization") {
                let message = format!("{name} as the setting of a function is not supported");
                return Err(Error::unsupported(message).with_hint("SET changes it for a session."));
            }
            if !name.contains('.') {
                return Err(unknown(name));
            }
            refuse_custom(name)?;
            self.kept.insert(name.to_owned(), value.to_owned());
            return Ok(());
        };
        let value = &match name {
            "datestyle" => values.join(", "),
            _ => value.to_owned(),
        };
        let canonical = match name {
            "datestyle" => {
                let before = self.get(name).unwrap_or_default();
                known.date_style(&value.to_lowercase(), &before)?
            }
            _ => known.canonical(value)?,
        };
        if canonical != known.default && known::has_only_default(name) {
            let message = format!("setting {name} to {canonical} is not supported");
            let hint = format!("Pando has no such setting; it is always {}.", known.default);
            return Err(Error::unsupported(message).with_hint(hint));
        }
        match name {
            "search_path" => self.search_path = values.to_vec(),
            "statement_timeout" => self.statement_timeout = known.duration(value)?,
            "idle_in_transaction_session_timeout" => {
                self.idle_in_transaction_timeout = known.duration(value)?;
            }
            "idle_session_timeout" => self.idle_timeout = known.duration(value)?,
            "lock_timeout" => self.lock_timeout = known.duration(value)?,
            "transaction_read_only" => self.modes.read_only = Some(canonical == "on"),
            "transaction_deferrable" => self.modes.deferrable = Some(canonical == "on"),
            "default_transaction_read_only" => self.read_only_by_default = canonical == "on",
            "transaction_isolation" => self.modes.isolation = Some(Isolation::of(&canonical)?),
            "default_transaction_isolation" => {
                self.isolation_by_default = Isolation::of(&canonical)?;
            }
            _ if canonical == known.default => drop(self.kept.remove(name)),
            _ => drop(self.kept.insert(name.to_owned(), canonical)),
        }
        Ok(())
    }

    /// Resets all settings to `first`, their values at the start of the session. The session user,
    /// the role and the modes of the open transaction stay.
    pub fn reset_all(&mut self, first: &Self) {
        let mut reset = Self {
            modes: self.modes,
            session_user: Arc::clone(&self.session_user),
            role: self.role.clone(),
            ..first.clone()
        };
        for name in self.missing_in(first) {
            reset.kept.insert(name.to_owned(), String::new());
        }
        *self = reset;
    }

    /// The settings of users that others do not have. They exist from their first value on, and are empty without one.
    fn missing_in<'a>(&'a self, others: &'a Self) -> impl Iterator<Item = &'a str> {
        let own = self.kept.keys().map(String::as_str).filter(|name| known::find(name).is_none());
        own.filter(move |name| !others.kept.contains_key(*name))
    }

    /// Resets a setting to its value in `first`.
    ///
    /// # Errors
    /// 42704 if there is no such setting.
    pub fn reset(&mut self, name: &str, first: &Self) -> Result<()> {
        let known = known::find(name);
        match name {
            "search_path" => self.search_path.clone_from(&first.search_path),
            "transaction_read_only" => self.modes.read_only = first.modes.read_only,
            "transaction_isolation" => self.modes.isolation = first.modes.isolation,
            "transaction_deferrable" => self.modes.deferrable = first.modes.deferrable,
            _ => match first.get(name) {
                Some(_) if known.is_some_and(|known| known.is_fixed()) => {}
                Some(value) => self.set(name, &[value])?,
                None if name.contains('.') => {
                    self.kept.get_mut(name).into_iter().for_each(String::clear);
                }
                None if missing::is_missing(name) => {}
                None => return Err(unknown(name)),
            },
        }
        Ok(())
    }
}

/// Refuses a custom setting that cannot be.
///
/// # Errors
/// 42602.
fn refuse_custom(name: &str) -> Result<()> {
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
    let is_part = |c: char| is_start(c) || c.is_ascii_digit() || c == '$';
    let is_simple = |part: &str| part.starts_with(is_start) && part.chars().all(is_part);
    let detail = match name.split('.').all(is_simple) {
        true if name.starts_with("plpgsql.") => "\"plpgsql\" is a reserved prefix.",
        true => return Ok(()),
        false => "Custom parameter names must be two or more simple identifiers separated by dots.",
    };
    let message = format!("invalid configuration parameter name \"{name}\"");
    Err(Error::new(SqlState::chosen("42602"), message).with_detail(detail))
}

/// The error of a name that is not a setting: 42704, or 0A000 if PostgreSQL has it.
pub fn unknown(name: &str) -> Error {
    if missing::is_missing(name) {
        return missing::refused(name);
    }
    let message = format!("unrecognized configuration parameter \"{name}\"");
    Error::new(SqlState::UndefinedObject, message)
        .with_hint("SELECT * FROM pando.settings lists them.")
}

/// Splits the text of a setting into its values: several for the search path, one for any other.
///
/// # Errors
/// 22023: the search path is no list of names.
pub fn values_of(name: &str, value: &str) -> Result<Vec<String>> {
    match name {
        "search_path" => names::of_text(value).ok_or_else(|| {
            let message = format!("invalid value for parameter \"{name}\": \"{value}\"");
            let error = Error::new(SqlState::InvalidParameterValue, message);
            error.with_detail("List syntax is invalid.")
        }),
        _ => Ok(vec![value.to_owned()]),
    }
}
