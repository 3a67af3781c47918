//! Output of an experiment: a line of text for each result, or a JSON object.

use serde_json::{Map, Value, json};
use std::io::{self, IsTerminal, Write};

/// The output of an experiment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Report {
    json: bool,
}

impl Report {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Prints one result: the values as JSON if that was asked for, else the text.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub(crate) fn result(&self, text: &str, values: Value) -> io::Result<()> {
        if self.json {
            return writeln!(io::stdout(), "{}", rounded(values));
        }
        writeln!(io::stdout(), "{text}")
    }

    /// Prints a heading, unless the output is JSON.
    ///
    /// # Errors
    /// As [`Report::result`].
    pub(crate) fn heading(&self, text: &str) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        writeln!(io::stdout(), "{text}")
    }

    /// Prints what the experiment does now, if standard error is a terminal.
    pub(crate) fn progress(&self, text: &str) {
        if io::stderr().is_terminal() {
            eprintln!("{text}");
        }
    }
}

/// Rounds floats to three decimals.
fn rounded(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (name, rounded(value)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Number(number) if number.is_f64() => {
            json!((number.as_f64().unwrap_or_default() * 1e3).round() / 1e3)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_floats_are_rounded() {
        let values = json!({"query": 1, "ms": 12.345_678, "peer": null, "more": {"x": 0.000_4}});
        let expected = json!({"query": 1, "ms": 12.346, "peer": null, "more": {"x": 0.0}});
        assert_eq!(rounded(values), expected);
    }
}
