//! [`KeptRows`], the node of a logical plan for rows that are computed once.

use super::{Kept, KeptRowsExec};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNodeRecursion};
use datafusion::common::{DFSchemaRef, Result, TableReference, internal_err};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};
use datafusion::physical_plan::ExecutionPlan;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The rows of a query, computed once for all nodes with the same [`Kept`]. Conditions and limits of one reader do not
/// move below it, because other readers need all rows.
#[derive(Debug, Clone)]
pub struct KeptRows {
    input: LogicalPlan,
    name: Arc<str>,
    rows: Arc<Kept>,
}

impl KeptRows {
    /// The rows of a query with a name, as a plan.
    pub fn over(input: LogicalPlan, name: &str, rows: Arc<Kept>) -> LogicalPlan {
        let node = Self { input, name: name.into(), rows };
        LogicalPlan::Extension(Extension { node: Arc::new(node) })
    }

    /// The operator of the node, over a plan of the query.
    pub fn operator(&self, input: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
        Arc::new(KeptRowsExec::new(input, Arc::clone(&self.name), Arc::clone(&self.rows)))
    }
}

/// Whether a plan, or a subquery in it, gives other rows when it runs again.
///
/// # Errors
/// Errors of the engine.
pub fn is_volatile(plan: &LogicalPlan) -> Result<bool> {
    is_anywhere(plan, |node| {
        let mut found = false;
        node.apply_expressions(|expr| {
            found |= expr.is_volatile();
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(found)
    })
}

/// A plan with rows of its own, which it does not share with other plans: each reference to a view is a query.
///
/// # Errors
/// Errors of the engine.
pub fn renewed(plan: LogicalPlan) -> Result<LogicalPlan> {
    if !is_anywhere(&plan, |node| Ok(kept_rows(node).is_some()))? {
        return Ok(plan);
    }
    let mut renewed: HashMap<*const Kept, Arc<Kept>> = HashMap::new();
    let plan = plan.transform_down_with_subqueries(|node| {
        let Some(kept) = kept_rows(&node) else { return Ok(Transformed::no(node)) };
        let rows = Arc::clone(renewed.entry(Arc::as_ptr(&kept.rows)).or_default());
        Ok(Transformed::yes(KeptRows::over(kept.input.clone(), &kept.name, rows)))
    });
    plan.data()
}

fn kept_rows(node: &LogicalPlan) -> Option<&KeptRows> {
    match node {
        LogicalPlan::Extension(extension) => extension.node.as_any().downcast_ref(),
        _ => None,
    }
}

/// Whether a plan, or a subquery in it, reads one of some tables.
///
/// # Errors
/// Errors of the engine.
pub fn reads(plan: &LogicalPlan, tables: &[TableReference]) -> Result<bool> {
    is_anywhere(plan, |node| match node {
        LogicalPlan::TableScan(scan) => Ok(tables.contains(&scan.table_name)),
        _ => Ok(false),
    })
}

/// Whether a node of a plan, or of a subquery in it, is such.
fn is_anywhere(plan: &LogicalPlan, is_such: impl Fn(&LogicalPlan) -> Result<bool>) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        found = is_such(node)?;
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

impl PartialEq for KeptRows {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.rows, &other.rows) && self.input == other.input
    }
}

impl Eq for KeptRows {}

impl PartialOrd for KeptRows {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let rows = Arc::as_ptr(&self.rows).cmp(&Arc::as_ptr(&other.rows));
        if rows.is_ne() {
            return Some(rows);
        }
        let inputs = self.input.partial_cmp(&other.input);
        inputs.filter(|order| order.is_ne() || self == other)
    }
}

impl Hash for KeptRows {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.rows).hash(state);
        self.input.hash(state);
    }
}

impl UserDefinedLogicalNodeCore for KeptRows {
    fn name(&self) -> &str {
        "KeptRows"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeptRows: {}", self.name)
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> Result<Self> {
        match inputs.pop() {
            Some(input) if inputs.is_empty() => Ok(Self { input, ..self.clone() }),
            _ => internal_err!("kept rows are those of one query"),
        }
    }
}
