//! Characters that stand for themselves.

/// Adds a character as `regex` writes it, also within sets. `\<` and `\>` would be the borders of words.
pub(super) fn push(character: char, out: &mut String) {
    if character.is_ascii_punctuation() && !matches!(character, '<' | '>') {
        out.push('\\');
    }
    out.push(character);
}
