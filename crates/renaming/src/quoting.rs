//! Names as they are written.

use catalog_views::pg_catalog::quote_ident;

/// A name in parts.
pub(crate) fn joined(parts: &[String]) -> String {
    parts.iter().map(|part| quote_ident(part)).collect::<Vec<_>>().join(".")
}

/// A name in parts in quotes, as defaults of serial columns have it.
pub(crate) fn always_quoted(parts: &[String]) -> String {
    let quoted = parts.iter().map(|part| format!("\"{}\"", part.replace('"', "\"\"")));
    quoted.collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_grammar_are_quoted() {
        let parts = ["public", "left", "A", "user", "plain"].map(str::to_owned);
        assert_eq!(joined(&parts), "public.\"left\".\"A\".\"user\".plain");
    }
}
