//! SET, SHOW and RESET: what a session can have its own way.

use super::{Frame, Inner};
use crate::error::{Error, Result, SqlState};
use crate::outcome::{Field, Outcome, Rows, Tag};
use crate::planner::relations::fold;
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field as ArrowField, Schema};
use datafusion::physical_plan::memory::MemoryStream;
use datafusion::sql::sqlparser::ast::{Expr, Ident, Reset, ResetStatement, Set, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::catalog::{DEFAULT_SCHEMA, SqlType};

/// A session's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Where unqualified names lead.
    pub(crate) search_path: Vec<String>,
    /// After how long a statement is cancelled.
    pub(crate) statement_timeout: Option<Duration>,
    /// After how long without a statement a session inside a transaction ends.
    pub(crate) idle_in_transaction_timeout: Option<Duration>,
    /// After how long without a statement a session ends.
    pub(crate) idle_timeout: Option<Duration>,
    /// Settings that are kept and have no other effect, and those of programs (`app.user`).
    kept: BTreeMap<String, String>,
}

impl Default for Settings {
    fn default() -> Self {
        let kept = KEPT.iter().map(|(name, value, _)| ((*name).to_owned(), (*value).to_owned()));
        Self {
            search_path: vec![DEFAULT_SCHEMA.to_owned()],
            statement_timeout: None,
            idle_in_transaction_timeout: None,
            idle_timeout: None,
            kept: kept.collect(),
        }
    }
}

/// Settings that clients ask for and that have one value here.
const FIXED: [(&str, &str); 17] = [
    ("server_version", "15.0 (Pando 0.1.0)"),
    ("server_version_num", "150000"),
    ("server_encoding", "UTF8"),
    ("client_encoding", "UTF8"),
    ("datestyle", "ISO, MDY"),
    ("intervalstyle", "postgres"),
    ("timezone", "UTC"),
    ("integer_datetimes", "on"),
    ("standard_conforming_strings", "on"),
    ("bytea_output", "hex"),
    ("transaction_isolation", "repeatable read"),
    ("max_identifier_length", "63"),
    ("block_size", "8192"),
    ("lc_collate", "C"),
    ("lc_ctype", "C"),
    ("in_hot_standby", "off"),
    ("is_superuser", "on"),
];

/// What a kept setting can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Duration,
}

/// Settings that are taken, kept and shown, since clients set them. What they would do in PostgreSQL does
/// not exist here (planner hints, locks), or is always so.
const KEPT: [(&str, &str, Kind); 22] = [
    ("application_name", "", Kind::Text),
    ("client_min_messages", "notice", Kind::Text),
    ("extra_float_digits", "1", Kind::Text),
    ("lock_timeout", "0", Kind::Duration),
    ("row_security", "on", Kind::Text),
    ("default_transaction_isolation", "repeatable read", Kind::Text),
    ("default_transaction_read_only", "off", Kind::Text),
    ("default_transaction_deferrable", "off", Kind::Text),
    ("transaction_read_only", "off", Kind::Text),
    ("transaction_deferrable", "off", Kind::Text),
    ("synchronous_commit", "on", Kind::Text),
    ("default_tablespace", "", Kind::Text),
    ("default_table_access_method", "heap", Kind::Text),
    ("check_function_bodies", "on", Kind::Text),
    ("xmloption", "content", Kind::Text),
    ("jit", "off", Kind::Text),
    ("work_mem", "4MB", Kind::Text),
    ("geqo", "on", Kind::Text),
    ("enable_seqscan", "on", Kind::Text),
    ("log_statement", "none", Kind::Text),
    ("lc_messages", "C", Kind::Text),
    ("escape_string_warning", "on", Kind::Text),
];

impl Settings {
    /// Every setting with its value, by name.
    pub(crate) fn all(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> =
            FIXED.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        all.extend(self.kept.clone());
        all.push(("search_path".to_owned(), self.search_path.join(", ")));
        for (name, limit) in [
            ("statement_timeout", self.statement_timeout),
            ("idle_in_transaction_session_timeout", self.idle_in_transaction_timeout),
            ("idle_session_timeout", self.idle_timeout),
        ] {
            all.push((name.to_owned(), shown(limit)));
        }
        all.sort();
        all
    }

