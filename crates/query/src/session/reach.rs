//! Whether a query needs a snapshot of all servers: one that reads no table does not.

use crate::context::Inner;
use crate::context::transactions::Conversation;
use datafusion::sql::sqlparser::ast::{ObjectName, Statement as Ast};
use parser::Statement;
use parser::names::fold;
use parser::walk::visit_relations;
use std::ops::ControlFlow;
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

fn reach(statement: &Ast) -> Reach {
    let mut reach = Reach::Nothing;
    let _ = visit_relations(statement, |name| {
        reach = reach.max(if is_system(name) { Reach::SystemTables } else { Reach::Tables });
        ControlFlow::<()>::Continue(())
    });
    reach
}

fn is_system(name: &ObjectName) -> bool {
    let parts: Vec<String> = name.0.iter().filter_map(|part| part.as_ident()).map(fold).collect();
    match &parts[..] {
        [name] => catalog_views::is_implicit(name),
        [schema, _] => SYSTEM_SCHEMAS.contains(&schema.as_str()),
        _ => false,
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
        Ok(match statement.ast().map_or(Reach::Tables, reach) {
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
            ("SELECT 1 WHERE EXISTS (SELECT 1 FROM public.pg_class)", Reach::Tables),
            ("SELECT * FROM pg_class WHERE relname IN (SELECT name FROM t)", Reach::Tables),
        ] {
            let parsed = parser::parse(sql).expect(sql);
            assert_eq!(reach(parsed[0].ast().expect(sql)), expected, "{sql}");
        }
    }
}
