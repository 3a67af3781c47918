//! Places in a text: lines and columns to characters.

use datafusion::sql::sqlparser::tokenizer::Location;

/// Where each line of a text begins, to turn lines and columns into characters.
pub(crate) struct Lines {
    starts: Vec<usize>,
    characters: usize,
}

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
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

    /// Characters of the whole text.
    pub(crate) fn characters(&self) -> usize {
        self.characters
    }

    /// Characters before a place. Lines and columns count from 1; a place with line 0 is the end.
    pub(crate) fn character(&self, location: Location) -> usize {
        let line = (location.line as usize).checked_sub(1).and_then(|line| self.starts.get(line));
        match line {
            Some(start) => {
                (start + (location.column as usize).saturating_sub(1)).min(self.characters)
            }
            None => self.characters,
        }
    }
}
