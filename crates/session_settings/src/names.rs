//! The setting `search_path` as a text: names between commas, in double quotes where they need them.

/// Names as SHOW displays them.
pub(crate) fn shown(names: &[String]) -> String {
    let quoted = |name: &String| match is_plain(name) {
        true => name.clone(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    };
    names.iter().map(quoted).collect::<Vec<_>>().join(", ")
}

fn is_plain(name: &str) -> bool {
    let is_letter =
        |letter: char| letter.is_ascii_lowercase() || letter == '_' || !letter.is_ascii();
    let is_part = |letter: char| is_letter(letter) || letter.is_ascii_digit();
    name.starts_with(is_letter) && name.chars().all(is_part)
}

/// The names in a text; those without quotes in lower case. `None` if it is no list of names.
pub(crate) fn of_text(text: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = text.trim_start();
    if rest.is_empty() {
        return Some(names);
    }
    loop {
        let (name, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_name(quoted)?,
            None => {
                let end = rest.find(|letter: char| letter == ',' || letter.is_whitespace());
                let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
                if name.is_empty() {
                    return None;
                }
                (name.to_lowercase(), after)
            }
        };
        names.push(name);
        let after = after.trim_start();
        if after.is_empty() {
            return Some(names);
        }
        rest = after.strip_prefix(',')?.trim_start();
    }
}

/// A name behind its first quote, and what follows its last.
fn quoted_name(text: &str) -> Option<(String, &str)> {
    let (mut name, mut rest) = (String::new(), text);
    loop {
        let (part, after) = rest.split_once('"')?;
        name.push_str(part);
        match after.strip_prefix('"') {
            Some(next) => {
                name.push('"');
                rest = next;
            }
            None => return Some((name, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_shown() {
        let read = |text| of_text(text).map(|names| shown(&names));
        assert_eq!(read(" ").as_deref(), Some(""));
        assert_eq!(read(" Abc ,\"B c\",\"D\"\"e\" ").as_deref(), Some("abc, \"B c\", \"D\"\"e\""));
        assert_eq!(read("\"\", \"$user\", p1").as_deref(), Some("\"\", \"$user\", p1"));
        assert_eq!(read("\"public\"").as_deref(), Some("public"));
        for wrong in ["a b", "a,", ",a", "\"a", "\"a\"b"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
