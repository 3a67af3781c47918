//! SET, SHOW and RESET: what a session can have its own way.

use super::{Frame, Inner};
use crate::error::{Error, Result, SqlState};
use crate::outcome::{Field, Outcome, Rows, Tag};
use crate::planner::relations::fold;
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field as ArrowField, Schema};
use datafusion::physical_plan::memory::MemoryStream;
use datafusion::sql::sqlparser::ast::{Expr, Ident, Reset, ResetStatement, Set, Value};
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
    /// What clients call themselves.
    pub(crate) application_name: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            search_path: vec![DEFAULT_SCHEMA.to_owned()],
            statement_timeout: None,
            application_name: String::new(),
        }
    }
}

/// Settings that clients ask for and that have one value here.
const FIXED: [(&str, &str); 7] = [
    ("client_encoding", "UTF8"),
    ("server_encoding", "UTF8"),
    ("datestyle", "ISO, MDY"),
    ("timezone", "UTC"),
    ("standard_conforming_strings", "on"),
    ("transaction_isolation", "repeatable read"),
    ("server_version", "15.0 (Pando 0.1.0)"),
];

impl Settings {
    /// Every setting with its value, by name.
    pub(crate) fn all(&self) -> Vec<(String, String)> {
        let timeout = self.statement_timeout.map_or(0, |timeout| timeout.as_millis());
        let mut all: Vec<(String, String)> =
            FIXED.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        all.push(("search_path".to_owned(), self.search_path.join(", ")));
        all.push(("statement_timeout".to_owned(), format!("{timeout}ms")));
        all.push(("application_name".to_owned(), self.application_name.clone()));
        all.sort();
        all
    }

    fn set(&mut self, name: &str, values: &[String]) -> Result<()> {
        let value = values.first().map_or("", String::as_str);
        match name {
            "search_path" => self.search_path = values.to_vec(),
            "statement_timeout" => self.statement_timeout = duration(name, value)?,
            "application_name" => value.clone_into(&mut self.application_name),
            other => match FIXED.iter().find(|(name, _)| *name == other) {
                Some((_, fixed)) if same_setting(other, fixed, value) => {}
                Some((_, fixed)) => {
                    let message = format!("invalid value for parameter \"{name}\": \"{value}\"");
                    return Err(Error::new(SqlState::InvalidParameterValue, message)
                        .with_hint(format!("It is always {fixed}.")));
                }
                None => return Err(unknown(name)),
            },
        }
        Ok(())
    }
}

fn same_setting(name: &str, fixed: &str, value: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace(['-', ' '], "");
    let isolation = name == "transaction_isolation";
    plain(fixed) == plain(value)
        || name == "timezone" && matches!(plain(value).as_str(), "etc/utc" | "gmt" | "0" | "+00:00")
        || isolation && matches!(plain(value).as_str(), "readcommitted" | "readuncommitted")
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
                let name = variable.to_string().to_lowercase();
                let values: Vec<String> = values.iter().map(text_of).collect();
                self.change(|settings| match &values[..] {
                    [value] if value == "default" => settings.reset(&name),
                    values => settings.set(&name, values),
                })?;
            }
            Set::SetTimeZone { value, .. } => {
                self.change(|settings| settings.set("timezone", &[text_of(value)]))?;
            }
            Set::SetNames { charset_name, .. } => {
                self.change(|settings| settings.set("client_encoding", &[fold(charset_name)]))?;
            }
            Set::SetTransaction { .. } => {}
            other => return Err(Error::unsupported(format!("SET {other} is not supported"))),
        }
        Ok(Outcome::Done(Tag::plain("SET")))
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
            "application_name" => self.application_name = default.application_name,
            other if FIXED.iter().any(|(name, _)| *name == other) => {}
            other => return Err(unknown(other)),
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
