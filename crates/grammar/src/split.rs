//! Scripts to the texts of their statements.

/// The statements of a script, each with the byte at which it begins. Blank statements are skipped. `None` if the text
/// cannot be divided by its semicolons alone.
pub fn split(script: &str) -> Option<Vec<(usize, &str)>> {
    let whole = script.trim_end().trim_end_matches(';');
    let pieces = match whole.contains(';') {
        false => vec![whole],
        true => pg_query::split_with_scanner(script).ok()?,
    };
    let start = script.as_ptr() as usize;
    let solid_pieces = pieces.into_iter().map(solid).filter(|piece| !piece.is_empty());
    let placed: Vec<(usize, &str)> =
        solid_pieces.map(|piece| (piece.as_ptr() as usize - start, piece)).collect();
    // With unbalanced parentheses the scanner leaves statements out.
    let mut end = 0;
    for (at, piece) in placed.iter().copied().chain([(script.len(), "")]) {
        if !solid(script.get(end..at)?).is_empty() {
            return None;
        }
        end = at + piece.len();
    }
    Some(placed)
}

/// A text without blanks and comments before it, and without blanks and semicolons behind it.
pub fn solid(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{b}', '\u{c}', ';']);
        rest = if rest.starts_with("--") {
            rest.find(['\n', '\r']).map_or("", |end| &rest[end..])
        } else if rest.starts_with("/*") {
            match comment_end(rest) {
                Some(end) => &rest[end..],
                None => break,
            }
        } else {
            break;
        };
    }
    rest.trim_end_matches(|last: char| last.is_ascii_whitespace() || last == ';')
}

/// The byte behind a comment, in which others may be nested.
fn comment_end(text: &str) -> Option<usize> {
    let (bytes, mut at, mut depth) = (text.as_bytes(), 0, 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_split_at_semicolons() {
        let texts = |script: &str| {
            let pieces = split(script).expect("is split");
            pieces.into_iter().map(|(at, text)| format!("{at}:{text}")).collect::<Vec<_>>()
        };
        assert_eq!(texts(" SELECT 1 ;\n"), ["1:SELECT 1"]);
        assert_eq!(texts("-- a;\n/* b /* c */ ; */ SELECT 1"), ["24:SELECT 1"]);
        let script = "select 1;\n ;-- note; more\n select ';' as semicolon ;";
        assert_eq!(texts(script), ["0:select 1", "27:select ';' as semicolon"]);
        assert_eq!(texts(" ; ;"), Vec::<String>::new());
        assert_eq!(split("select 1;\nselect 2 from )"), None);
        assert_eq!(texts("/* unfinished"), ["0:/* unfinished"]);
    }
}
