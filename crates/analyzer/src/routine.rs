//! Functions that users define, as the binder sees them.

use crate::resolve::Signature;
use crate::system::functions::Volatility;
use crate::system::{Oid, SqlType};
use crate::tree::{Column, Expr};
use std::sync::Arc;

/// A function or procedure of a user.
#[derive(Debug, Clone, PartialEq)]
pub struct Routine {
    /// The id in the catalog.
    pub id: u32,
    /// The schema.
    pub schema: String,
    /// The name.
    pub name: String,
    /// Whether it is a procedure.
    pub is_procedure: bool,
    /// The language.
    pub language: String,
    /// Whether it runs for rows, outside of the engine.
    pub is_foreign: bool,
    /// The types of the input parameters.
    pub arguments: Vec<Oid>,
    /// The names of the input parameters; empty names for those without.
    pub argument_names: Vec<String>,
    /// The type of each of the variadic arguments.
    pub variadic: Option<Oid>,
    /// The default expressions of the last arguments, as SQL.
    pub defaults: Vec<String>,
    /// The type of the result; `record` for rows.
    pub result: Oid,
    /// The columns of the result: output parameters, or the columns of a relation.
    pub columns: Vec<Column>,
    /// Whether it returns a set.
    pub returns_set: bool,
    /// Whether a NULL argument makes the result NULL.
    pub is_strict: bool,
    /// The volatility.
    pub volatility: Volatility,
    /// The source.
    pub body: String,
    /// What makes it an aggregate.
    pub aggregate: Option<RoutineAggregate>,
}

/// What makes a function of a user an aggregate. Functions are names with schemas, as SQL.
#[derive(Debug, Clone, PartialEq)]
pub struct RoutineAggregate {
    /// Whether some of its arguments stand behind WITHIN GROUP.
    pub is_ordered_set: bool,
    /// The number of arguments in front of WITHIN GROUP.
    pub direct_arguments: usize,
    /// Whether the final function has a NULL for each argument of a row.
    pub finish_takes_all: bool,
    /// The type of the state.
    pub state: Oid,
    /// The first state, as text.
    pub initial: Option<String>,
    /// From a state and the arguments of a row to the next state.
    pub transition: RoutineStep,
    /// From two states to one.
    pub combine: Option<RoutineStep>,
    /// From the last state to the value.
    pub finish: Option<RoutineStep>,
}

/// A function that an aggregate calls.
#[derive(Debug, Clone, PartialEq)]
pub struct RoutineStep {
    /// The name with the schema, as SQL.
    pub name: String,
    /// Whether a NULL argument makes its value NULL.
    pub is_strict: bool,
    /// Whether the last argument is an array of variadic ones.
    pub is_variadic: bool,
}

impl Routine {
    /// Whether the types depend on the arguments.
    pub fn is_polymorphic(&self) -> bool {
        self.arguments.iter().any(|oid| oid.is_polymorphic())
    }

    /// The name with the types of its arguments, as messages show it.
    pub fn signature(&self) -> String {
        let types: Vec<String> = self.arguments.iter().map(ToString::to_string).collect();
        format!("{}({})", self.name, types.join(", "))
    }
}

/// A call that is made before the query that has its value.
#[derive(Debug, Clone, PartialEq)]
pub struct RoutineCall {
    /// The function.
    pub routine: Arc<Routine>,
    /// The arguments, with the types of the parameters. They may use the values of earlier calls.
    pub arguments: Vec<Expr>,
    /// The type of the value.
    pub sql_type: SqlType,
    /// The call in the place of its value.
    pub value: Expr,
}

impl Signature for &Routine {
    fn arguments(&self) -> &[Oid] {
        &self.arguments
    }

    fn variadic(&self) -> Option<Oid> {
        self.variadic
    }

    fn defaults(&self) -> usize {
        self.defaults.len()
    }

    fn named(&self, name: &str) -> Option<usize> {
        self.argument_names.iter().position(|known| known == name)
    }

    fn schema(&self) -> &str {
        &self.schema
    }
}
