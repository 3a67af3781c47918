//! Patterns cut into parts: fields with their modifiers, separators, blanks and other characters.

/// Which letters a name is written with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letters {
    Upper,
    Capital,
    Lower,
}

/// A part of a pattern; `K` is the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<K> {
    Field(K, Modifiers),
    /// A printing character that is neither letter nor digit, in patterns of moments.
    Separator,
    Space(char),
    Text(char),
}

/// What stands before and after a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Modifiers {
    /// `FM`: no blanks and zeros that fill up.
    pub(super) fill: bool,
    /// `TM`: names in the language of the session.
    pub(super) local: bool,
    /// `TH`: the ending of an ordinal number.
    pub(super) ordinal: Option<Letters>,
}

/// A part and the character that it was, if it is no field.
pub(super) type Parts<K> = Vec<(Part<K>, Option<char>)>;

/// Cuts a pattern. `field` finds the field at the start of a text, and its length in bytes.
pub(super) fn parse<K>(
    mut text: &str,
    is_moment: bool,
    field: impl Fn(&str) -> Option<(K, usize)>,
) -> Parts<K> {
    let mut parts = Vec::new();
    while !text.is_empty() {
        let mut modifiers = Modifiers::default();
        if is_moment {
            text = prefix(text, &mut modifiers);
        }
        if let Some((field, length)) = field(text) {
            text = &text[length..];
            if is_moment {
                text = suffix(text, &mut modifiers);
            }
            parts.push((Part::Field(field, modifiers), None));
        } else if let Some(quoted) = text.strip_prefix('"') {
            text = quote(quoted, &mut parts);
        } else {
            text = character(text, is_moment, &mut parts);
        }
    }
    parts
}

fn prefix<'a>(text: &'a str, modifiers: &mut Modifiers) -> &'a str {
    let after = |word: &str| text.strip_prefix(word);
    if let Some(rest) = after("FM").or_else(|| after("fm")) {
        modifiers.fill = true;
        return rest;
    }
    if let Some(rest) = after("TM").or_else(|| after("tm")) {
        modifiers.local = true;
        return rest;
    }
    text
}

fn suffix<'a>(text: &'a str, modifiers: &mut Modifiers) -> &'a str {
    for (word, ordinal) in [
        ("TH", Some(Letters::Upper)),
        ("th", Some(Letters::Lower)),
        // Numbers in words, which PostgreSQL does not write either.
        ("SP", None),
        ("sp", None),
    ] {
        if let Some(rest) = text.strip_prefix(word) {
            modifiers.ordinal = ordinal;
            return rest;
        }
    }
    text
}

/// Takes text up to the closing quote; a backslash quotes the next character.
fn quote<'a, K>(text: &'a str, parts: &mut Parts<K>) -> &'a str {
    let mut characters = text.chars();
    while let Some(mut next) = characters.next() {
        if next == '"' {
            break;
        }
        if next == '\\' && !characters.as_str().is_empty() {
            next = characters.next().unwrap_or(next);
        }
        parts.push((Part::Text(next), Some(next)));
    }
    characters.as_str()
}

/// Takes one character; a backslash quotes a double quote only.
fn character<'a, K>(text: &'a str, is_moment: bool, parts: &mut Parts<K>) -> &'a str {
    let text = if text.starts_with("\\\"") { &text[1..] } else { text };
    let mut characters = text.chars();
    if let Some(next) = characters.next() {
        let part = match next {
            next if is_moment && is_separator(next) => Part::Separator,
            next if is_space(next) => Part::Space(next),
            next => Part::Text(next),
        };
        parts.push((part, Some(next)));
    }
    characters.as_str()
}

/// Whether a character separates fields.
pub(super) fn is_separator(character: char) -> bool {
    character.is_ascii_punctuation()
}

/// Whether a character is a blank.
pub(super) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r')
}

/// The ending of an ordinal number: `st`, `nd`, `rd` or `th`.
pub(super) fn ordinal(number: &str, letters: Letters) -> &'static str {
    let mut last = number.bytes().rev();
    let (unit, ten) = (last.next(), last.next());
    let (upper, lower) = match (ten, unit) {
        (Some(b'1'), _) => ("TH", "th"),
        (_, Some(b'1')) => ("ST", "st"),
        (_, Some(b'2')) => ("ND", "nd"),
        (_, Some(b'3')) => ("RD", "rd"),
        _ => ("TH", "th"),
    };
    if letters == Letters::Upper { upper } else { lower }
}
