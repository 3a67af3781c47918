//! The letters of zones in POSIX notation.

use super::Zone;

/// The most letters that are kept.
const LETTERS_MAX: usize = 16;

/// What times of a zone in POSIX notation are shown with: `FOO` of `FOO-5:30`, `<+0530>-5:30` has `+0530`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Letters([u8; LETTERS_MAX]);

impl Letters {
    /// The letters of a text; `None` for more than are kept.
    fn of(text: &str) -> Option<Self> {
        let mut letters = [0; LETTERS_MAX];
        letters.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Self(letters))
    }

    /// The letters as text.
    pub fn as_str(&self) -> &str {
        let length = self.0.iter().position(|byte| *byte == 0).unwrap_or(LETTERS_MAX);
        std::str::from_utf8(&self.0[..length]).unwrap_or_default()
    }
}

impl Zone {
    /// The zone with letters, unless its times are shown with them already, or they are too many.
    pub(super) fn with_letters(self, text: &str) -> Self {
        match (self, Letters::of(text)) {
            (Self::Offset(seconds), Some(letters)) if self.abbreviation_at(0) != text => {
                Self::Lettered(seconds, letters)
            }
            _ => self,
        }
    }
}
