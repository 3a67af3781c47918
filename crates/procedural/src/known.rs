//! What is known of the texts of a function.

use crate::evaluation::Compiled;
use crate::scalar::Scalar;
use crate::subquery;
use crate::value::Value;
use datafusion::common::ScalarValue;
use parser::Statement;
use planner::{Conflict, NamedParameter};
use plpgsql::Variable;
use std::sync::Arc;

/// An expression or statement, and the type to which its value is converted.
pub(crate) type Key = (usize, Option<String>);

/// An expression that is evaluated again and again.
pub(crate) struct Known {
    pub(crate) statement: Statement,
    /// Whether the statement converts the value.
    pub(crate) converts: bool,
    pub(crate) compiled: Option<Arc<Compiled>>,
    /// The names of the variables for which it was looked at, and what was found.
    pub(crate) scalar: Option<(Vec<NamedParameter>, Option<Arc<Scalar>>)>,
    /// Whether it has been planned to be kept.
    pub(crate) is_planned: bool,
    /// What it is, if it consists of one subquery: the statement.
    pub(crate) subquery: Option<subquery::Form>,
}

impl Known {
    pub(crate) fn new(statement: Statement) -> Self {
        let (compiled, scalar, subquery) = (None, None, None);
        Self { statement, converts: false, compiled, scalar, is_planned: false, subquery }
    }
}

/// The names and values of variables, which columns may hide.
pub(crate) fn parameters(
    variables: &[Variable<Value>],
    conflict: Conflict,
) -> (Vec<NamedParameter>, Vec<ScalarValue>) {
    let name = |variable: &Variable<Value>| NamedParameter {
        qualifier: variable.qualifier.clone(),
        name: variable.name.clone(),
        sql_type: variable.value.of.clone(),
        conflict,
    };
    let values = variables.iter().map(|variable| variable.value.scalar.clone());
    (variables.iter().map(name).collect(), values.collect())
}
