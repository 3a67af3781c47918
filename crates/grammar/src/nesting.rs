//! How deeply a text nests, by its tokens.

use pg_query::protobuf::Token;

/// How deeply parentheses, brackets, CASE and operators before their operands may nest.
const NESTED_MAX: usize = 256;

/// Whether a text nests too deep to be parsed.
pub(crate) fn is_too_deep(text: &str) -> bool {
    if signs(text) <= NESTED_MAX {
        return false;
    }
    // The parser refuses a text without tokens.
    let Ok(tokens) = pg_query::scan_tokens(text) else { return false };
    let (mut open, mut prefixes) = (0_usize, 0_usize);
    for token in tokens {
        let is_prefix = match token.token() {
            Token::SqlComment | Token::CComment => continue,
            Token::Ascii40 | Token::Ascii91 | Token::Case => {
                open += 1;
                false
            }
            Token::Ascii41 | Token::Ascii93 | Token::EndP => {
                open = open.saturating_sub(1);
                false
            }
            Token::Ascii59 => {
                open = 0;
                false
            }
            Token::Not | Token::Ascii43 | Token::Ascii45 | Token::Op => true,
            _ => false,
        };
        prefixes = if is_prefix { prefixes + 1 } else { 0 };
        if open + prefixes > NESTED_MAX {
            return true;
        }
    }
    false
}

/// At least the number of a text's tokens that nest.
fn signs(text: &str) -> usize {
    let bytes = text.as_bytes();
    if bytes.len() <= NESTED_MAX {
        return 0;
    }
    let is_word = |at: usize, word: &[u8]| {
        bytes.get(at..at + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word))
    };
    let nests = |(at, byte): (usize, &u8)| match byte {
        b'c' | b'C' => is_word(at, b"case"),
        b'n' | b'N' => is_word(at, b"not"),
        b'(' | b'[' | b'+' | b'-' | b'*' | b'/' | b'<' | b'>' | b'=' | b'~' | b'!' | b'@'
        | b'#' | b'%' | b'^' | b'&' | b'|' | b'`' | b'?' => true,
        _ => false,
    };
    bytes.iter().enumerate().filter(|part| nests(*part)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_texts_are_told_from_long_ones() {
        let nested = |open: &str, close: &str, depth| {
            format!("SELECT {}1{}", open.repeat(depth), close.repeat(depth))
        };
        for (open, close) in [
            ("(", ")"),
            ("ARRAY[", "]"),
            ("CASE WHEN true THEN ", " END"),
            ("NOT ", ""),
            ("- /* - */ ", ""),
            ("~ ", ""),
            ("abs(-", ")"),
        ] {
            assert!(!is_too_deep(&nested(open, close, 100)), "{open}");
            assert!(is_too_deep(&nested(open, close, 300)), "{open}");
            assert!(is_too_deep(&nested(open, close, 20_000)), "{open}");
        }
        let rows = format!("INSERT INTO t VALUES {}(1)", "((1), '((('), ".repeat(1_000));
        assert!(!is_too_deep(&rows));
        assert!(!is_too_deep(&format!("SELECT 1{}", " + 1".repeat(250_000))));
        assert!(!is_too_deep(&"SELECT (1; ".repeat(1_000)));
        assert!(!is_too_deep(&format!("SELECT '{}", "(".repeat(1_000))));
    }
}
