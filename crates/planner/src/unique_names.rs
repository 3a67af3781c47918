//! Unique aliases for result columns that share a name.
//!
//! PostgreSQL allows equal names, DataFusion does not. All but the first column of a name get an
//! alias that no user can write; [`shown`] recovers the name.

/// Begins every such alias.
const MARK: &str = "?again";

/// The alias of the column at `position` of the select list that shares `name`.
pub fn again(position: usize, name: &str) -> String {
    format!("{MARK}{position}?{name}")
}

/// The name of a result column without the alias.
pub fn shown(name: &str) -> &str {
    match name.strip_prefix(MARK) {
        Some(rest) => rest.split_once('?').map_or(rest, |(_, name)| name),
        None => name,
    }
}

/// A text, such as a plan, in which every alias is replaced by the name.
pub fn all_shown(text: &str) -> String {
    let mut parts = text.split(MARK);
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = part.trim_start_matches(|digit: char| digit.is_ascii_digit()).strip_prefix('?');
        match name {
            Some(name) => all.push_str(name),
            None => all.extend([MARK, part]),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_are_replaced_by_names() {
        let (first, twelfth) = (again(1, "sum"), again(12, "a?b"));
        assert_eq!((shown(&first), shown(&twelfth), shown("sum")), ("sum", "a?b", "sum"));
        let text = format!("sum@0 as {first}, {twelfth}@12, '?againn', ?again");
        assert_eq!(all_shown(&text), "sum@0 as sum, a?b@12, '?againn', ?again");
    }
}
