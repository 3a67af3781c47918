//! Escape characters of LIKE patterns.

/// Rewrites a pattern with another escape character to one with the backslash.
pub fn with_backslashes(pattern: &str, escape: char) -> String {
    let mut out = String::new();
    let mut characters = pattern.chars();
    while let Some(c) = characters.next() {
        if c == escape {
            out.push('\\');
            out.extend(characters.next());
        } else if c == '\\' {
            out.push_str("\\\\");
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::with_backslashes;

    #[test]
    fn another_escape_becomes_a_backslash() {
        assert_eq!(with_backslashes("pg/_%", '/'), "pg\\_%");
        assert_eq!(with_backslashes("a//b", '/'), "a\\/b");
        assert_eq!(with_backslashes("a\\b", '/'), "a\\\\b");
    }
}
