//! RAISE and ASSERT.

use super::Machine;
use super::host::{Host, Raised, Severity};
use crate::tree::{Level, Raise, Sql};
use std::pin::Pin;
use values::error::{Error, Result, SqlState};

/// The text of a row, which may have others in it.
type RowText<'a> = Pin<Box<dyn Future<Output = Result<String>> + Send + 'a>>;

impl<H: Host> Machine<'_, H> {
    /// Says a message, or fails with it.
    pub(super) async fn raise(&mut self, raise: &Raise) -> Result<()> {
        let Some(level) = raise.level else {
            return Err(match self.errors.last() {
                Some(error) => {
                    self.raises_again = true;
                    error.clone()
                }
                None => {
                    let message =
                        "RAISE without parameters cannot be used outside an exception handler";
                    Error::new(SqlState::chosen("0Z002"), message)
                }
            });
        };
        let mut code = raise.condition.clone();
        let mut message = match &raise.format {
            Some(format) => Some(self.formatted(format, &raise.values).await?),
            None => None,
        };
        let (mut detail, mut hint, mut named) = (None, None, Vec::new());
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in &raise.options {
            let Some(text) = self.text_of(value).await? else {
                let message = "RAISE statement option cannot be null";
                return Err(Error::new(SqlState::NullValueNotAllowed, message));
            };
            let is_known = name == "message" && raise.format.is_some()
                || name == "errcode" && raise.condition.is_some();
            if is_known || seen.contains(&name.as_str()) {
                return Err(repeated(&name.to_uppercase()));
            }
            seen.push(name);
            match name.as_str() {
                "errcode" => code = Some(self.code(&text)?),
                "message" => message = Some(text),
                "detail" => detail = Some(text),
                "hint" => hint = Some(text),
                _ => named.push((name.as_str(), text)),
            }
        }
        let is_error = level == Level::Exception;
        let usual = if is_error { "P0001" } else { "00000" };
        // The code of success stands for none.
        let chosen = code.as_deref().filter(|code| *code != "00000");
        let state = SqlState::chosen(chosen.unwrap_or(match level {
            Level::Warning => "01000",
            _ => usual,
        }));
        let message = message.or_else(|| raise.name.clone()).or(code);
        let message = message.unwrap_or_else(|| usual.to_owned());
        let mut error = Error::new(state, message);
        if let Some(detail) = detail {
            error = error.with_detail(detail);
        }
        if let Some(hint) = hint {
            error = error.with_hint(hint);
        }
        let error = named.into_iter().fold(error, about);
        let Some(severity) = severity(level) else { return Err(error) };
        self.host.say(Raised { severity, error });
        Ok(())
    }

    /// The SQLSTATE of ERRCODE, which may be the name of a condition.
    fn code(&self, text: &str) -> Result<String> {
        if text.len() == 5 && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit()) {
            return Ok(text.to_owned());
        }
        let rows = include_str!("../../data/conditions.tsv").lines();
        let mut pairs = rows.filter_map(|line| line.split_once('\t'));
        pairs.find(|(name, _)| *name == text).map(|(_, code)| code.to_owned()).ok_or_else(|| {
            let message = format!("unrecognized exception condition \"{text}\"");
            Error::new(SqlState::UndefinedObject, message)
        })
    }

    /// A value as text.
    pub(super) async fn text_of(&mut self, sql: &Sql) -> Result<Option<String>> {
        let name = sql.text.trim().to_lowercase();
        if let Some(fields) = self.scopes.row_named(&name) {
            let fields = fields.unwrap_or_default();
            let values: Vec<H::Value> =
                fields.into_iter().map(|(_, value)| value.clone()).collect();
            return match values.iter().all(|value| self.host.is_null(value)) {
                true => Ok(None),
                false => self.text_of_row(values).await.map(Some),
            };
        }
        let value = self.value(sql, None).await?;
        self.text_of_value(value).await
    }

    /// A row as text.
    fn text_of_row<'a>(&'a mut self, values: Vec<H::Value>) -> RowText<'a> {
        Box::pin(async move {
            let mut texts = Vec::with_capacity(values.len());
            for value in values {
                let text = self.text_of_value(value).await?;
                texts.push(text.map_or_else(String::new, |text| field(&text)));
            }
            Ok(format!("({})", texts.join(",")))
        })
    }

    pub(super) async fn text_of_value(&mut self, value: H::Value) -> Result<Option<String>> {
        // The output of a truth value is not its text.
        if let Some(truth) = self.host.truth(&value) {
            return Ok(Some(if truth { "t" } else { "f" }.to_owned()));
        }
        // A row without a type has no conversion.
        if let (None, Some(fields)) = (self.host.attributes(&value), self.host.fields(&value)) {
            return self.text_of_row(fields).await.map(Some);
        }
        let of = self.host.type_of(&value);
        let value = self.host.convert(value, "text").await?;
        let text = self.host.text(&value);
        // The output of `character(n)` has the blanks that its text has not.
        let length = of.strip_prefix("character(").and_then(|rest| rest.strip_suffix(')'));
        Ok(match length.and_then(|length| length.parse::<usize>().ok()) {
            Some(length) => text.map(|text| with_blanks(text, length)),
            None => text,
        })
    }

    /// A message with values in the places of `%`.
    async fn formatted(&mut self, format: &str, values: &[Sql]) -> Result<String> {
        let mut text = String::new();
        let mut values = values.iter();
        let mut letters = format.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '%' if letters.peek() == Some(&'%') => {
                    letters.next();
                    text.push('%');
                }
                '%' => {
                    let value = match values.next() {
                        Some(value) => self.text_of(value).await?,
                        None => None,
                    };
                    text.push_str(value.as_deref().unwrap_or("<NULL>"));
                }
                letter => text.push(letter),
            }
        }
        Ok(text)
    }

    /// ASSERT.
    pub(super) async fn assert(&mut self, condition: &Sql, message: Option<&Sql>) -> Result<()> {
        if self.holds(condition).await? {
            return Ok(());
        }
        let given = match message {
            Some(message) => self.text_of(message).await?,
            None => None,
        };
        let message = given.unwrap_or_else(|| "assertion failed".to_owned());
        Err(Error::new(SqlState::AssertFailure, message))
    }
}

