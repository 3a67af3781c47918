//! A correlated subquery without its correlation: the rows for all outer values, with their keys.
//!
//! `(SELECT b.v FROM b WHERE b.k = a.k)` becomes `SELECT b.v, b.k FROM b`. The rows for an outer
//! value are those whose key equals it. This works if outer columns are only compared by equality,
//! in filters with nothing above them that limits or numbers the rows of all keys together.
//!
//! Not here: running the plan and finding rows in it ([`index`](super::index)).

use super::outside::{self, Cut};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    Aggregate, BinaryExpr, Distinct, Expr, ExprSchemable, Filter, LogicalPlan, Operator,
    Projection, SubqueryAlias, cast,
};
use std::collections::HashMap;
use std::sync::Arc;

/// A subquery whose rows have keys.
#[derive(Debug)]
pub(super) struct Keyed {
    /// The plan. Its last columns are the keys, in the order of `outer`.
    pub(super) plan: LogicalPlan,
    /// For each key, the expression over outer columns that it equals, and the type of both.
    pub(super) outer: Vec<(Expr, DataType)>,
    /// Rows of each key that are passed over.
    pub(super) skip: usize,
    /// Rows of each key that are returned at most.
    pub(super) fetch: Option<usize>,
    /// Whether a key without rows has an answer nevertheless, such as `count(*)`.
    pub(super) answers_nothing: bool,
}

impl Keyed {
    /// The keyed form of a subquery with outer columns; `None` if it has none.
    pub(super) fn of(plan: &LogicalPlan, columns: &[Column]) -> Result<Option<Self>> {
        let Some(Cut { rows, skip, fetch }) = outside::cut(plan)? else { return Ok(None) };
        let mut keys = Keys { columns, outer: Vec::new(), answers_nothing: false };
        let Some((keyed, found)) = keys.of_plan(rows)? else { return Ok(None) };
        if found.is_empty() || outside::is_volatile(&keyed)? {
            return Ok(None);
        }
        // The keys are the last columns, under names of their own: they may be columns of the subquery, too.
        let own = rows.schema().columns().into_iter().map(Expr::Column);
        let (found, _) = named(found);
        let all = own.chain(found).collect();
        let plan = LogicalPlan::Projection(Projection::try_new(all, Arc::new(keyed))?);
        let Keys { outer, answers_nothing, .. } = keys;
        Ok(Some(Self { plan, outer, skip, fetch, answers_nothing }))
    }
}

/// An expression over outer columns and its type.
struct Outer {
    expr: Expr,
    field: FieldRef,
}

/// A plan and the expressions of its keys over its columns.
type WithKeys = (LogicalPlan, Vec<Expr>);

struct Keys<'a> {
    columns: &'a [Column],
    outer: Vec<(Expr, DataType)>,
    answers_nothing: bool,
}

