//! The queries that UPDATE and DELETE find their rows with, for EXPLAIN and for the types of parameters.

use datafusion::sql::sqlparser::ast::{Expr, Statement as Ast};
use values::error::{Error, Result};

/// The effect and table of a write, and the query that finds its rows, if it has one.
pub(super) fn source_of_write(ast: &Ast) -> Result<(String, Option<Ast>)> {
    let parsed = |probe: String| -> Result<Option<Ast>> { Ok(Some(parser::parse_sql(&probe)?)) };
    match ast {
        Ast::Insert(insert) => {
            let source = insert.source.clone().map(Ast::Query);
            Ok((format!("Insert on {}", insert.table), source))
        }
        Ast::Update(update) => {
            let from =
                update.from.as_ref().map_or(String::new(), |from| format!(", {}", from_of(from)));
            let target = update.table.to_string();
            let probe = probe("1", &target, &from, update.selection.as_ref());
            Ok((format!("Update on {target}"), parsed(probe)?))
        }
        Ast::Delete(delete) => {
            use datafusion::sql::sqlparser::ast::FromTable;
            let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
            let target = from.first().map_or(String::new(), ToString::to_string);
            let others = delete.using.iter().flatten().map(|other| format!(", {other}"));
            let probe = probe("1", &target, &others.collect::<String>(), delete.selection.as_ref());
            Ok((format!("Delete on {target}"), parsed(probe)?))
        }
        _ => Err(Error::unsupported("EXPLAIN is for SELECT, INSERT, UPDATE and DELETE")),
    }
}

/// The tables of UPDATE ... FROM.
pub(super) fn from_of(from: &datafusion::sql::sqlparser::ast::UpdateTableFromKind) -> String {
    use datafusion::sql::sqlparser::ast::UpdateTableFromKind::{AfterSet, BeforeSet};
    let (BeforeSet(from) | AfterSet(from)) = from;
    from.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// A query with the same conditions as an UPDATE or DELETE.
pub(super) fn probe(items: &str, target: &str, others: &str, selection: Option<&Expr>) -> String {
    let condition = selection.map_or(String::new(), |condition| format!(" WHERE {condition}"));
    format!("SELECT {items} FROM {target}{others}{condition}")
}
