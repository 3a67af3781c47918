//! DECLARE with its query as a statement.

use crate::cursors::Declaration;
use crate::statement::Statement;
use datafusion::sql::sqlparser::ast::Statement as Ast;

/// DECLARE: a cursor over a query.
#[derive(Debug, Clone)]
pub struct Declare {
    /// The name of the cursor.
    pub name: String,
    /// The query.
    pub query: Statement,
    /// Whether values are returned in binary format (BINARY).
    pub binary: bool,
    /// Whether the cursor can move backwards (SCROLL).
    pub scroll: bool,
    /// Whether the cursor stays open after its transaction commits (WITH HOLD).
    pub hold: bool,
}

impl Declare {
    /// The DECLARE that `statement` is.
    pub(super) fn of(declaration: &Declaration, statement: &Statement) -> Self {
        let Declaration { name, query, binary, scroll, hold } = declaration.clone();
        let query = statement.with_ast(Ast::Query(query));
        Self { name, query, binary, scroll, hold }
    }
}
