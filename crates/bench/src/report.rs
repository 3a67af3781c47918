//! What an experiment prints: a line of text for people as each figure is known, or one JSON object a line.

use serde_json::{Map, Value, json};
use std::io::{self, IsTerminal, Write};

/// Where results go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Report {
    json: bool,
}

impl Report {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Prints one result: for people the text, for programs the values.
    ///
    /// # Errors
    /// Where nobody reads any more, or the output cannot be written.
    pub(crate) fn result(&self, text: &str, values: Value) -> io::Result<()> {
        match self.json {
            true => writeln!(io::stdout(), "{}", rounded(values)),
            false => writeln!(io::stdout(), "{text}"),
        }
    }

    /// Prints a heading, for people only.
    ///
    /// # Errors
    /// Those of [`Report::result`].
    pub(crate) fn heading(&self, text: &str) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        writeln!(io::stdout(), "{text}")
    }

    /// Says what goes on now, to somebody who watches.
    pub(crate) fn progress(&self, text: &str) {
        if io::stderr().is_terminal() {
            eprintln!("{text}");
        }
    }
}

/// The same with floats of at most three decimals: nothing here is measured better.
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
    fn floats_are_short_and_the_rest_is_kept() {
        let values = json!({"query": 1, "ms": 12.345_678, "peer": null, "more": {"x": 0.000_4}});
        let expected = json!({"query": 1, "ms": 12.346, "peer": null, "more": {"x": 0.0}});
        assert_eq!(rounded(values), expected);
    }
}
