//! Subqueries in columns of views that nothing reads. A view is planned with all of its columns; PostgreSQL does not compute
//! those that a statement leaves out, and one that returns several rows is no error then. The engine would take them out, but
//! makes joins of the subqueries before.

use datafusion::common::metadata::FieldMetadata;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan, Projection, Subquery, SubqueryAlias, Union};
use grammar::growing;
use std::sync::Arc;

/// The name of rows that PostgreSQL computes with all of their columns, which no user can write.
pub const WHOLE: &str = "?whole";

/// Whether a plan has a subquery that is one value.
///
/// # Errors
/// Those of the engine's walks.
pub fn has_subquery(plan: &LogicalPlan) -> Result<bool> {
    any_expr(plan, |part| matches!(part, Expr::ScalarSubquery(_)))
}

/// A plan without the subqueries in columns that are not read; `None` if there are none.
///
/// # Errors
/// Those of making plans.
pub fn without_unread(plan: &LogicalPlan, read: &[bool]) -> Result<Option<LogicalPlan>> {
    if read.iter().all(|is_read| *is_read) || !has_subquery(plan)? {
        return Ok(None);
    }
    let is_lateral = plan.exists(|node| Ok(matches!(node, LogicalPlan::Subquery(_))))?;
    Clearing { is_lateral }.without(plan, read)
}

struct Clearing {
    /// Whether some rows depend on others in FROM.
    is_lateral: bool,
}

impl Clearing {
    fn without(&self, plan: &LogicalPlan, read: &[bool]) -> Result<Option<LogicalPlan>> {
        growing(|| match plan {
            LogicalPlan::Projection(projection) => self.projected(projection, read),
            LogicalPlan::SubqueryAlias(alias) if alias.alias.table() != WHOLE => {
                let Some(input) = self.without(&alias.input, read)? else { return Ok(None) };
                let alias = SubqueryAlias::try_new(Arc::new(input), alias.alias.clone())?;
                Ok(Some(LogicalPlan::SubqueryAlias(alias)))
            }
            LogicalPlan::Sort(_) | LogicalPlan::Limit(_) if is_over_union(plan) => Ok(None),
            LogicalPlan::Union(union) if union.inputs.iter().any(|side| is_converted(side)) => {
                Ok(None)
            }
            LogicalPlan::Union(union) => self.united(union, read),
            LogicalPlan::Filter(_)
            | LogicalPlan::Sort(_)
            | LogicalPlan::Limit(_)
            | LogicalPlan::Join(_) => self.over_inputs(plan, read),
            _ => Ok(None),
        })
    }

    fn projected(&self, projection: &Projection, read: &[bool]) -> Result<Option<LogicalPlan>> {
        let schema = projection.input.schema();
        let mut needed = vec![false; schema.fields().len()];
        let (mut exprs, mut is_changed) = (Vec::with_capacity(read.len()), false);
        let names = NamePreserver::new_for_projection();
        for (expr, is_read) in projection.expr.iter().zip(read) {
            if *is_read || is_volatile(expr)? {
                note(expr, schema, &mut needed)?;
                exprs.push(expr.clone());
                continue;
            }
            let name = names.save(expr);
            let without = expr.clone().transform(|part| Ok(without_value(part)))?;
            is_changed |= without.transformed;
            exprs.push(name.restore(without.data));
        }
        let input = self.without(&projection.input, &needed)?;
        if !is_changed && input.is_none() {
            return Ok(None);
        }
        let input = input.map_or_else(|| Arc::clone(&projection.input), Arc::new);
        Ok(Some(LogicalPlan::Projection(Projection::try_new(exprs, input)?)))
    }

    fn united(&self, union: &Union, read: &[bool]) -> Result<Option<LogicalPlan>> {
        let (mut inputs, mut is_changed) = (Vec::with_capacity(union.inputs.len()), false);
        for side in &union.inputs {
            let without = self.without(side, read)?;
            is_changed |= without.is_some();
            inputs.push(without.map_or_else(|| Arc::clone(side), Arc::new));
        }
        let union = Union { inputs, schema: Arc::clone(&union.schema) };
        Ok(is_changed.then_some(LogicalPlan::Union(union)))
    }

