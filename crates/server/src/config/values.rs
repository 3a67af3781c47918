//! Settings as texts, each with its source.

use super::{ConfigError, SETTINGS};
use std::collections::BTreeMap;
use std::fmt;
use toml::de::{DeTable, DeValue};

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The default.
    Default,
    /// A file, and the line in it.
    File(String, usize),
    /// An environment variable.
    Environment(String),
    /// A command line flag.
    Flag(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(file, line) => write!(f, "{file}, line {line}"),
            Self::Environment(name) => write!(f, "environment ({name})"),
            Self::Flag(name) => write!(f, "flag ({name})"),
        }
    }
}

/// The values of all settings, with their sources.
#[derive(Debug, Clone)]
pub struct Values(BTreeMap<&'static str, (String, Source)>);

impl Values {
    /// Gathers flags, environment variables and the file; other settings have their defaults.
    ///
    /// # Errors
    /// The file is not TOML, or has a key that is not a setting.
    pub fn gather(
        flags: &[(String, String)],
        environment: impl Fn(&str) -> Option<String>,
        file: Option<(&str, &str)>,
    ) -> Result<Self, ConfigError> {
        let mut values = Self(BTreeMap::new());
        for setting in SETTINGS {
            values.0.insert(setting.name, (setting.default.to_owned(), Source::Default));
        }
        if let Some((name, text)) = file {
            values.take_file(name, text)?;
        }
        for setting in SETTINGS {
            let variable = format!("PANDO_{}", setting.name.to_uppercase());
            if let Some(value) = environment(&variable) {
                values.0.insert(setting.name, (value, Source::Environment(variable)));
            }
        }
        for (name, value) in flags {
            if let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) {
                let flag = format!("--{}", setting.flag);
                values.0.insert(setting.name, (value.clone(), Source::Flag(flag)));
            }
        }
        Ok(values)
    }

    fn take_file(&mut self, file: &str, text: &str) -> Result<(), ConfigError> {
        let table = DeTable::parse(text)
            .map_err(|error| ConfigError::Syntax(format!("{file}: {error}")))?;
        for (key, value) in table.get_ref() {
            let line = 1 + text[..key.span().start.min(text.len())].matches('\n').count();
            let name = key.get_ref().as_ref();
            let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) else {
                let place = format!("{file}, line {line}");
                let hint = nearest(name).map(|near| format!(". Is it {near}?")).unwrap_or_default();
                return Err(ConfigError::Unknown { place, name: name.to_owned(), hint });
            };
            let value = match value.get_ref() {
                DeValue::String(text) => text.to_string(),
                DeValue::Integer(number) => number.to_string(),
                DeValue::Boolean(flag) => flag.to_string(),
                _ => text[value.span()].trim().to_owned(),
            };
            self.0.insert(setting.name, (value, Source::File(file.to_owned(), line)));
        }
        Ok(())
    }

    /// A setting's text; empty if it has no value.
    pub fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |(value, _)| value.as_str())
    }

    /// Parses a setting.
    ///
    /// # Errors
    /// The value is invalid. The error names the setting and the source.
    pub fn read<T>(
        &self,
        name: &'static str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, ConfigError> {
        read(self.get(name)).map_err(|reason| ConfigError::Value {
            source_of_value: self.0.get(name).map(|(_, s)| s.to_string()).unwrap_or_default(),
            name,
            value: self.get(name).to_owned(),
            reason,
        })
    }
}

impl fmt::Display for Values {
    /// One line per setting: name, value, source.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for setting in SETTINGS {
            if let Some((value, source)) = self.0.get(setting.name) {
                let value = if is_secret(setting.name, value) { "(not shown)" } else { value };
                writeln!(f, "{:<24} {:<24} {source}", setting.name, format!("\"{value}\""))?;
            }
        }
        Ok(())
    }
}

/// Whether a value must not be displayed.
fn is_secret(name: &str, value: &str) -> bool {
    name == "token" && !value.is_empty()
}

/// The setting with the most similar name, if it is similar enough.
fn nearest(name: &str) -> Option<&'static str> {
    let distances = SETTINGS.iter().map(|setting| (distance(setting.name, name), setting.name));
    distances.min().filter(|(distance, _)| *distance <= 3).map(|(_, name)| name)
}

/// The number of letters to change, insert or delete (Levenshtein, 1966).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
