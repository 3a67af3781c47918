//! SET, SHOW and RESET, and the changes of `set_config`.

use crate::context::Inner;
use crate::context::outcome::{Outcome, Rows, Tag};
use crate::context::transactions::Conversation;
use catalog_views::session_context::SettingRequest;
use catalog_views::settings::{Settings, cluster, known, unknown, values_of};
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field as ArrowField, Schema};
use datafusion::physical_plan::memory::MemoryStream;
use datafusion::sql::sqlparser::ast::{
    ContextModifier, Expr, Ident, Reset, ResetStatement, Set, SetSessionAuthorizationParamKind,
    TransactionAccessMode, TransactionMode, Value,
};
use parser::names::fold;
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::{Error, Result, SqlState};
use values::field::Field;

impl Inner {
    pub(crate) fn set(&self, conversation: &mut Conversation, set: &Set) -> Result<Outcome> {
        match set {
            Set::SingleAssignment { scope, variable, values, .. } => {
                let name = variable.to_string().to_lowercase().replace('"', "");
                let is_default = matches!(&values[..], [value] if is_default(value));
                let values: Vec<String> = values.iter().map(text_of).collect();
                let local = *scope == Some(ContextModifier::Local);
                if name == "role" {
                    let role = values.first().filter(|role| *role != "none").cloned();
                    self.set_role(conversation, local, role)?;
                } else if matches!(name.as_str(), "timezone" | "time zone") {
                    let zone = values.first().map_or("", String::as_str);
                    self.set_time_zone(conversation, local, zone)?;
                } else {
                    let first = self.first_settings.load_full();
                    self.change(conversation, local, |settings| {
                        if is_default {
                            settings.reset(&name, &first)
                        } else {
                            settings.set(&name, &values)
                        }
                    })?;
                }
            }
            Set::SetTimeZone { local, value } => {
                self.set_time_zone(conversation, *local, &zone_of(value)?)?;
            }
            Set::SetNames { charset_name, .. } => {
                let encoding = [fold(charset_name)];
                self.change(conversation, false, |set| set.set("client_encoding", &encoding))?;
            }
            Set::SetNamesDefault {} => {
                let first = self.first_settings.load_full();
                self.change(conversation, false, |set| set.reset("client_encoding", &first))?;
            }
            Set::SetTransaction { snapshot: Some(_), .. } => {
                return Err(Error::unsupported("snapshots cannot be exported or imported"));
            }
            Set::SetTransaction { modes, session, .. } => {
                self.set_transaction(conversation, modes, *session)?;
            }
            Set::SetRole { context_modifier, role_name } => {
                let local = *context_modifier == Some(ContextModifier::Local);
                self.set_role(conversation, local, role_name.as_ref().map(fold))?;
            }
            Set::SetSessionAuthorization(to) => {
                let user = match &to.kind {
                    SetSessionAuthorizationParamKind::Default => None,
                    SetSessionAuthorizationParamKind::User(name) => Some(fold(name)),
                };
                let local = to.scope == ContextModifier::Local;
                self.set_session_user(conversation, local, user)?;
            }
            other => return Err(Error::unsupported(format!("{other} is not supported"))),
        }
        Ok(Outcome::Done(Tag::plain("SET")))
    }

    /// Sets the transaction modes of BEGIN, SET TRANSACTION or SET SESSION CHARACTERISTICS.
    pub(crate) fn set_transaction(
        &self,
        conversation: &mut Conversation,
        modes: &[TransactionMode],
        session: bool,
    ) -> Result<()> {
        if !session && conversation.open().is_none() {
            let message = "SET TRANSACTION can only be used in transaction blocks";
            self.warn(SqlState::NoActiveSqlTransaction, message);
            return Ok(());
        }
        for mode in modes {
            let (name, value) = match mode {
                TransactionMode::AccessMode(TransactionAccessMode::ReadOnly) => {
                    ("transaction_read_only", "on".to_owned())
                }
                TransactionMode::AccessMode(TransactionAccessMode::ReadWrite) => {
                    ("transaction_read_only", "off".to_owned())
                }
                TransactionMode::IsolationLevel(level) => {
                    ("transaction_isolation", level.to_string().to_lowercase())
                }
            };
            let name = if session { format!("default_{name}") } else { name.to_owned() };
            let value = [value];
            self.change(conversation, !session, |set| set.set(&name, &value))?;
        }
        Ok(())
    }

    /// Sets the time zone; DEFAULT and LOCAL stand for that of the session's start.
    fn set_time_zone(
        &self,
        conversation: &mut Conversation,
        local: bool,
        zone: &str,
    ) -> Result<()> {
        let is_first = ["default", "local"].iter().any(|word| zone.eq_ignore_ascii_case(word));
        let (first, value) = (self.first_settings.load_full(), [zone.to_owned()]);
        self.change(conversation, local, |settings| {
            if is_first {
                settings.reset("timezone", &first)
            } else {
                settings.set("timezone", &value)
            }
        })
    }

    pub(crate) fn change(
        &self,
        conversation: &mut Conversation,
        local: bool,
        change: impl Fn(&mut Settings) -> Result<()>,
    ) -> Result<()> {
        if local && conversation.open().is_none() {
            let message = "SET LOCAL can only be used in transaction blocks";
            self.warn(SqlState::NoActiveSqlTransaction, message);
            return change(&mut Settings::clone(&self.settings.load()));
        }
        conversation.change_settings(local, change)
    }

