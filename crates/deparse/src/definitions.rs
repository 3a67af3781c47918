//! Definitions of objects as SQL text, as `pg_get_viewdef` and similar functions return them.

use crate::index_parts::{IndexPart, index_parts, key_columns};
use grammar::tree::NodeEnum;
use parser::{KEYWORDS, RESERVED};
use store::catalog::{
    Check, ColumnId, DomainCheck, ForeignKey, Index, IndexColumn, IndexExpression,
    ReferentialAction, Table, Timing, View,
};

/// A name as an SQL identifier, quoted if necessary.
pub fn quote_ident(name: &str) -> String {
    let plain = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !RESERVED.contains(&name)
        && KEYWORDS.binary_search(&name).is_err();
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// The definition of a primary key's index.
pub fn key_index(table: &Table, with_schema: bool) -> String {
    let schema =
        if with_schema { format!("{}.", quote_ident(&table.schema)) } else { String::new() };
    format!(
        "CREATE UNIQUE INDEX {} ON {schema}{} USING btree ({})",
        quote_ident(&table.key_name()),
        quote_ident(&table.name),
        key_list(table)
    )
}

/// The definition of an index; with few parentheses if `pretty`.
pub fn index(index: &Index, table: &Table, with_schema: bool, pretty: bool) -> String {
    let schema =
        if with_schema { format!("{}.", quote_ident(&table.schema)) } else { String::new() };
    let parts = index_parts(index, table);
    let (keys, included): (Vec<_>, Vec<_>) = parts.iter().partition(|part| part.order.is_some());
    let key = |key: &&IndexPart<'_>| match key.order {
        Some(order) => format!("{}{}", part(key, pretty), order_text(order)),
        None => part(key, pretty),
    };
    let list = |parts: &[&IndexPart<'_>]| parts.iter().map(key).collect::<Vec<_>>().join(", ");
    let included = match list(&included) {
        none if none.is_empty() => none,
        included => format!(" INCLUDE ({included})"),
    };
    let predicate = index.predicate.as_ref();
    let predicate =
        predicate.map(|of| if pretty { shortened(&of.shown) } else { of.shown.clone() });
    let predicate = predicate.map_or_else(String::new, |text| format!(" WHERE {text}"));
    format!(
        "CREATE {}INDEX {} ON {schema}{} USING {} ({}){included}{}{predicate}",
        if index.is_unique { "UNIQUE " } else { "" },
        quote_ident(&index.file.name),
        quote_ident(&table.name),
        if index.is_hash { "hash" } else { "btree" },
        list(&keys),
        if index.nulls_equal { " NULLS NOT DISTINCT" } else { "" },
    )
}

/// A column of an index, or an expression; with few parentheses if `pretty`.
pub fn part(part: &IndexPart<'_>, pretty: bool) -> String {
    match (part.expression, part.column) {
        (Some(of), _) if pretty => {
            let shown = shortened(&of.shown);
            IndexExpression { shown, ..of.clone() }.as_key()
        }
        (Some(of), _) => of.as_key(),
        (None, Some(column)) => quote_ident(&column.name),
        (None, None) => String::new(),
    }
}

/// An expression without the parentheses that the grammar does not need. A list of several is returned as it is.
pub fn shortened(text: &str) -> String {
    let short = || {
        let script = grammar::parse(&format!("SELECT {text}")).ok()?;
        let statement = script.statements().first()?.stmt.as_ref()?.node.as_ref()?;
        let NodeEnum::SelectStmt(select) = statement else { return None };
        let [target] = &select.target_list[..] else { return None };
        let Some(NodeEnum::ResTarget(target)) = &target.node else { return None };
        grammar::expression_text(target.val.as_deref()?)
    };
    short().unwrap_or_else(|| text.to_owned())
}

/// The operator class and the order of a column, as far as they are not the usual ones.
fn order_text(order: &IndexColumn) -> String {
    let class = order.operator_class.iter().map(|class| format!(" {class}"));
    let direction = if order.descending { " DESC" } else { "" };
    let nulls = match (order.descending, order.nulls_first) {
        (false, true) => " NULLS FIRST",
        (true, false) => " NULLS LAST",
        _ => "",
    };
    format!("{}{direction}{nulls}", class.collect::<String>())
}

/// The definition of a UNIQUE constraint, or of a primary key that is deferrable.
pub fn unique(index: &Index, table: &Table) -> String {
    let parts = index_parts(index, table);
    let (keys, included): (Vec<_>, Vec<_>) = parts.iter().partition(|part| part.order.is_some());
    let list = |parts: &[&IndexPart<'_>]| {
        parts.iter().map(|of| part(of, false)).collect::<Vec<_>>().join(", ")
    };
    let (names, included) = (list(&keys), list(&included));
    let included = match included.is_empty() {
        true => included,
        false => format!(" INCLUDE ({included})"),
    };
    let nulls = if index.nulls_equal { " NULLS NOT DISTINCT" } else { "" };
    let kind = if index.is_primary { "PRIMARY KEY" } else { "UNIQUE" };
    format!("{kind}{nulls} ({names}){included}{}", timing(index.timing))
}

/// When a constraint is checked, with a blank in front.
fn timing(of: Timing) -> &'static str {
    match of {
        Timing::NotDeferrable => "",
        Timing::InitiallyImmediate => " DEFERRABLE",
        Timing::InitiallyDeferred => " DEFERRABLE INITIALLY DEFERRED",
    }
}

