//! The plans of queries that a session repeats.
//!
//! A query is planned for being kept when its text comes for the second time. A plan is used by one execution at a time, and
//! kept again when that has ended.

use crate::Basis;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::execution::TaskContext;
use parking_lot::Mutex;
use planner::NamedParameter;
use scan::parameters::Parameters;
use scan::renewal::Emptied;
use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use store::catalog::SqlType;
use values::field::Field;

/// Queries that a session remembers, at most.
const QUERIES_MAX: usize = 64;

/// Plans of one query, for other numbers of rows in LIMIT and OFFSET, at most.
const VARIANTS_MAX: usize = 8;

/// The longest text that is remembered, in bytes.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// What a query is known by.
#[derive(Debug)]
pub struct Query {
    text: String,
    /// The types of its parameters.
    types: Vec<DataType>,
    /// The types that they are declared with, where their values do not say them; empty otherwise.
    declared: Vec<Option<SqlType>>,
    /// The names of its parameters, in a function.
    names: Vec<NamedParameter>,
    basis: Basis,
}

/// What a session knows of a query.
#[derive(Debug)]
pub enum Known {
    /// It has not come before.
    New,
    /// It has come before.
    Repeated,
    /// It cannot be kept.
    Refused,
    /// It has a plan.
    Kept(Box<KeptPlan>),
    /// It needs none: how it is computed, of a type that is known where statements are executed.
    Computed(Arc<dyn Any + Send + Sync>),
}

/// A plan that can be executed again.
#[derive(Debug)]
pub struct KeptPlan {
    /// The plan, without the rows of a snapshot.
    pub emptied: Emptied,
    /// The places of the parameters in the plan.
    pub parameters: Arc<Parameters>,
    /// The result's columns.
    pub fields: Arc<[Field]>,
    /// What the plan is executed in.
    pub task: Arc<TaskContext>,
    /// Whether a join may turn out to be too large for the memory.
    pub has_joins: bool,
    /// What is done with its rows, of a type that is known where statements are executed; `None` of a query.
    pub change: Option<Arc<dyn Any + Send + Sync>>,
}

/// The queries that a session remembers, the last used first.
#[derive(Debug, Default)]
pub struct KeptPlans(Mutex<VecDeque<(Query, Known)>>);

impl KeptPlans {
    /// What is known of a query with values of parameters. Its plan is the caller's, who may give it back by [`Self::keep`].
    pub fn take(&self, query: &Query, values: &[ScalarValue]) -> Known {
        let mut queries = self.0.lock();
        let fits = |known: &Known| match known {
            Known::Kept(plan) => plan.parameters.fits(values),
            _ => true,
        };
        let Some(at) = queries.iter().position(|(of, known)| of.is(query) && fits(known)) else {
            let is_known = queries.iter().any(|(of, _)| of.is(query));
            return if is_known { Known::Repeated } else { Known::New };
        };
        match queries.get_mut(at) {
            Some((_, known @ Known::Kept(_))) => std::mem::replace(known, Known::Repeated),
            Some((_, Known::Refused)) => Known::Refused,
            Some((_, Known::Computed(computed))) => Known::Computed(Arc::clone(computed)),
            _ => Known::Repeated,
        }
    }

    /// Remembers what is known of a query.
    pub fn keep(&self, query: Query, known: Known) {
        let mut queries = self.0.lock();
        // One value that is out of the ordinary, such as LIMIT 0, says nothing of the others.
        let is_kept =
            |(of, other): &(Query, Known)| of.is(&query) && matches!(other, Known::Kept(_));
        if matches!(known, Known::Refused) && queries.iter().any(is_kept) {
            return;
        }
        let mut variants = 1;
        queries.retain(|(of, other)| {
            let is_variant = match (&known, other) {
                (Known::Kept(plan), Known::Kept(other)) => {
                    !plan.parameters.is_alike(&other.parameters)
                }
                _ => false,
            };
            variants += usize::from(of.is(&query) && is_variant);
            !of.is_before(&query) && (!of.is(&query) || is_variant && variants <= VARIANTS_MAX)
        });
        queries.truncate(QUERIES_MAX - 1);
        queries.push_front((query, known));
    }
}

impl Query {
    /// A query; `None` if its text is too long.
    pub fn of(
        text: &str,
        (parameters, names): (&[ScalarValue], &[NamedParameter]),
        declared: &[Option<SqlType>],
        basis: Basis,
    ) -> Option<Self> {
        (text.len() <= TEXT_BYTES_MAX).then(|| Self {
            text: text.to_owned(),
            types: parameters.iter().map(ScalarValue::data_type).collect(),
            declared: declared.to_vec(),
            names: names.to_vec(),
            basis,
        })
    }

    fn is(&self, other: &Self) -> bool {
        self.basis == other.basis
            && self.types == other.types
            && self.declared == other.declared
            && self.names == other.names
            && self.text == other.text
    }

    /// Whether it has another basis: then it does not come again.
    fn is_before(&self, other: &Self) -> bool {
        self.basis != other.basis
    }
}
