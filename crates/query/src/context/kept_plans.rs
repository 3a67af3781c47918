//! The plans of queries that a session repeats.
//!
//! A query is planned for being kept when its text comes for the second time. A plan is used by one execution at a time, and
//! kept again when that has ended. It is good for a catalog and for settings, which also say whose privileges and which
//! schemas count.

use catalog_views::settings::Settings;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::execution::TaskContext;
use parking_lot::Mutex;
use planner::NamedParameter;
use scan::parameters::Parameters;
use scan::renewal::Emptied;
use std::collections::VecDeque;
use std::sync::Arc;
use store::catalog::Catalog;
use values::field::Field;

/// Queries that a session remembers, at most.
const QUERIES_MAX: usize = 64;

/// The longest text that is remembered, in bytes.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// What a query is known by.
#[derive(Debug)]
pub(crate) struct Query {
    text: String,
    /// The types of its parameters.
    types: Vec<DataType>,
    /// The names of its parameters, in a function.
    names: Vec<NamedParameter>,
    catalog: Arc<Catalog>,
    settings: Arc<Settings>,
}

/// What a session knows of a query.
#[derive(Debug)]
pub(crate) enum Known {
    /// It has not come before.
    New,
    /// It has come before.
    Repeated,
    /// It cannot be kept.
    Refused,
    Kept(Box<KeptPlan>),
}

/// A plan that can be executed again.
#[derive(Debug)]
pub(crate) struct KeptPlan {
    pub(crate) emptied: Emptied,
    pub(crate) parameters: Arc<Parameters>,
    pub(crate) fields: Arc<[Field]>,
    pub(crate) task: Arc<TaskContext>,
    /// Whether a join may turn out to be too large for the memory.
    pub(crate) has_joins: bool,
}

/// The queries that a session remembers, the last used first.
#[derive(Debug, Default)]
pub(crate) struct KeptPlans(Mutex<VecDeque<(Query, Known)>>);

impl KeptPlans {
    /// What is known of a query. Its plan is the caller's, who may give it back by [`Self::keep`].
    pub(crate) fn take(&self, query: &Query) -> Known {
        let mut queries = self.0.lock();
        let Some(at) = queries.iter().position(|(known, _)| known.is(query)) else {
            return Known::New;
        };
        match queries.get_mut(at) {
            Some((_, known @ Known::Kept(_))) => std::mem::replace(known, Known::Repeated),
            Some((_, Known::Refused)) => Known::Refused,
            _ => Known::Repeated,
        }
    }

    /// Remembers what is known of a query.
    pub(crate) fn keep(&self, query: Query, known: Known) {
        let mut queries = self.0.lock();
        queries.retain(|(of, _)| !of.is(&query) && !of.is_before(&query));
        queries.truncate(QUERIES_MAX - 1);
        queries.push_front((query, known));
    }
}

impl Query {
    /// A query; `None` if its text is too long.
    pub(crate) fn of(
        text: &str,
        (parameters, names): (&[ScalarValue], &[NamedParameter]),
        catalog: &Arc<Catalog>,
        settings: &Arc<Settings>,
    ) -> Option<Self> {
        (text.len() <= TEXT_BYTES_MAX).then(|| Self {
            text: text.to_owned(),
            types: parameters.iter().map(ScalarValue::data_type).collect(),
            names: names.to_vec(),
            catalog: Arc::clone(catalog),
            settings: Arc::clone(settings),
        })
    }

    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.catalog, &other.catalog)
            && Arc::ptr_eq(&self.settings, &other.settings)
            && self.types == other.types
            && self.names == other.names
            && self.text == other.text
    }

    /// Whether it is of an earlier catalog or other settings: then it does not come again.
    fn is_before(&self, other: &Self) -> bool {
        !Arc::ptr_eq(&self.catalog, &other.catalog) || !Arc::ptr_eq(&self.settings, &other.settings)
    }
}
