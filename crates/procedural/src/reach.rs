//! What a query reads, which says how new its snapshot has to be: without tables it needs none of all servers.

use crate::purity::calls_any;
use grammar::tree::NodeEnum;
use parser::Statement;
use store::catalog::Catalog;

/// Schemas of computed tables.
const SYSTEM_SCHEMAS: [&str; 3] = ["pando", "pg_catalog", "information_schema"];

/// What a query reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// No relation.
    Nothing,
    /// System tables only.
    SystemTables,
    /// Tables, whose rows may be on other servers.
    Tables,
}

impl Reach {
    /// What a query reads, with the functions of users that it calls, which may read tables.
    pub fn of(catalog: &Catalog, statement: &Statement) -> Self {
        let is_function = |name: &str| catalog.functions().any(|function| function.name == name);
        match statement.rows() {
            Some(query) if calls_any(query, is_function) => Self::Tables,
            Some(query) => Self::of_names(query, &statement.text),
            None => Self::Tables,
        }
    }

    /// What a query reads by the names in it.
    fn of_names(query: &NodeEnum, text: &str) -> Self {
        let text = text.to_ascii_lowercase();
        if !text.contains("from") && !text.contains("table") {
            return Self::Nothing;
        }
        if names_table_first(query) {
            return Self::Tables;
        }
        let Some(names) = grammar::relations_and_ctes(query) else { return Self::Tables };
        let reached = names.iter().map(|(schema, name)| match is_system(schema.as_deref(), name) {
            true => Self::SystemTables,
            false => Self::Tables,
        });
        reached.max().unwrap_or(Self::Nothing)
    }
}

/// Whether the first relation of a query without WITH is a table. Most queries need no more to be looked at.
fn names_table_first(query: &NodeEnum) -> bool {
    let NodeEnum::SelectStmt(select) = query else { return true };
    match select.from_clause.first().and_then(|from| from.node.as_ref()) {
        Some(NodeEnum::RangeVar(range)) if select.with_clause.is_none() => {
            let schema = Some(range.schemaname.as_str()).filter(|schema| !schema.is_empty());
            !is_system(schema, &range.relname)
        }
        _ => false,
    }
}

fn is_system(schema: Option<&str>, name: &str) -> bool {
    match schema {
        Some(schema) => SYSTEM_SCHEMAS.contains(&schema),
        None => catalog_views::is_implicit(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_queries_of_tables_look_far() {
        for (sql, expected) in [
            ("SELECT 1", Reach::Nothing),
            ("SELECT (SELECT 2), version()", Reach::Nothing),
            ("SELECT * FROM pando.servers", Reach::SystemTables),
            (
                "SELECT * FROM pg_class c JOIN information_schema.tables t ON true",
                Reach::SystemTables,
            ),
            ("SELECT * FROM t", Reach::Tables),
            ("SELECT * FROM (WITH t AS (SELECT 1) SELECT * FROM t) AS x, t", Reach::Tables),
            ("SELECT * FROM generate_series(1, 2)", Reach::Nothing),
            ("VALUES ((SELECT v FROM t))", Reach::Tables),
            ("SELECT 1 WHERE EXISTS (SELECT 1 FROM public.pg_class)", Reach::Tables),
            ("SELECT * FROM pg_class WHERE relname IN (SELECT name FROM t)", Reach::Tables),
        ] {
            let parsed = parser::parse(sql).expect(sql);
            assert_eq!(Reach::of(&Catalog::new(), &parsed[0]), expected, "{sql}");
        }
    }
}