    /// A plan whose columns are those of its inputs.
    fn over_inputs(&self, plan: &LogicalPlan, read: &[bool]) -> Result<Option<LogicalPlan>> {
        let (schema, inputs) = (plan.schema(), plan.inputs());
        let width: usize = inputs.iter().map(|input| input.schema().fields().len()).sum();
        if width != read.len() {
            return Ok(None);
        }
        let mut read = read.to_vec();
        for expr in plan.expressions() {
            note(&expr, schema, &mut read)?;
        }
        if self.is_lateral {
            plan.apply(|node| {
                if let LogicalPlan::Subquery(subquery) = node {
                    note_outer(subquery, schema, &mut read);
                }
                Ok(TreeNodeRecursion::Continue)
            })?;
        }
        let (mut made, mut rest) = (Vec::with_capacity(inputs.len()), &read[..]);
        for input in &inputs {
            let (own, others) = rest.split_at(input.schema().fields().len());
            made.push(self.without(input, own)?);
            rest = others;
        }
        if made.iter().all(Option::is_none) {
            return Ok(None);
        }
        let made = made.into_iter().zip(inputs);
        let made = made.map(|(without, input)| without.unwrap_or_else(|| input.clone()));
        Ok(Some(plan.with_new_exprs(plan.expressions(), made.collect())?))
    }
}

/// Notes the columns that an expression reads, also in its subqueries.
fn note(expr: &Expr, schema: &DFSchema, read: &mut [bool]) -> Result<()> {
    expr.apply(|part| {
        match part {
            Expr::Column(column) => note_column(column, schema, read),
            part => {
                if let Some(subquery) = subquery_of(part) {
                    note_outer(subquery, schema, read);
                }
            }
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

fn note_outer(subquery: &Subquery, schema: &DFSchema, read: &mut [bool]) {
    for outer in &subquery.outer_ref_columns {
        if let Expr::OuterReferenceColumn(_, column) = outer {
            note_column(column, schema, read);
        }
    }
}

fn note_column(column: &Column, schema: &DFSchema, read: &mut [bool]) {
    if let Some(is_read) = schema.maybe_index_of_column(column).and_then(|at| read.get_mut(at)) {
        *is_read = true;
    }
}

/// NULL instead of a subquery.
fn without_value(part: Expr) -> Transformed<Expr> {
    match part {
        Expr::ScalarSubquery(subquery) => {
            let field = subquery.subquery.schema().field(0);
            let Ok(null) = ScalarValue::try_from(field.data_type()) else {
                return Transformed::no(Expr::ScalarSubquery(subquery));
            };
            let metadata = Some(FieldMetadata::from(&**field));
            Transformed::yes(Expr::Literal(null, metadata.filter(|known| !known.is_empty())))
        }
        part => Transformed::no(part),
    }
}

fn subquery_of(expr: &Expr) -> Option<&Subquery> {
    match expr {
        Expr::ScalarSubquery(subquery)
        | Expr::Exists(Exists { subquery, .. })
        | Expr::InSubquery(InSubquery { subquery, .. })
        | Expr::SetComparison(SetComparison { subquery, .. }) => Some(subquery),
        _ => None,
    }
}

/// Whether an expression or a subquery in it calls a volatile function.
fn is_volatile(expr: &Expr) -> Result<bool> {
    expr.exists(|part| {
        Ok(part.is_volatile_node()
            || match subquery_of(part) {
                Some(subquery) => any_expr(&subquery.subquery, Expr::is_volatile_node)?,
                None => false,
            })
    })
}

/// Whether a plan or a subquery in it has such a part of an expression.
fn any_expr(plan: &LogicalPlan, is_it: impl Fn(&Expr) -> bool) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            found = found || expr.exists(|part| Ok(is_it(part)))?;
            Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })?;
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

/// Whether a plan is the order or the limit of a UNION.
fn is_over_union(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Sort(sort) => is_over_union(&sort.input),
        LogicalPlan::Limit(limit) => is_over_union(&limit.input),
        LogicalPlan::Projection(projection) => is_over_union(&projection.input),
        LogicalPlan::Union(_) => true,
        _ => false,
    }
}

/// Whether a side of a UNION has columns that are converted to the types of the result: values over a select list.
fn is_converted(side: &LogicalPlan) -> bool {
    let LogicalPlan::Projection(projection) = side else { return false };
    let is_over_list = matches!(
        &*projection.input,
        LogicalPlan::Projection(_)
            | LogicalPlan::Sort(_)
            | LogicalPlan::Limit(_)
            | LogicalPlan::Union(_)
    );
    is_over_list && !projection.expr.iter().all(is_column)
}

fn is_column(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) => true,
        Expr::Alias(alias) => is_column(&alias.expr),
        _ => false,
    }
}
