//! The statements of SQL functions.

use plpgsql::tree::Sql;
use values::error::{Error, Result};

/// The statements of a SQL function.
pub(super) fn statements(body: &str) -> Result<Vec<Sql>> {
    let statements = parser::parse(body).map_err(Error::without_position)?;
    let sql = |(id, statement): (usize, parser::Statement)| Sql {
        id,
        text: statement.text,
        position: 0,
        names: Vec::new(),
        assignment: None,
    };
    Ok(statements.into_iter().enumerate().map(sql).collect())
}
