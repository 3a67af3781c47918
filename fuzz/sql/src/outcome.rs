//! What a statement came to: an answer, a refusal, or a finding.

use std::fmt;

/// What is wrong with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Defect {
    /// The process has ended.
    Dead,
    /// The statement does not end, although it has a time-out.
    Hang,
    /// The server answers nobody else while the statement runs.
    Deaf,
    /// The process has more memory than it was told to take.
    Memory,
    /// The connection was lost, or an answer was malformed.
    Protocol,
    /// An internal error.
    Internal,
    /// An error without an SQLSTATE.
    Codeless,
}

impl Defect {
    /// Whether the server goes on as if nothing had happened.
    pub(crate) fn leaves_the_server(self) -> bool {
        matches!(self, Self::Internal | Self::Codeless)
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dead => "dead",
            Self::Hang => "hang",
            Self::Deaf => "deaf",
            Self::Memory => "memory",
            Self::Protocol => "protocol",
            Self::Internal => "internal",
            Self::Codeless => "codeless",
        })
    }
}

/// What a statement came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was executed.
    Done,
    /// It was refused with this SQLSTATE and message.
    Refused(String, String),
    /// It shows a defect; the text says more.
    Found(Defect, String),
}

/// The text without what differs between two findings of one cause: numbers, and names in quotes.
pub(crate) fn normalized(text: &str) -> String {
    let mut quoted = false;
    let mut normal = String::new();
    for character in text.chars().take(300) {
        match character {
            '"' | '\'' | '`' => quoted = !quoted,
            _ if quoted => {}
            '0'..='9' if normal.ends_with('0') => {}
            '0'..='9' => normal.push('0'),
            _ => normal.push(character),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_do_not_make_another_finding() {
        assert_eq!(normalized("column \"a\" at 123"), normalized("column \"bc\" at 9"));
        assert_ne!(normalized("no column"), normalized("no table"));
    }
}
