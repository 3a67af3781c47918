//! Texts in which a word is written in another way: a name, or a constant string.
//!
//! Which places of a text mean what has another name, only its binding tells. [`Word::texts`] are the texts to try.

use pg_query::protobuf::Token;

/// The most places of a text that are tried.
const PLACES_MAX: usize = 6;

/// A word, and what is written in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    is_string: bool,
    old: String,
    new: String,
}

impl Word {
    /// A constant string.
    pub fn string(old: &str, new: &str) -> Self {
        let new = format!("'{}'", new.replace('\'', "''"));
        Self { is_string: true, old: old.to_owned(), new }
    }

    /// A name; `new` is the other one as it is written.
    pub fn name(old: &str, new: String) -> Self {
        Self { is_string: false, old: old.to_owned(), new }
    }

    /// The word as it is written.
    pub fn written(&self) -> String {
        match self.is_string {
            true => format!("'{}'", self.old.replace('\'', "''")),
            false => self.old.clone(),
        }
    }

    /// Whether it is a name.
    pub fn is_name(&self) -> bool {
        !self.is_string
    }

    /// Whether a text may have the word, perhaps written in another way than [`texts`](Self::texts) finds.
    pub fn may_be_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        // Quotes are doubled, and some strings have escapes.
        let is_plain = !self.old.contains(['\'', '"', '\\']) && !text.contains(['\\']);
        !is_plain || text.contains("u&") || text.contains(&self.old.to_lowercase())
    }

    /// The text with the word in other ways at some places, at few ones first: it comes first as it is, and alone if there
    /// are too many places.
    pub fn texts(&self, text: &str) -> Vec<String> {
        let places = self.places(text).filter(|places| places.len() <= PLACES_MAX);
        let places = places.unwrap_or_default();
        let mut choices: Vec<u32> = (0..1 << places.len()).collect();
        choices.sort_by_key(|choice| choice.count_ones());
        choices.into_iter().map(|choice| self.replaced(text, &places, choice)).collect()
    }

    /// The first bytes of the word in a text, and those behind it, the last place first.
    fn places(&self, text: &str) -> Option<Vec<(usize, usize)>> {
        let mut places = Vec::new();
        for token in pg_query::scan_tokens(text).ok()? {
            let place = (usize::try_from(token.start).ok()?, usize::try_from(token.end).ok()?);
            let written = text.get(place.0..place.1)?;
            let is_it = match token.token() {
                Token::SqlComment | Token::CComment => false,
                Token::Sconst => {
                    self.is_string && unquoted(written, '\'').as_deref() == Some(&*self.old)
                }
                _ if self.is_string => false,
                _ => {
                    let quoted = unquoted(written, '"');
                    quoted.unwrap_or_else(|| written.to_ascii_lowercase()) == self.old
                }
            };
            if is_it {
                places.push(place);
            }
        }
        places.reverse();
        Some(places)
    }

    /// A text with the word in another way at the places that `choice` has a bit for.
    fn replaced(&self, text: &str, places: &[(usize, usize)], choice: u32) -> String {
        let mut replaced = text.to_owned();
        for (at, (start, end)) in places.iter().enumerate() {
            if choice >> at & 1 == 1 {
                replaced.replace_range(*start..*end, &self.new);
            }
        }
        replaced
    }
}

/// What stands in quotes, which are doubled within. `None` for what does not begin with one.
fn unquoted(written: &str, quote: char) -> Option<String> {
    let inner = written.strip_prefix(quote)?.strip_suffix(quote)?;
    let (doubled, one) = (quote.to_string().repeat(2), quote.to_string());
    Some(inner.replace(&doubled, &one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_replaced_at_few_places_first() {
        let word = Word::string("a", "it's");
        let texts = word.texts("SELECT 'a', a, E'a', 'a' -- 'a'");
        assert_eq!(texts.len(), 4);
        assert_eq!(texts[0], "SELECT 'a', a, E'a', 'a' -- 'a'");
        assert!(texts[1..3].contains(&"SELECT 'it''s', a, E'a', 'a' -- 'a'".to_owned()));
        assert_eq!(texts[3], "SELECT 'it''s', a, E'a', 'it''s' -- 'a'");
        assert!(word.may_be_in("'A'") && !word.may_be_in("'b'"));
    }

    #[test]
    fn names_are_found_in_any_case() {
        let word = Word::name("a", "\"B\"".to_owned());
        let texts = word.texts("(x).A + \"a\" + 'a'");
        assert_eq!(texts.last().map(String::as_str), Some("(x).\"B\" + \"B\" + 'a'"));
        assert_eq!(word.texts(&"a ".repeat(PLACES_MAX + 1)).len(), 1);
    }
}
