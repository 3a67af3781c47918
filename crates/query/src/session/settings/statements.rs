//! SET, SHOW and RESET, and the changes of `set_config`.

use crate::context::Inner;
use crate::context::outcome::{Outcome, Rows, Tag};
use crate::context::transactions::Conversation;
use catalog_views::session_context::SettingRequest;
use catalog_views::settings::{Settings, cluster, known, unknown, values_of};
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field as ArrowField, Schema};
use datafusion::physical_plan::memory::MemoryStream;
use parser::commands::{Mode, SettingStatement, SettingValue};
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::{Error, Result, SqlState};
use values::field::Field;
use values::input::{interval, refused};
use values::style::IntervalStyle;

/// Settings whose value is a list.
const LISTS: [&str; 2] = ["search_path", "datestyle"];

impl Inner {
    /// Runs a SET, RESET or SHOW.
    pub(crate) fn setting(
        &self,
        conversation: &mut Conversation,
        statement: &SettingStatement,
    ) -> Result<Outcome> {
        match statement {
            SettingStatement::Set { name, value, is_local } => {
                self.set(conversation, name, value, *is_local)?;
            }
            SettingStatement::Transaction(modes) => {
                self.set_transaction(conversation, modes, false)?;
            }
            SettingStatement::Characteristics(modes) => {
                self.set_transaction(conversation, modes, true)?;
            }
            SettingStatement::Reset(name) => {
                self.set(conversation, name, &SettingValue::Default, false)?;
                return Ok(Outcome::Done(Tag::plain("RESET")));
            }
            SettingStatement::ResetAll => {
                let first = self.first_settings.load_full();
                conversation.change_settings(false, |settings| {
                    settings.reset_all(&first);
                    Ok(())
                })?;
                return Ok(Outcome::Done(Tag::plain("RESET")));
            }
            SettingStatement::Show(name) => return self.show(name),
        }
        Ok(Outcome::Done(Tag::plain("SET")))
    }

    fn set(
        &self,
        conversation: &mut Conversation,
        name: &str,
        value: &SettingValue,
        local: bool,
    ) -> Result<()> {
        let values = match value {
            SettingValue::Values(values) => Some(values.clone()),
            SettingValue::Interval(text) => Some(vec![zone_of(text)?]),
            SettingValue::Default => None,
            SettingValue::Current => {
                let value = self.settings.load().get(name).ok_or_else(|| unknown(name))?;
                Some(values_of(name, &value)?)
            }
        };
        if values.as_ref().is_some_and(|values| values.len() > 1) && !LISTS.contains(&name) {
            let message = format!("SET {name} takes only one argument");
            return Err(Error::new(SqlState::InvalidParameterValue, message));
        }
        let first = values.as_ref().and_then(|values| values.first());
        match name {
            "role" => {
                let role = first.filter(|role| *role != "none").cloned();
                self.set_role(conversation, local, role)
            }
            "session_authorization" => self.set_session_user(conversation, local, first.cloned()),
            "timezone" => {
                let zone = first.map_or("default", String::as_str);
                self.set_time_zone(conversation, local, zone)
            }
            name => {
                if let Some(value) = first {
                    self.settings.load().refuse_late_mode(name, value, conversation.progress())?;
                }
                let first = self.first_settings.load_full();
                self.change(conversation, local, |settings| match &values {
                    Some(values) => settings.set(name, values),
                    None => settings.reset(name, &first),
                })
            }
        }
    }

    /// Sets the transaction modes of BEGIN, SET TRANSACTION or SET SESSION CHARACTERISTICS.
    pub(crate) fn set_transaction(
        &self,
        conversation: &mut Conversation,
        modes: &[Mode],
        session: bool,
    ) -> Result<()> {
        if !session && conversation.open().is_none() {
            let message = "SET TRANSACTION can only be used in transaction blocks";
            self.warn(SqlState::NoActiveSqlTransaction, message);
            return Ok(());
        }
        let flag = |is_on: bool| if is_on { "on" } else { "off" }.to_owned();
        for mode in modes {
            let (name, value) = match mode {
                Mode::ReadOnly(is_on) => ("transaction_read_only", flag(*is_on)),
                Mode::Deferrable(is_on) => ("transaction_deferrable", flag(*is_on)),
                Mode::Isolation(level) => ("transaction_isolation", level.clone()),
            };
            let name = if session { format!("default_{name}") } else { name.to_owned() };
            self.settings.load().refuse_late_mode(&name, &value, conversation.progress())?;
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
        for SettingRequest { name, value, is_local: local, .. } in asked {
            if local && conversation.open().is_none() {
                continue;
            }
            // The function has refused invalid values.
            let Ok(values) = values_of(&name, &value) else { continue };
            let set = conversation.change_settings(local, |set| set.set(&name, &values));
            debug_assert!(set.is_ok(), "{name} was tried before");
        }
    }

    fn show(&self, name: &str) -> Result<Outcome> {
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
        let own = match name {
            "is_superuser" if !self.context.is_superuser() => Some("off".to_owned()),
            name => cluster::value(store, name),
        };
        match own.or_else(|| settings.get(name)) {
            Some(value) => text_rows("SHOW", &[(known::shown_name(name), vec![value])]),
            None => Err(unknown(name)),
        }
    }
}

/// The columns of SHOW's result.
pub(crate) fn show_fields(name: &str) -> Vec<Field> {
    let names = match name {
        "all" => vec!["name", "setting", "description"],
        name => vec![known::shown_name(name)],
    };
    names.into_iter().map(|name| Field::new(name, SqlType::Text)).collect()
}

/// The zone of an interval, in hours.
fn zone_of(text: &str) -> Result<String> {
    let offset = interval::parse(text, -1, IntervalStyle::Postgres);
    let offset = offset.map_err(|error| refused(error, text, "interval"))?;
    if offset.months != 0 || offset.days != 0 {
        let message = "cannot specify months or days in a time zone interval";
        return Err(Error::new(SqlState::InvalidParameterValue, message));
    }
    Ok((offset.nanoseconds as f64 / 3.6e12).to_string())
}

/// Rows of text, for results without a plan.
pub(crate) fn text_rows(command: &'static str, columns: &[(&str, Vec<String>)]) -> Result<Outcome> {
    let fields = columns.iter().map(|(name, _)| ArrowField::new(*name, DataType::Utf8, false));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let arrays = columns.iter().map(|(_, v)| Arc::new(StringArray::from(v.clone())) as ArrayRef);
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays.collect())?;
    let field = |(name, _): &(&str, Vec<String>)| Field::new(*name, SqlType::Text);
    let stream = MemoryStream::try_new(vec![batch], schema, None)?;
    Ok(Outcome::Rows(Rows::ready(columns.iter().map(field).collect::<Vec<_>>(), stream, command)))
}
