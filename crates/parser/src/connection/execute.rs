//! EXECUTE and EXPLAIN EXECUTE.

use crate::names::fold;
use crate::placeholders::placeholder;
use crate::statement::Statement;
use datafusion::sql::sqlparser::ast::{Expr, Statement as Ast};
use store::catalog::SqlType;

/// EXECUTE or EXPLAIN EXECUTE.
#[derive(Debug, Clone)]
pub struct Execute {
    /// The name of the prepared statement.
    pub name: String,
    /// The arguments, in order.
    pub arguments: Vec<Expr>,
    /// The whole statement, if it is EXPLAIN EXECUTE.
    explain: Option<Statement>,
}

impl Execute {
    /// The EXECUTE in a statement, if it is EXECUTE or EXPLAIN EXECUTE.
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

    /// The EXPLAIN of the prepared statement. `None` if this is a plain EXECUTE.
    pub fn explained(&self, prepared: &Statement) -> Option<Statement> {
        let mut explain = self.explain.as_ref()?.ast()?.clone();
        if let Ast::Explain { statement, .. } = &mut explain {
            **statement = prepared.ast()?.clone();
        }
        Some(prepared.explained_by(explain))
    }

    /// The types of the parameters `$1`, `$2`, ... that the arguments use. `types` are the
    /// parameter types of the prepared statement. A parameter that is not itself an argument is
    /// `text`.
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