    /// One setting.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        if let Some(kept) = self.kept.get(name) {
            return Some(kept.clone());
        }
        if let Some((_, fixed)) = FIXED.iter().find(|(known, _)| *known == name) {
            return Some((*fixed).to_owned());
        }
        self.all().into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    pub(crate) fn set(&mut self, name: &str, values: &[String]) -> Result<()> {
        let value = values.first().map_or("", String::as_str);
        match name {
            "search_path" => self.search_path = values.to_vec(),
            "statement_timeout" => self.statement_timeout = duration(name, value)?,
            "idle_in_transaction_session_timeout" => {
                self.idle_in_transaction_timeout = duration(name, value)?;
            }
            "idle_session_timeout" => self.idle_timeout = duration(name, value)?,
            other => match FIXED.iter().find(|(name, _)| *name == other) {
                Some((_, fixed)) if same_setting(other, fixed, value) => {}
                Some((_, fixed)) => {
                    let message = format!("invalid value for parameter \"{name}\": \"{value}\"");
                    return Err(Error::new(SqlState::InvalidParameterValue, message)
                        .with_hint(format!("It is always {fixed}.")));
                }
                None => self.keep(name, value)?,
            },
        }
        Ok(())
    }

    fn keep(&mut self, name: &str, value: &str) -> Result<()> {
        match KEPT.iter().find(|(known, ..)| *known == name) {
            Some((.., Kind::Duration)) => drop(duration(name, value)?),
            Some((.., Kind::Text)) => {}
            None if name.contains('.') => {}
            None => return Err(unknown(name)),
        }
        self.kept.insert(name.to_owned(), value.to_owned());
        Ok(())
    }
}

