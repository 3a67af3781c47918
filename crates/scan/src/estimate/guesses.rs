//! Assumptions of a prediction, which are shown with it.

/// Lines of text without duplicates, in the order in which they were noted.
#[derive(Debug, Default)]
pub struct Guesses(Vec<String>);

impl Guesses {
    /// A single line.
    pub fn of(line: &str) -> Self {
        Self(vec![line.to_owned()])
    }

    /// Adds a line.
    pub fn note(&mut self, line: String) {
        if !self.0.contains(&line) {
            self.0.push(line);
        }
    }

    /// All lines.
    pub fn lines(&self) -> &[String] {
        &self.0
    }
}

/// A share from 0 to 1 as a percentage.
pub fn percent(part: f64) -> String {
    let percent = 100.0 * part;
    match percent {
        _ if percent == 0.0 => "0 %".to_owned(),
        _ if percent >= 10.0 => format!("{percent:.0} %"),
        _ if percent >= 0.1 => format!("{percent:.1} %"),
        _ => format!("{percent:.1e} %"),
    }
}
