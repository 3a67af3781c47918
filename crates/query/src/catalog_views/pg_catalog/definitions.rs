//! Objects written back as SQL: what `pg_get_viewdef` and its relatives give.

use super::constraints::key_list;
use crate::parser::RESERVED;
use store::catalog::{Table, View};

/// A name as SQL needs it: in quotes unless it is plain.
pub(crate) fn quote_ident(name: &str) -> String {
    let plain = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !RESERVED.contains(&name);
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// The index under a primary key.
pub(crate) fn key_index(table: &Table, with_schema: bool) -> String {
    let schema = match with_schema {
        true => format!("{}.", quote_ident(&table.schema)),
        false => String::new(),
    };
    format!(
        "CREATE UNIQUE INDEX {} ON {schema}{} USING btree ({})",
        quote_ident(&table.key_name()),
        quote_ident(&table.name),
        key_list(table)
    )
}

/// The query of a view.
pub(crate) fn view(view: &View) -> String {
    format!(" {};", view.sql)
}

/// A default. The name inside `nextval('...')` is written as PostgreSQL writes it, since clients look there for
/// the sequence of a column.
pub(crate) fn default(expression: &str) -> String {
    let name = expression
        .strip_prefix("nextval('")
        .and_then(|rest| rest.strip_suffix("')"))
        .filter(|name| name.starts_with('"'));
    let Some(name) = name else { return expression.to_owned() };
    let parts: Vec<String> = name
        .trim_matches('"')
        .split("\".\"")
        .map(|part| quote_ident(&part.replace("\"\"", "\"")))
        .collect();
    let shown = match &parts[..] {
        [schema, sequence] if schema == "public" => sequence.clone(),
        parts => parts.join("."),
    };
    format!("nextval('{}'::regclass)", shown.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_they_must_be() {
        assert_eq!(quote_ident("person_2"), "person_2");
        assert_eq!(quote_ident("Person"), "\"Person\"");
        assert_eq!(quote_ident("table"), "\"table\"");
        assert_eq!(quote_ident("a\"b"), "\"a\"\"b\"");
    }

    #[test]
    fn defaults_name_their_sequence_as_postgresql_does() {
        assert_eq!(default("nextval('\"public\".\"t_id_seq\"')"), "nextval('t_id_seq'::regclass)");
        assert_eq!(default("nextval('\"S\".\"q\"')"), "nextval('\"S\".q'::regclass)");
        assert_eq!(default("'x'"), "'x'");
    }
}
