//! Positions in a statement: lines and columns to character offsets.

use datafusion::sql::sqlparser::tokenizer::Location;

/// The character offset of each line of a text.
pub struct Lines {
    starts: Vec<usize>,
    characters: usize,
}

impl Lines {
    /// Finds the lines of a text.
    pub fn new(text: &str) -> Self {
        let mut starts = vec![0];
        let mut characters = 0;
        for c in text.chars() {
            characters += 1;
            if c == '\n' {
                starts.push(characters);
            }
        }
        Self { starts, characters }
    }

    /// The number of characters of the text.
    pub fn characters(&self) -> usize {
        self.characters
    }

    /// The number of characters before a location. Lines and columns count from 1; line 0 and
    /// lines beyond the last are the end of the text.
    pub fn character(&self, location: Location) -> usize {
        let line = (location.line as usize).checked_sub(1).and_then(|line| self.starts.get(line));
        match line {
            Some(start) => {
                (start + (location.column as usize).saturating_sub(1)).min(self.characters)
            }
            None => self.characters,
        }
    }
}
