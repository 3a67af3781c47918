//! Pushes filters down only where names say which column is meant, and not into volatile values.
//!
//! The engine's rule looks for the columns of a filter by their names in the rows of the operator below. Where two columns
//! have one name, as in the rows of `a JOIN b` with `a.id` and `b.id`, it takes the first, and filters by the wrong column.
//! While the rule runs, such operators are below a [`Barrier`], which filters with ambiguous columns do not pass.
//!
//! A filter that passes a projection has its expressions in the place of columns: of `SELECT random() AS r` below
//! `r > 0.5` it would compare another number than the rows have. Filters with such columns do not pass, either.

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::filter_pushdown::{
    ChildFilterDescription, FilterDescription, FilterPushdownPhase,
};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use executor::one_input;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// A rule that pushes filters down, with barriers.
#[derive(Debug)]
pub struct ByUniqueNames(pub Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl PhysicalOptimizerRule for ByUniqueNames {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let below_barriers = plan.transform_up(|node| {
            let volatile = volatile_columns(&node)?;
            if volatile.is_empty() && !has_same_names(&node) {
                return Ok(Transformed::no(node));
            }
            let unique = &columns_of_own_name(&node) - &volatile;
            Ok(Transformed::yes(Arc::new(Barrier { node, unique }) as _))
        })?;
        if !below_barriers.transformed {
            return self.0.optimize(below_barriers.data, config);
        }
        let plan = self.0.optimize(below_barriers.data, config)?;
        let without = |node: Arc<dyn ExecutionPlan>| match node.downcast_ref::<Barrier>() {
            Some(barrier) => Ok(Transformed::yes(Arc::clone(&barrier.node))),
            None => Ok(Transformed::no(node)),
        };
        plan.transform_up(without).data()
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}

/// The columns of a projection that are computed by volatile functions.
pub(crate) fn volatile_columns(node: &Arc<dyn ExecutionPlan>) -> Result<HashSet<usize>> {
    let Some(projection) = node.downcast_ref::<ProjectionExec>() else { return Ok(HashSet::new()) };
    let mut columns = HashSet::new();
    for (place, named) in projection.expr().iter().enumerate() {
        if named.expr.exists(|part| Ok(part.is_volatile_node()))? {
            columns.insert(place);
        }
    }
    Ok(columns)
}

/// Whether columns of an operator's rows have the same name.
fn has_same_names(node: &Arc<dyn ExecutionPlan>) -> bool {
    let schema = node.schema();
    let fields = schema.fields();
    let mut names = HashSet::with_capacity(fields.len());
    fields.iter().any(|field| !names.insert(field.name().as_str()))
}

/// The columns of an operator's rows whose name no other column has.
fn columns_of_own_name(node: &Arc<dyn ExecutionPlan>) -> HashSet<usize> {
    let schema = node.schema();
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, field) in schema.fields().iter().enumerate() {
        places.entry(field.name()).or_default().push(place);
    }
    places.into_values().filter(|places| places.len() == 1).flatten().collect()
}

/// An operator whose rows have several columns of one name, or volatile values. It is not executed.
#[derive(Debug)]
struct Barrier {
    node: Arc<dyn ExecutionPlan>,
    /// The columns that a filter may use to pass.
    unique: HashSet<usize>,
}

impl DisplayAs for Barrier {
    fn fmt_as(&self, form: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.node.fmt_as(form, f)
    }
}

impl ExecutionPlan for Barrier {
    one_input!("Barrier", node, |barrier, node| {
        Ok(Arc::new(Self { node, unique: barrier.unique.clone() }))
    });

    fn properties(&self) -> &Arc<PlanProperties> {
        self.node.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        let allowed = self.unique.clone();
        let child =
            ChildFilterDescription::from_child_with_allowed_indices(&filters, allowed, &self.node)?;
        Ok(FilterDescription::new().with_child(child))
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        internal_err!("a barrier is taken away before a plan is executed")
    }
}