/// A text of some characters, with blanks at its end. A width of `format!` has 16 bits only.
fn with_blanks(mut text: String, length: usize) -> String {
    let missing = length.saturating_sub(text.chars().count());
    text.extend(std::iter::repeat_n(' ', missing));
    text
}

/// The text of a field in that of its row.
fn field(text: &str) -> String {
    let is_special = |c: char| c.is_ascii_whitespace() || "(),\"\\".contains(c);
    match text.is_empty() || text.contains(is_special) {
        true => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// An error with one of the names that it is about.
fn about(error: Error, (name, text): (&str, String)) -> Error {
    match name {
        "column" => error.of_column(&text),
        "constraint" => error.of_constraint(&text),
        "table" => {
            let schema = error.subject().schema.clone().unwrap_or_default();
            error.of_table(&schema, &text)
        }
        "schema" => {
            let table = error.subject().table.clone().unwrap_or_default();
            error.of_table(&text, &table)
        }
        _ => error,
    }
}

/// The severity of a message; `None` for an error.
fn severity(level: Level) -> Option<Severity> {
    match level {
        Level::Exception => None,
        Level::Debug => Some(Severity::Debug),
        Level::Log => Some(Severity::Log),
        Level::Info => Some(Severity::Info),
        Level::Notice => Some(Severity::Notice),
        Level::Warning => Some(Severity::Warning),
    }
}

fn repeated(option: &str) -> Error {
    let message = format!("RAISE option already specified: {option}");
    Error::new(SqlState::SyntaxError, message)
}
