//! Translation of type names in engine messages to PostgreSQL's names.

/// Splits a text after the type at its start.
pub(super) fn split(text: &str) -> (&str, &str) {
    let word = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    if !text[word..].starts_with('(') {
        return text.split_at(word);
    }
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return text.split_at(at + 1);
        }
    }
    (text, "")
}

/// PostgreSQL's names of a list of types: `Int64, Decimal128(38, 10)`.
pub(super) fn list(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = split(rest);
        if name.is_empty() {
            break;
        }
        names.push(of(name));
        rest = after.trim_start_matches([',', ' ']);
    }
    names
}

/// PostgreSQL's name of a type. `Utf8`, the type of quoted constants, is `unknown`.
pub(super) fn of(name: &str) -> String {
    let (word, inner) = match name.split_once('(') {
        Some((word, inner)) => (word, inner.strip_suffix(')').unwrap_or(inner)),
        None => (name, ""),
    };
    let plain = match word {
        "Boolean" => "boolean",
        "Int8" | "Int16" => "smallint",
        "Int32" | "UInt16" => "integer",
        "Int64" => "bigint",
        "UInt8" => "\"char\"",
        "UInt32" => "oid",
        "UInt64" | "Decimal32" | "Decimal64" | "Decimal128" | "Decimal256" | "LargeBinary" => {
            "numeric"
        }
        "Float16" | "Float32" => "real",
        "Float64" => "double precision",
        "Utf8" | "Null" => "unknown",
        "Utf8View" | "String" => "text",
        "LargeUtf8" => "name",
        "Binary" | "BinaryView" | "FixedSizeBinary" => "bytea",
        "Date32" | "Date64" | "Date" => "date",
        "Time32" | "Time64" => "time without time zone",
        "Timestamp" if inner.contains('"') => "timestamp with time zone",
        "Timestamp" => "timestamp without time zone",
        "Interval" | "Duration" => "interval",
        "Struct" => "record",
        "List" | "LargeList" | "FixedSizeList" | "ListView" => {
            let item = inner.rsplit(" x ").next().unwrap_or(inner);
            return format!("{}[]", of(item.trim_start_matches("non-null ")));
        }
        "Dictionary" => return of(inner.rsplit(", ").next().unwrap_or(inner)),
        _ => return name.to_lowercase(),
    };
    plain.to_owned()
}

/// Replaces all type names in a message.
pub(super) fn replaced(message: &str) -> String {
    let mut replaced = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(start) = rest.find(|c: char| c.is_alphanumeric()) {
        replaced.push_str(&rest[..start]);
        rest = &rest[start..];
        let word = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let (taken, after) =
            if is_engine_word(&rest[..word]) { split(rest) } else { rest.split_at(word) };
        if is_engine_word(&rest[..word]) {
            replaced.push_str(&of(taken))
        } else {
            replaced.push_str(taken)
        }
        rest = after;
    }
    replaced + rest
}

/// Whether a word is the name of an engine type and no English word.
fn is_engine_word(word: &str) -> bool {
    let stem = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let numbered = ["Int", "UInt", "Float", "Decimal", "Utf", "Date", "Time"];
    stem != word && numbered.contains(&stem)
        || ["Utf8View", "LargeUtf8", "BinaryView", "LargeBinary"].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_postgresqls_names() {
        for (name, expected) in [
            ("Int64", "bigint"),
            ("Decimal128(38, 10)", "numeric"),
            ("Timestamp(µs)", "timestamp without time zone"),
            ("Timestamp(ns, \"+00:00\")", "timestamp with time zone"),
            ("List(Int32)", "integer[]"),
            ("Struct(\"c0\": Int64)", "record"),
        ] {
            assert_eq!(of(name), expected);
        }
        assert_eq!(list("Int64, Decimal128(38, 10), Utf8View"), ["bigint", "numeric", "text"]);
        assert_eq!(replaced("no Utf8View in List(Int32)"), "no text in List(integer)");
    }
}