    /// Applies the changes that `set_config` asked for in the previous statement.
    pub(crate) fn apply_requested_settings(&self, conversation: &mut Conversation) {
        let asked = std::mem::take(&mut *self.context.requested_settings.lock());
        for SettingRequest { name, value, is_local: local } in asked {
            if local && conversation.open().is_none() {
                continue;
            }
            let values = values_of(&name, &value);
            // The function has refused invalid values.
            let set = conversation.change_settings(local, |set| set.set(&name, &values));
            debug_assert!(set.is_ok(), "{name} was tried before");
        }
    }

    pub(crate) fn reset(
        &self,
        conversation: &mut Conversation,
        reset: &ResetStatement,
    ) -> Result<Outcome> {
        let first = self.first_settings.load_full();
        match &reset.reset {
            Reset::ALL => conversation.change_settings(false, |settings| {
                settings.reset_all(&first);
                Ok(())
            })?,
            Reset::ConfigurationParameter(name) => {
                let name = name.to_string().to_lowercase();
                match name.as_str() {
                    "role" => self.set_role(conversation, false, None)?,
                    "session_authorization" => self.set_session_user(conversation, false, None)?,
                    name => {
                        conversation.change_settings(false, |set| set.reset(name, &first))?;
                    }
                }
            }
        }
        Ok(Outcome::Done(Tag::plain("RESET")))
    }

    pub(crate) fn show(&self, variable: &[Ident]) -> Result<Outcome> {
        let name = shown_name(variable);
        let settings = self.settings.load();
        let store = &self.shared.store;
        if name == "all" {
            let mut all = settings.all();
            cluster::with_values(store, &mut all);
            let (names, values): (Vec<_>, Vec<_>) = all.into_iter().unzip();
            let meaning = |name: &String| known::find(name).map_or("", |known| known.meaning);
            let meanings = names.iter().map(|name| meaning(name).to_owned()).collect();
            let columns = [("name", names), ("setting", values), ("description", meanings)];
            return text_rows("SHOW", &columns);
        }
        let own = match name.as_str() {
            "is_superuser" if !self.context.is_superuser() => Some("off".to_owned()),
            "role" => Some(settings.role.as_deref().map_or("none", String::as_str).to_owned()),
            "session_authorization" => Some(settings.session_user.to_string()),
            name => cluster::value(store, name),
        };
        match own.or_else(|| settings.get(&name)) {
            Some(value) => text_rows("SHOW", &[(&name, vec![value])]),
            None => Err(unknown(&name)),
        }
    }
}

/// The name of the setting in SHOW.
fn shown_name(variable: &[Ident]) -> String {
    let name =
        variable.iter().map(|ident| fold(ident).to_lowercase()).collect::<Vec<_>>().join(".");
    match name.as_str() {
        "time.zone" => "timezone".to_owned(),
        "transaction.isolation.level" => "transaction_isolation".to_owned(),
        _ => name,
    }
}

/// The columns of SHOW's result.
pub(crate) fn show_fields(variable: &[Ident]) -> Vec<Field> {
    let name = shown_name(variable);
    let names = match name.as_str() {
        "all" => vec!["name", "setting", "description"],
        name => vec![name],
    };
    names.into_iter().map(|name| Field::new(name, SqlType::Text)).collect()
}

/// Whether a value is the keyword DEFAULT, and not a string.
fn is_default(expr: &Expr) -> bool {
    expr.to_string().eq_ignore_ascii_case("default")
}

/// The zone of SET TIME ZONE: a name, a number of hours, or an interval.
fn zone_of(expr: &Expr) -> Result<String> {
    let Expr::Interval(interval) = expr else { return Ok(text_of(expr)) };
    let text = text_of(&interval.value);
    let unit = interval.leading_field.as_ref().filter(|_| !text.contains(':'));
    let text = unit.map_or_else(|| text.clone(), |unit| format!("{text} {unit}"));
    let Some(offset) = values::input::interval::parse(&text) else {
        let message = format!("invalid input syntax for type interval: \"{text}\"");
        return Err(Error::new(SqlState::InvalidDatetimeFormat, message));
    };
    if offset.months != 0 || offset.days != 0 {
        let message = "cannot specify months or days in a time zone interval";
        return Err(Error::new(SqlState::InvalidParameterValue, message));
    }
    Ok((offset.nanoseconds as f64 / 3.6e12).to_string())
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

/// Rows of text, for results without a plan.
pub(crate) fn text_rows(command: &'static str, columns: &[(&str, Vec<String>)]) -> Result<Outcome> {
    let fields = columns.iter().map(|(name, _)| ArrowField::new(*name, DataType::Utf8, false));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let arrays = columns.iter().map(|(_, v)| Arc::new(StringArray::from(v.clone())) as ArrayRef);
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays.collect())?;
    let field = |(name, _): &(&str, Vec<String>)| Field::new(*name, SqlType::Text);
    let stream = MemoryStream::try_new(vec![batch], schema, None)?;
    Ok(Outcome::Rows(Rows::ready(columns.iter().map(field).collect(), stream, command)))
}
