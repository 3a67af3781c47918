//! EXECUTE of a prepared statement, and EXPLAIN of it.

use crate::parser::Statement;
use crate::parser::names::fold;
use crate::parser::placeholders::placeholder;
use datafusion::sql::sqlparser::ast::{Expr, Statement as Ast};
use store::catalog::SqlType;

/// EXECUTE of a prepared statement.
#[derive(Debug, Clone)]
pub struct Execute {
    /// The prepared statement's name.
    pub name: String,
    /// The arguments, in order.
    pub(crate) arguments: Vec<Expr>,
    /// The EXPLAIN around it.
    explain: Option<Statement>,
}

impl Execute {
    /// The EXECUTE that a statement is, or is an EXPLAIN of.
    pub(super) fn of(statement: &Statement) -> Option<Self> {
        let (ast, explain) = match statement.ast()? {
            Ast::Explain { statement: inner, .. } => (&**inner, Some(statement.clone())),
            ast => (ast, None),
        };
        let Ast::Execute { name: Some(name), parameters, immediate: false, .. } = ast else {
            return None;
        };
        let name = name.0.last().and_then(|part| part.as_ident()).map(fold)?;
        Some(Self { name, arguments: parameters.clone(), explain })
    }

    /// The EXPLAIN of a prepared statement, where it is one that is asked for.
    pub fn explained(&self, prepared: &Statement) -> Option<Statement> {
        let mut explain = self.explain.clone()?;
        if let Some(Ast::Explain { statement, .. }) = explain.ast_mut() {
            **statement = prepared.ast()?.clone();
        }
        Some(explain)
    }

    /// The types of the EXECUTE's own `$1`, `$2`, ..., of a statement that takes such types.
    pub fn parameters(&self, types: &[SqlType]) -> Vec<SqlType> {
        let mut parameters = Vec::new();
        for (argument, sql_type) in self.arguments.iter().zip(types) {
            if let Some(number) = placeholder(argument) {
                let length = parameters.len().max(number + 1);
                parameters.resize(length, SqlType::Text);
                parameters[number] = sql_type.clone();
            }
        }
        parameters
    }
}
