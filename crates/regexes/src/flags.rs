//! Options of regular expressions, given as letters.

use values::error::{Error, Result, SqlState};

/// Options of a regular expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags {
    /// `g`: all matches.
    pub is_global: bool,
    /// Letters match in any case.
    pub ignores_case: bool,
    /// `q`: every character stands for itself.
    pub is_literal: bool,
    /// Blanks and comments in the pattern do not count.
    pub is_expanded: bool,
    /// `^` and `$` match at line breaks.
    pub has_lines: bool,
    /// `.` and `[^...]` do not match line breaks.
    pub stops_at_lines: bool,
}

impl Flags {
    /// Reads letters.
    ///
    /// # Errors
    /// 22023: there is no such option. 0A000: basic regular expressions.
    pub fn parse(letters: &str) -> Result<Self> {
        let mut flags = Self::default();
        for letter in letters.chars() {
            if letter == 'g' {
                flags.is_global = true;
            } else if !flags.set(letter)? {
                let message = format!("invalid regular expression option: \"{letter}\"");
                return Err(Error::new(SqlState::InvalidParameterValue, message));
            }
        }
        Ok(flags)
    }

    /// Sets an option; returns whether there is such a one.
    pub(super) fn set(&mut self, letter: char) -> Result<bool> {
        match letter {
            'c' => self.ignores_case = false,
            'i' => self.ignores_case = true,
            'n' | 'm' => (self.has_lines, self.stops_at_lines) = (true, true),
            'p' => (self.has_lines, self.stops_at_lines) = (false, true),
            'w' => (self.has_lines, self.stops_at_lines) = (true, false),
            's' => (self.has_lines, self.stops_at_lines) = (false, false),
            'q' => self.is_literal = true,
            'x' => self.is_expanded = true,
            't' => self.is_expanded = false,
            // Extended regular expressions lack a few escapes of advanced ones.
            'e' => (),
            'b' => return Err(Error::unsupported("basic regular expressions are not supported")),
            _ => return Ok(false),
        }
        Ok(true)
    }
}
