//! Cuts SQL text into words, numbers, literals, symbols and spaces. Nothing is lost: the tokens together are the text.

/// The tokens of a text.
pub(crate) fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let length = first(rest)?;
        let (token, after) = rest.split_at(length);
        rest = after;
        Some(token)
    })
}

/// The length of the first token.
fn first(text: &str) -> Option<usize> {
    let start = text.chars().next()?;
    let end = |of: &dyn Fn(char) -> bool| text.find(|c| !of(c)).unwrap_or(text.len());
    Some(match start {
        '\'' | '"' => text[1..].find(start).map_or(text.len(), |at| at + 2),
        _ if start.is_whitespace() => end(&char::is_whitespace),
        _ if start.is_alphanumeric() || start == '_' => {
            end(&|c| c.is_alphanumeric() || c == '_' || c == '.')
        }
        ':' if text.starts_with("::") => 2,
        _ => start.len_utf8(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_the_text() {
        let text = "SELECT  a.b::int, 'x y' || \"c\" FROM t 'open";
        let tokens: Vec<&str> = split(text).collect();
        assert_eq!(tokens.concat(), text);
        assert_eq!(tokens[..5], ["SELECT", "  ", "a.b", "::", "int"]);
    }
}
