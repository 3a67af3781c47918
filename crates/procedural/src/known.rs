//! What is known of the texts of a function.

use crate::evaluation::Compiled;
use crate::scalar::Scalar;
use crate::subquery;
use crate::value::Value;
use datafusion::common::ScalarValue;
use parking_lot::Mutex;
use parser::Statement;
use planner::{Conflict, NamedParameter};
use plpgsql::Variable;
use std::collections::HashMap;
use std::sync::Arc;

/// Expressions that hosts share, at most.
const EXPRESSIONS_MAX: usize = 1_000;

/// An expression or statement, and the type to which its value is converted.
pub(crate) type Key = (usize, Option<String>);

/// An expression that is evaluated again and again.
#[derive(Clone)]
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
    /// Whether it is a statement of the function that consists of one expression.
    pub(crate) is_expression: bool,
}

impl Known {
    pub(crate) fn new(statement: Statement) -> Self {
        let (compiled, scalar, subquery) = (None, None, None);
        let (converts, is_planned, is_expression) = (false, false, false);
        Self { statement, converts, compiled, scalar, is_planned, subquery, is_expression }
    }

    /// Forgets what may have another value in the next statement.
    pub(crate) fn settle(&mut self) {
        if self.compiled.as_ref().is_none_or(|compiled| !compiled.is_lasting()) {
            (self.compiled, self.is_planned) = (None, false);
        }
    }
}

/// What hosts of one function have found out about its texts that is good for every statement. A call within another one has
/// it before the first one ends. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<HashMap<Key, Known>>>);

impl Shared {
    /// What is known of an expression.
    pub(crate) fn get(&self, key: &Key) -> Option<Known> {
        self.0.lock().get(key).cloned()
    }

    /// Notes what is known of an expression.
    pub(crate) fn put(&self, key: &Key, known: &Known) {
        let mut known = known.clone();
        known.settle();
        // Another host may find what this one cannot.
        known.scalar = known.scalar.filter(|(_, scalar)| scalar.is_some());
        let mut all = self.0.lock();
        if all.len() < EXPRESSIONS_MAX || all.contains_key(key) {
            all.insert(key.clone(), known);
        }
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