/// A duration as PostgreSQL shows it: in the largest unit that it is a whole number of.
fn shown(limit: Option<Duration>) -> String {
    let millis = limit.map_or(0, |limit| limit.as_millis());
    let units = [("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1)];
    let whole = units.iter().find(|(_, unit)| millis > 0 && millis.is_multiple_of(*unit));
    whole.map_or("0".to_owned(), |(name, unit)| format!("{}{name}", millis / unit))
}

fn same_setting(name: &str, fixed: &str, value: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_', ' '], "");
    let value = plain(value);
    plain(fixed) == value
        || name == "timezone"
            && matches!(value.as_str(), "etc/utc" | "gmt" | "0" | "+00:00" | "zulu")
        || name == "client_encoding" && matches!(value.as_str(), "unicode" | "auto" | "'utf8'")
        || name == "datestyle" && value.starts_with("iso")
        || name == "transaction_isolation"
            && matches!(value.as_str(), "readcommitted" | "readuncommitted")
}

fn unknown(name: &str) -> Error {
    let message = format!("unrecognized configuration parameter \"{name}\"");
    Error::new(SqlState::UndefinedObject, message)
        .with_hint("SELECT * FROM pando.settings lists them.")
}

/// PostgreSQL's durations: milliseconds, or a number with ms, s, min, h.
fn duration(name: &str, text: &str) -> Result<Option<Duration>> {
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let factor = match text[digits..].trim() {
        "" | "ms" => Some(1),
        "s" => Some(1000),
        "min" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let number: Option<u64> = text[..digits].parse().ok();
    match number.zip(factor).and_then(|(number, factor)| number.checked_mul(factor)) {
        Some(0) => Ok(None),
        Some(millis) => Ok(Some(Duration::from_millis(millis))),
        None => {
            let message = format!("invalid value for parameter \"{name}\": \"{text}\"");
            Err(Error::new(SqlState::InvalidParameterValue, message)
                .with_hint("Give milliseconds, or a number with ms, s, min or h."))
        }
    }
}

fn text_of(expr: &Expr) -> String {
    match expr {
        Expr::Identifier(ident) => fold(ident),
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => text.clone(),
            Value::Number(number, _) => number.to_string(),
            other => other.to_string(),
        },
        other => other.to_string(),
    }
}

impl Inner {
    pub(crate) fn set(&self, _: &Frame<'_>, set: &Set) -> Result<Outcome> {
        match set {
            Set::SingleAssignment { variable, values, .. } => {
                let name = variable.to_string().to_lowercase().replace('"', "");
                let values: Vec<String> = values.iter().map(text_of).collect();
                if matches!(name.as_str(), "timezone" | "time zone") {
                    self.set_time_zone(values.first().map_or("", String::as_str))?;
                    return Ok(Outcome::Done(Tag::plain("SET")));
                }
                self.change(|settings| match &values[..] {
                    [value] if value == "default" => settings.reset(&name),
                    values => settings.set(&name, values),
                })?;
            }
            Set::SetTimeZone { value, .. } => self.set_time_zone(&text_of(value))?,
            Set::SetNames { charset_name, .. } => {
                self.change(|settings| settings.set("client_encoding", &[fold(charset_name)]))?;
            }
            Set::SetTransaction { .. } => {}
            other => return Err(Error::unsupported(format!("SET {other} is not supported"))),
        }
        Ok(Outcome::Done(Tag::plain("SET")))
    }

    /// Times are always told in UTC: another zone is taken with a warning, since clients ask for theirs.
    fn set_time_zone(&self, zone: &str) -> Result<()> {
        if self.change(|settings| settings.set("timezone", &[zone.to_owned()])).is_err()
            && !zone.eq_ignore_ascii_case("default")
            && !zone.eq_ignore_ascii_case("local")
        {
            let message = format!("time zone \"{zone}\" is not used: times are told in UTC");
            self.warn(SqlState::Warning, message);
        }
        Ok(())
    }

    fn change(&self, change: impl FnOnce(&mut Settings) -> Result<()>) -> Result<()> {
        let mut settings = Settings::clone(&self.settings.load());
        change(&mut settings)?;
        self.settings.store(Arc::new(settings));
        Ok(())
    }

    pub(crate) fn reset(&self, reset: &ResetStatement) -> Result<Outcome> {
        match &reset.reset {
            Reset::ALL => self.settings.store(Arc::new(Settings::default())),
            Reset::ConfigurationParameter(name) => {
                let name = name.to_string().to_lowercase();
                self.change(|settings| settings.reset(&name))?;
            }
        }
        Ok(Outcome::Done(Tag::plain("RESET")))
    }

    pub(crate) fn show(&self, variable: &[Ident]) -> Result<Outcome> {
        let name = variable.iter().map(fold).collect::<Vec<_>>().join(".");
        let name = match name.as_str() {
            "time.zone" => "timezone",
            "transaction.isolation.level" => "transaction_isolation",
            other => other,
        };
        let all = self.settings.load().all();
        if name == "all" {
            let (names, values): (Vec<_>, Vec<_>) = all.into_iter().unzip();
            return text_rows("SHOW", &[("name", names), ("setting", values)]);
        }
        match all.into_iter().find(|(known, _)| known == name) {
            Some((_, value)) => text_rows("SHOW", &[(name, vec![value])]),
            None => Err(unknown(name)),
        }
    }
}

impl Settings {
    fn reset(&mut self, name: &str) -> Result<()> {
        let default = Self::default();
        match name {
            "search_path" => self.search_path = default.search_path,
            "statement_timeout" => self.statement_timeout = default.statement_timeout,
            "idle_in_transaction_session_timeout" => {
                self.idle_in_transaction_timeout = default.idle_in_transaction_timeout;
            }
            "idle_session_timeout" => self.idle_timeout = default.idle_timeout,
            other if FIXED.iter().any(|(name, _)| *name == other) => {}
            other => match (default.kept.get(other), other.contains('.')) {
                (Some(value), _) => drop(self.kept.insert(other.to_owned(), value.clone())),
                (None, true) => drop(self.kept.remove(other)),
                (None, false) => return Err(unknown(other)),
            },
        }
        Ok(())
    }
}

/// Rows of text, for answers that no plan computes.
fn text_rows(command: &'static str, columns: &[(&str, Vec<String>)]) -> Result<Outcome> {
    let fields = columns.iter().map(|(name, _)| ArrowField::new(*name, DataType::Utf8, false));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let arrays = columns.iter().map(|(_, v)| Arc::new(StringArray::from(v.clone())) as ArrayRef);
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays.collect())?;
    let field = |(name, _): &(&str, Vec<String>)| Field {
        name: (*name).to_owned(),
        sql_type: SqlType::Text,
    };
    let stream = Box::pin(MemoryStream::try_new(vec![batch], schema, None)?);
    Ok(Outcome::Rows(Rows { fields: columns.iter().map(field).collect(), stream, command }))
}
