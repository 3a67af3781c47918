//! `jsonb_pretty`: a value with one line for each part.

use super::raw::{Value, elements, members};

/// Blanks per level of indentation.
const INDENT: usize = 4;

/// The value, indented.
pub fn pretty(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    write(text, 0, &mut out);
    out
}

fn write(text: &str, level: usize, out: &mut String) {
    match Value::of(text) {
        Value::Array(whole) => {
            out.push('[');
            for (index, element) in elements(whole).enumerate() {
                line(index, level + 1, out);
                write(element, level + 1, out);
            }
            line(0, level, out);
            out.push(']');
        }
        Value::Object(whole) => {
            out.push('{');
            for (index, (key, value)) in members(whole).enumerate() {
                line(index, level + 1, out);
                out.push_str(key);
                out.push_str(": ");
                write(value, level + 1, out);
            }
            line(0, level, out);
            out.push('}');
        }
        _ => out.push_str(text),
    }
}

fn line(index: usize, level: usize, out: &mut String) {
    out.push_str(if index > 0 { ",\n" } else { "\n" });
    out.extend(std::iter::repeat_n(' ', level * INDENT));
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn each_part_has_a_line() {
        let shown = "{\n    \"a\": 1,\n    \"b\": [\n    ],\n    \"d\": [\n        1,\n        {\n        }\n    ]\n}";
        assert_eq!(pretty("{\"a\": 1, \"b\": [], \"d\": [1, {}]}"), shown);
        assert_eq!(pretty("\"x\""), "\"x\"");
    }
}
