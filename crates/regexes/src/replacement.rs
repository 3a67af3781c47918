//! What matches are replaced by.

use super::dissect::Spans;

/// A part of a replacement.
enum Part {
    Text(String),
    /// A group; 0 is the whole match.
    Group(usize),
}

/// The text that replaces a match: `\&` is the match, `\1` to `\9` are groups.
pub struct Replacement(Vec<Part>);

impl Replacement {
    /// The replacement that a text writes.
    pub fn parse(text: &str) -> Self {
        let (mut parts, mut plain) = (Vec::new(), String::new());
        let mut characters = text.chars().peekable();
        while let Some(next) = characters.next() {
            let group = match (next, characters.peek()) {
                ('\\', Some('&')) => 0,
                ('\\', Some(digit @ '1'..='9')) => *digit as usize - '0' as usize,
                ('\\', Some('\\')) => {
                    characters.next();
                    plain.push('\\');
                    continue;
                }
                _ => {
                    plain.push(next);
                    continue;
                }
            };
            characters.next();
            parts.push(Part::Text(std::mem::take(&mut plain)));
            parts.push(Part::Group(group));
        }
        parts.push(Part::Text(plain));
        Self(parts)
    }

    /// Appends what replaces a match.
    pub fn write(&self, text: &str, spans: &Spans, out: &mut String) {
        for part in &self.0 {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Group(group) => {
                    if let Some((start, end)) = spans.get(*group).copied().flatten() {
                        out.push_str(&text[start..end]);
                    }
                }
            }
        }
    }
}
