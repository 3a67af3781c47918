//! What was supposed on the way to a prediction, and is told with it.

/// Lines, each told once, in the order in which they came up.
#[derive(Debug, Default)]
pub(crate) struct Guesses(Vec<String>);

impl Guesses {
    /// One line, and no others.
    pub(crate) fn of(line: &str) -> Self {
        Self(vec![line.to_owned()])
    }

    /// Notes what was supposed.
    pub(crate) fn note(&mut self, line: String) {
        if !self.0.contains(&line) {
            self.0.push(line);
        }
    }

    /// All of it.
    pub(crate) fn lines(&self) -> &[String] {
        &self.0
    }
}

/// A part of the whole, as people read it.
pub(crate) fn percent(part: f64) -> String {
    let percent = 100.0 * part;
    match percent {
        _ if percent == 0.0 => "0 %".to_owned(),
        _ if percent >= 10.0 => format!("{percent:.0} %"),
        _ if percent >= 0.1 => format!("{percent:.1} %"),
        _ => format!("{percent:.1e} %"),
    }
}