/// The definition of a primary key.
pub fn key(table: &Table) -> String {
    format!("PRIMARY KEY ({})", key_list(table))
}

/// The names of the primary key's columns.
fn key_list(table: &Table) -> String {
    let names = key_columns(table).into_iter().map(|column| quote_ident(&column.name));
    names.collect::<Vec<_>>().join(", ")
}

/// The definition of a check constraint; with one pair of parentheses instead of two if `pretty`.
pub fn check(check: &Check, pretty: bool) -> String {
    let unchecked = if check.is_valid { "" } else { " NOT VALID" };
    if pretty {
        format!("CHECK ({}){unchecked}", check.expression)
    } else {
        format!("CHECK (({})){unchecked}", check.expression)
    }
}

/// The definition of a condition of a domain.
pub fn domain_check(of: &DomainCheck, pretty: bool) -> String {
    let expression = of_domain(&of.expression);
    check(&Check { name: of.name.clone(), expression, is_valid: of.is_valid }, pretty)
}

/// An expression of a domain, in which VALUE is the value.
pub fn of_domain(text: &str) -> String {
    grammar::rename_column(text, "value", "VALUE").unwrap_or_else(|| text.to_owned())
}

/// The definition of a foreign key. `referenced` is the name of the table that it refers to.
pub fn foreign_key(key: &ForeignKey, table: &Table, of: &Table, referenced: &str) -> String {
    let list = |table: &Table, columns: &[ColumnId]| {
        let positions = columns.iter().filter_map(|id| table.position(*id));
        let names = positions.map(|at| quote_ident(&table.columns[at].name));
        names.collect::<Vec<_>>().join(", ")
    };
    let mut text = format!(
        "FOREIGN KEY ({}) REFERENCES {referenced}({})",
        list(table, &key.columns),
        list(of, &key.referenced)
    );
    if key.is_full {
        text.push_str(" MATCH FULL");
    }
    for (when, action) in [("UPDATE", key.on_update), ("DELETE", key.on_delete)] {
        if action != ReferentialAction::NoAction {
            text.push_str(&format!(" ON {when} {}", action_words(action)));
        }
    }
    if !key.on_delete_set.is_empty() {
        text.push_str(&format!(" ({})", list(table, &key.on_delete_set)));
    }
    text.push_str(timing(key.timing));
    if !key.is_valid {
        text.push_str(" NOT VALID");
    }
    text
}

/// An action in SQL.
pub fn action_words(action: ReferentialAction) -> &'static str {
    match action {
        ReferentialAction::NoAction => "NO ACTION",
        ReferentialAction::Restrict => "RESTRICT",
        ReferentialAction::Cascade => "CASCADE",
        ReferentialAction::SetNull => "SET NULL",
        ReferentialAction::SetDefault => "SET DEFAULT",
    }
}

/// The query of a view.
pub fn view(view: &View) -> String {
    format!(" {};", view.sql)
}

/// The expression of a default. The name in `nextval('...')` is written as PostgreSQL writes it,
/// because clients parse it to find the sequence of a column.
pub fn default(expression: &str) -> String {
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