impl Keys<'_> {
    /// A plan without conditions on outer columns; `None` if it has other uses of them.
    fn of_plan(&mut self, plan: &LogicalPlan) -> Result<Option<WithKeys>> {
        if !outside::is_correlated(plan, self.columns)? {
            return Ok(Some((plan.clone(), Vec::new())));
        }
        match plan {
            LogicalPlan::Filter(filter) => self.of_filter(filter),
            LogicalPlan::Projection(projection) => self.of_projection(projection),
            LogicalPlan::SubqueryAlias(alias) => self.of_alias(alias),
            LogicalPlan::Aggregate(aggregate) => self.of_aggregate(aggregate),
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => {
                self.of_input(plan, plan.expressions(), &sort.input)
            }
            LogicalPlan::Distinct(Distinct::All(input)) => self.of_input(plan, Vec::new(), input),
            _ => Ok(None),
        }
    }

    fn of_filter(&mut self, filter: &Filter) -> Result<Option<WithKeys>> {
        let Some((input, mut keys)) = self.of_plan(&filter.input)? else { return Ok(None) };
        if self.answers_nothing {
            // Whether a key without rows has an answer depends on the filter.
            return Ok(None);
        }
        let mut rest = Vec::new();
        for condition in split_conjunction_owned(filter.predicate.clone()) {
            match self.key(&condition, &filter.input)? {
                Some((key, outer)) => {
                    keys.push(key);
                    self.outer.push(outer);
                }
                None if outside::is_referred_to(self.columns, &condition)? => return Ok(None),
                None => rest.push(condition),
            }
        }
        let plan = match conjunction(rest) {
            Some(rest) => LogicalPlan::Filter(Filter::try_new(rest, Arc::new(input))?),
            None => input,
        };
        Ok(Some((plan, keys)))
    }

    fn of_projection(&mut self, projection: &Projection) -> Result<Option<WithKeys>> {
        if outside::are_referred_to(self.columns, &projection.expr)? {
            return Ok(None);
        }
        let Some((input, keys)) = self.of_plan(&projection.input)? else { return Ok(None) };
        let (added, keys) = named(keys);
        let all = projection.expr.iter().cloned().chain(added).collect();
        let plan = LogicalPlan::Projection(Projection::try_new(all, Arc::new(input))?);
        Ok(Some((plan, keys)))
    }

    fn of_alias(&mut self, alias: &SubqueryAlias) -> Result<Option<WithKeys>> {
        let Some((input, keys)) = self.of_plan(&alias.input)? else { return Ok(None) };
        let outside = |key| match key {
            Expr::Column(column) => {
                Some(Expr::Column(Column::new(Some(alias.alias.clone()), column.name)))
            }
            _ => None,
        };
        let Some(keys) = keys.into_iter().map(outside).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let plan = SubqueryAlias::try_new(Arc::new(input), alias.alias.clone())?;
        Ok(Some((LogicalPlan::SubqueryAlias(plan), keys)))
    }

    /// Each group, or the only one, becomes one for each key.
    fn of_aggregate(&mut self, aggregate: &Aggregate) -> Result<Option<WithKeys>> {
        let Aggregate { group_expr, aggr_expr, .. } = aggregate;
        let is_set = |expr: &Expr| matches!(expr, Expr::GroupingSet(_));
        if group_expr.iter().any(is_set)
            || outside::are_referred_to(self.columns, group_expr)?
            || outside::are_referred_to(self.columns, aggr_expr)?
        {
            return Ok(None);
        }
        let Some((input, keys)) = self.of_plan(&aggregate.input)? else { return Ok(None) };
        self.answers_nothing |= group_expr.is_empty();
        let (added, keys) = named(keys);
        let groups = group_expr.iter().cloned().chain(added).collect();
        let plan = Aggregate::try_new(Arc::new(input), groups, aggr_expr.clone())?;
        Ok(Some((LogicalPlan::Aggregate(plan), keys)))
    }

    /// A node whose output has the columns of its input.
    fn of_input(
        &mut self,
        plan: &LogicalPlan,
        expressions: Vec<Expr>,
        input: &LogicalPlan,
    ) -> Result<Option<WithKeys>> {
        if outside::are_referred_to(self.columns, &expressions)? {
            return Ok(None);
        }
        let Some((input, keys)) = self.of_plan(input)? else { return Ok(None) };
        if !keys.iter().all(|key| matches!(key, Expr::Column(_))) {
            return Ok(None);
        }
        Ok(Some((plan.with_new_exprs(expressions, vec![input])?, keys)))
    }

    /// The expression over `input` that a condition equates with one over outer columns.
    fn key(
        &self,
        condition: &Expr,
        input: &LogicalPlan,
    ) -> Result<Option<(Expr, (Expr, DataType))>> {
        let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = condition else {
            return Ok(None);
        };
        let (outer, inner) = match (self.outside(left)?, self.outside(right)?) {
            (Some(outer), _) if !outside::is_referred_to(self.columns, right)? => (outer, right),
            (_, Some(outer)) if !outside::is_referred_to(self.columns, left)? => (outer, left),
            _ => return Ok(None),
        };
        let of_outer = outer.field;
        let (_, of_inner) = inner.to_field(input.schema())?;
        let (outer_type, inner_type) = (of_outer.data_type(), of_inner.data_type());
        let common = match () {
            () if outer_type.is_signed_integer() && inner_type.is_signed_integer() => {
                DataType::Int64
            }
            () if outer_type == inner_type
                && of_outer.metadata() == of_inner.metadata()
                && is_equal_if_same(outer_type) =>
            {
                outer_type.clone()
            }
            () => return Ok(None),
        };
        let inner = (**inner).clone();
        let key = if *inner_type == common { inner } else { cast(inner, common.clone()) };
        Ok(Some((key, (outer.expr, common))))
    }

    /// An expression over outer columns alone, as the query outside sees it: a column, or whole
    /// numbers computed from columns.
    fn outside(&self, expr: &Expr) -> Result<Option<Outer>> {
        let mut fields = Vec::new();
        let mut is_plain = true;
        expr.apply(|part| {
            match part {
                Expr::OuterReferenceColumn(field, column) if self.columns.contains(column) => {
                    fields.push((column.clone(), Arc::clone(field)));
                }
                Expr::Literal(..) | Expr::Cast(_) => {}
                Expr::BinaryExpr(BinaryExpr { op: Operator::Plus | Operator::Minus, .. }) => {}
                _ => is_plain = false,
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        if fields.is_empty() || !is_plain {
            return Ok(None);
        }
        let outside = expr.clone().transform(|part| {
            Ok(match part {
                Expr::OuterReferenceColumn(_, column) => Transformed::yes(Expr::Column(column)),
                other => Transformed::no(other),
            })
        })?;
        let expr = outside.data;
        if let (Expr::Column(_), [(_, field)]) = (&expr, &fields[..]) {
            return Ok(Some(Outer { field: Arc::clone(field), expr }));
        }
        let all_whole = fields.iter().all(|(_, field)| field.data_type().is_signed_integer());
        fields.dedup();
        let qualified = fields.into_iter().map(|(column, field)| {
            let named = field.as_ref().clone().with_name(column.name);
            (column.relation, Arc::new(named))
        });
        let schema = DFSchema::new_with_metadata(qualified.collect(), HashMap::new())?;
        let (_, field) = expr.to_field(&schema)?;
        let is_whole = all_whole && field.data_type().is_signed_integer();
        Ok(is_whole.then_some(Outer { field, expr }))
    }
}

/// Keys under names of their own, and the columns of these names.
fn named(keys: Vec<Expr>) -> (Vec<Expr>, Vec<Expr>) {
    let name = |place: usize| format!("?key{place}");
    let columns = (0..keys.len()).map(|place| Expr::Column(Column::from_name(name(place))));
    let columns = columns.collect();
    (keys.into_iter().enumerate().map(|(place, key)| key.alias(name(place))).collect(), columns)
}

/// Whether values of a type are equal if and only if their bytes are.
pub(super) fn is_equal_if_same(data_type: &DataType) -> bool {
    use DataType as T;
    data_type.is_decimal()
        || matches!(
            data_type,
            T::Boolean
                | T::Float32
                | T::Float64
                | T::Utf8
                | T::LargeUtf8
                | T::Utf8View
                | T::Binary
                | T::LargeBinary
                | T::BinaryView
                | T::FixedSizeBinary(_)
                | T::Date32
                | T::Time64(_)
                | T::Timestamp(_, _)
        )
}
