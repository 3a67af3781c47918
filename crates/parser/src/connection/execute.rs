//! EXECUTE and EXPLAIN EXECUTE.

use crate::statement::Statement;
use commands::{Argument, Command};
use store::catalog::SqlType;

/// EXECUTE or EXPLAIN EXECUTE.
#[derive(Debug, Clone)]
pub struct Execute {
    /// The name of the prepared statement.
    pub name: String,
    /// The arguments, in order.
    pub arguments: Vec<Argument>,
    /// The whole statement, if it is EXPLAIN EXECUTE.
    explain: Option<Statement>,
}

impl Execute {
    /// The EXECUTE in a statement, if it is EXECUTE or EXPLAIN EXECUTE.
    pub(super) fn of(statement: &Statement) -> Option<Self> {
        let (execute, explain) = match statement.command()? {
            Command::Execute(execute) => (execute, None),
            Command::Explain(explain) => (explain.execute.as_ref()?, Some(statement.clone())),
            _ => return None,
        };
        let (name, arguments) = (execute.name.clone(), execute.arguments.clone());
        Some(Self { name, arguments, explain })
    }

    /// The EXPLAIN of the prepared statement. `None` if this is a plain EXECUTE.
    pub fn explained(&self, prepared: &Statement) -> Option<Statement> {
        Some(self.explain.as_ref()?.of_executed(prepared))
    }

    /// The types of the parameters `$1`, `$2`, ... that the arguments use. `types` are the
    /// parameter types of the prepared statement. A parameter that is not itself an argument is
    /// `text`.
    pub fn parameters(&self, types: &[SqlType]) -> Vec<SqlType> {
        let mut parameters = Vec::new();
        for (argument, sql_type) in self.arguments.iter().zip(types) {
            if let Argument::Parameter(number) = argument {
                let length = parameters.len().max(number + 1);
                parameters.resize(length, SqlType::Text);
                parameters[*number] = sql_type.clone();
            }
        }
        parameters
    }
}
