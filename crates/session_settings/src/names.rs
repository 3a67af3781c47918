//! Lists of names, as the setting `search_path` has them.

/// A list as text: names that are no plain identifiers have quotes.
pub(crate) fn shown(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    shown.join(", ")
}

fn quoted(name: &str) -> String {
    let follows = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    match is_plain && name.chars().all(follows) {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// The names of a list. Those without quotes are in lower case.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = match rest.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => {
                let (name, after) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
                (name.trim().to_lowercase(), after)
            }
        };
        if !name.is_empty() {
            names.push(name);
        }
        rest = after.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
    }
    names
}

/// A name after its opening quote, and what follows its closing quote.
fn unquoted(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('"') {
        name += before;
        match after.strip_prefix('"') {
            Some(inner) => {
                name.push('"');
                rest = inner;
            }
            None => return (name, after),
        }
    }
    (name + rest, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_quotes_where_they_need_them() {
        let names = ["public", "Foo Bar", "a,b", "$user", "q\"q", "x1"].map(str::to_owned);
        let text = r#"public, "Foo Bar", "a,b", "$user", "q""q", x1"#;
        assert_eq!(shown(&names), text);
        assert_eq!(split(text), names);
        assert_eq!(split(" A,b "), ["a", "b"]);
        assert_eq!(split(""), [""; 0]);
    }
}
