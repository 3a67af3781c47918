//! `*` in texts that are kept.

use analyzer::Star;
use catalog_views::pg_catalog::quote_ident;

/// A text with the columns that each `*` stands for. One whose columns names cannot tell apart stays.
pub(super) fn written_out(text: &str, mut stars: Vec<Star>) -> String {
    stars.sort_by_key(|star| std::cmp::Reverse(star.location));
    let mut written = text.to_owned();
    for star in stars {
        let Some(length) = text.get(star.location..).and_then(length) else { continue };
        if !star.columns.is_empty() {
            let columns = star.columns.iter().map(|(relation, column)| match relation {
                Some(relation) => format!("{}.{}", quote_ident(relation), quote_ident(column)),
                None => quote_ident(column),
            });
            let columns = columns.collect::<Vec<_>>().join(", ");
            written.replace_range(star.location..star.location + length, &columns);
        }
    }
    written
}

/// The length of the `*` or `t.*` with which a text begins.
fn length(text: &str) -> Option<usize> {
    let mut is_quoted = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '*' if !is_quoted => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_become_the_columns_that_they_stand_for() {
        let text = "SELECT *, \"a*\".* FROM a";
        let star = |location, columns: &[(Option<&str>, &str)]| Star {
            location,
            columns: columns
                .iter()
                .map(|(relation, column)| (relation.map(str::to_owned), (*column).to_owned()))
                .collect(),
        };
        let stars = vec![star(7, &[(None, "x"), (None, "Y")]), star(10, &[(Some("a*"), "x")])];
        assert_eq!(written_out(text, stars), "SELECT x, \"Y\", \"a*\".x FROM a");
        assert_eq!(written_out(text, vec![star(7, &[])]), text);
    }
}
