//! EXECUTE, EXPLAIN EXECUTE and CREATE TABLE AS EXECUTE.

use crate::statement::Statement;
use commands::{Argument, Command, Definition};
use store::catalog::SqlType;

/// EXECUTE, also in EXPLAIN and CREATE TABLE AS.
#[derive(Debug, Clone)]
pub struct Execute {
    /// The name of the prepared statement.
    pub name: String,
    /// The arguments, in order.
    pub arguments: Vec<Argument>,
    /// The whole statement, if it is EXPLAIN or CREATE TABLE AS.
    around: Option<Statement>,
}

impl Execute {
    /// The EXECUTE in a statement, if there is one.
    pub(super) fn of(statement: &Statement) -> Option<Self> {
        let (execute, around) = match statement.command()? {
            Command::Execute(execute) => (execute, None),
            Command::Explain(explain) => (explain.execute.as_ref()?, Some(statement.clone())),
            Command::Definition(definition) => match &**definition {
                Definition::CreateTableAs(create) => {
                    (create.execute.as_ref()?, Some(statement.clone()))
                }
                _ => return None,
            },
            _ => return None,
        };
        let (name, arguments) = (execute.name.clone(), execute.arguments.clone());
        Some(Self { name, arguments, around })
    }

    /// The EXPLAIN of the prepared statement, or the CREATE TABLE AS of its rows. `None` if this is a plain EXECUTE.
    pub fn with_prepared(&self, prepared: &Statement) -> Option<Statement> {
        Some(self.around.as_ref()?.of_executed(prepared))
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
