//! Whether a query needs a snapshot of all servers: one that reads no table does not.

use crate::context::Inner;
use crate::context::transactions::Conversation;
use grammar::tree::NodeEnum;
use parser::Statement;
use procedural::calls_any;
use store::{Error, Reading};
use values::error::Result;

/// Schemas of computed tables.
const SYSTEM_SCHEMAS: [&str; 3] = ["pando", "pg_catalog", "information_schema"];

/// What a query reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// No relation.
    Nothing,
    /// System tables only.
    SystemTables,
    /// Tables, whose rows may be on other servers.
    Tables,
}

fn reach(statement: &Statement) -> Reach {
    let Some(query) = statement.rows() else { return Reach::Tables };
    let text = statement.text.to_ascii_lowercase();
    if !text.contains("from") && !text.contains("table") {
        return Reach::Nothing;
    }
    if names_table_first(query) {
        return Reach::Tables;
    }
    let Some(names) = grammar::relations_and_ctes(query) else { return Reach::Tables };
    let reached = names.iter().map(|(schema, name)| match is_system(schema.as_deref(), name) {
        true => Reach::SystemTables,
        false => Reach::Tables,
    });
    reached.max().unwrap_or(Reach::Nothing)
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

impl Inner {
    /// The snapshot of a query. Without tables the root is not asked for a timestamp. With system tables only it is asked, so
    /// that they show recent changes of other servers, but the query continues if the root cannot be reached.
    pub(super) async fn reading_for(
        &self,
        conversation: &mut Conversation,
        statement: &Statement,
    ) -> Result<Reading> {
        let store = &self.shared.store;
        if conversation.open().is_some() || store.peers().is_none() {
            return self.reading(conversation).await;
        }
        let catalog = store.catalog();
        // The body of a function may read tables.
        let is_function = |name: &str| catalog.functions().any(|function| function.name == name);
        let reached = match statement.rows() {
            Some(query) if calls_any(query, is_function) => Reach::Tables,
            _ => reach(statement),
        };
        Ok(match reached {
            Reach::Nothing => store.reading_here()?,
            Reach::SystemTables => match store.reading().await {
                Err(Error::Unreachable { .. }) => store.reading_here()?,
                reading => reading?,
            },
            Reach::Tables => store.reading().await?,
        })
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
            assert_eq!(reach(&parsed[0]), expected, "{sql}");
        }
    }
}
