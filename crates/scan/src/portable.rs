//! Portable expressions: those that have the same value on every server.
//!
//! They are expressions of known kinds over immutable functions that every server has under the
//! same name. Constants of the statement (`now()`, `current_user`) are literals when a plan is
//! made. Expressions that depend on the session or are volatile are evaluated by the statement's
//! own server. Functions of users in other languages are sent by the version of their definition.

use crate::made::Made;
use datafusion::arrow::datatypes::Schema;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{AggregateUDF, Operator, ScalarUDF, Volatility};
use datafusion::physical_expr::expressions::{
    BinaryExpr, CaseExpr, CastExpr, Column, DynamicFilterPhysicalExpr, InListExpr, IsNotNullExpr,
    IsNullExpr, LikeExpr, Literal, NegativeExpr, NotExpr, TryCastExpr,
};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_expr_common::physical_expr::snapshot_generation;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::joins::HashJoinExec;
use functions::operators;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Whether an expression only compares columns with constants.
pub fn is_plain(expression: &Arc<dyn PhysicalExpr>) -> bool {
    let other = |part: &Arc<dyn PhysicalExpr>| {
        let known = part.downcast_ref::<Column>().is_some()
            || part.downcast_ref::<BinaryExpr>().is_some()
            || part.downcast_ref::<InListExpr>().is_some()
            || part.downcast_ref::<Literal>().is_some() && is_of_arrow(part);
        Ok(!known)
    };
    !expression.exists(other).unwrap_or(true)
}

/// Whether the type of an expression is one that Arrow has.
fn is_of_arrow(part: &Arc<dyn PhysicalExpr>) -> bool {
    part.return_field(&Schema::empty()).is_ok_and(|field| field.metadata().is_empty())
}

/// Whether an expression compares a value with others by their representations.
fn is_comparison(part: &Arc<dyn PhysicalExpr>) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    let binary = part.downcast_ref::<BinaryExpr>().map(BinaryExpr::op);
    let is_one = |of: &Operator| {
        matches!(of, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
    };
    binary.is_some_and(is_one) || part.downcast_ref::<InListExpr>().is_some()
}

/// The functions that every server has, by name.
#[derive(Debug)]
pub struct Portable {
    scalar: HashMap<String, Arc<ScalarUDF>>,
    aggregate: HashMap<String, Arc<AggregateUDF>>,
}

impl Portable {
    /// The functions of an engine, as every server has them.
    pub fn new(functions: &SessionState) -> Self {
        Self {
            scalar: functions.scalar_functions().clone(),
            aggregate: functions.aggregate_functions().clone(),
        }
    }

    /// Whether a scan on several servers can take a filter. A filter that changes while it runs is
    /// only a hint.
    pub fn filter(&self, filter: &Arc<dyn PhysicalExpr>) -> bool {
        snapshot_generation(filter) != 0 || self.expression(filter)
    }

    /// Whether an expression has the same value on every server.
    pub fn expression(&self, expression: &Arc<dyn PhysicalExpr>) -> bool {
        // Values that are compared, of which only the representation matters.
        let mut compared = HashSet::new();
        let place = |part: &Arc<dyn PhysicalExpr>| Arc::as_ptr(part).cast::<()>();
        let stays = |part: &Arc<dyn PhysicalExpr>| {
            if is_comparison(part) {
                compared.extend(part.children().into_iter().map(place));
            }
            let is_value = || part.downcast_ref::<Literal>().is_some();
            Ok(!(self.is_portable(part) || is_value() && compared.contains(&place(part))))
        };
        !expression.exists(stays).unwrap_or(true)
    }

    /// Whether all expressions of an operator are portable.
    pub fn operator(&self, plan: &dyn ExecutionPlan) -> bool {
        let mut portable = true;
        let visited = plan.apply_expressions(&mut |expression| {
            let own = expression.downcast_ref::<DynamicFilterPhysicalExpr>().is_some();
            portable &= own || self.expression(expression);
            Ok(TreeNodeRecursion::Continue)
        });
        let aggregates = plan.downcast_ref::<AggregateExec>().is_none_or(|aggregate| {
            aggregate.aggr_expr().iter().all(|call| self.has_aggregate(call.fun()))
        });
        let filter = plan.downcast_ref::<HashJoinExec>().and_then(HashJoinExec::filter);
        let filter = filter.is_none_or(|filter| self.expression(filter.expression()));
        visited.is_ok() && portable && aggregates && filter
    }

    /// Whether an aggregate is known to every server, or is a user's whose states are combined.
    fn has_aggregate(&self, function: &AggregateUDF) -> bool {
        if let Some(fold) = frames::fold_of(function) {
            let mut steps = fold.steps();
            return fold.combine.is_some() && steps.all(|step| self.expression(&step.expr));
        }
        self.aggregate.get(function.name()).is_some_and(|known| **known == *function)
    }

    fn is_portable(&self, part: &Arc<dyn PhysicalExpr>) -> bool {
        if let Some(call) = part.downcast_ref::<ScalarFunctionExpr>() {
            let function = call.fun();
            if let Some(foreign) = foreign::of_function(function) {
                // They depend on nothing but their arguments, also where they are declared STABLE.
                let changes = foreign.signature.volatility == store::catalog::Volatility::Volatile;
                return !changes && is_of_arrow(part);
            }
            if Made::of(function).is_some() {
                return is_of_arrow(part);
            }
            let known = self.scalar.get(function.name()).cloned();
            let known = known.or_else(|| operators::named(function.name()));
            let immutable = function.signature().volatility == Volatility::Immutable;
            // A result type that Arrow lacks would be lost on the wire.
            let plain = is_of_arrow(part);
            return immutable && plain && known.is_some_and(|known| *known == *function);
        }
        if let Some(cast) = part.downcast_ref::<CastExpr>() {
            let usual = CastExpr::new(Arc::clone(cast.expr()), cast.cast_type().clone(), None);
            let as_usual = cast.cast_options() == usual.cast_options();
            return as_usual && cast.target_field().metadata().is_empty();
        }
        if let Some(cast) = part.downcast_ref::<TryCastExpr>() {
            return cast.target_field().metadata().is_empty();
        }
        if part.downcast_ref::<Literal>().is_some() {
            return is_of_arrow(part);
        }
        part.downcast_ref::<Column>().is_some()
            || part.downcast_ref::<BinaryExpr>().is_some()
            || part.downcast_ref::<CaseExpr>().is_some()
            || part.downcast_ref::<InListExpr>().is_some()
            || part.downcast_ref::<IsNullExpr>().is_some()
            || part.downcast_ref::<IsNotNullExpr>().is_some()
            || part.downcast_ref::<LikeExpr>().is_some()
            || part.downcast_ref::<NegativeExpr>().is_some()
            || part.downcast_ref::<NotExpr>().is_some()
    }
}
