//! A correlated subquery for many sets of outer values at once.
//!
//! The sets become a relation, the domain, which is joined where the subquery refers to outer columns. Each row of the result
//! has the number of its set (Neumann and Kemper, "Unnesting Arbitrary Queries", BTW 2015, section 3). It is used for
//! subqueries whose rows have no [keys](super::keyed): with other conditions than equality, with joins and subqueries that
//! refer to the outer query. It serves one batch of outer rows.
//!
//! Not here: LIMIT below the top, DISTINCT ON, grouping sets, full joins, functions in FROM with outer arguments.

mod expressions;
mod joins;
mod nodes;
mod rows;

pub(super) use rows::Rows;

use super::outside::{self, Cut};
use datafusion::arrow::array::{ArrayRef, Int32Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result};
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::logical_expr::{
    Distinct, Expr, LogicalPlan, LogicalPlanBuilder, Projection, TableSource,
};
use std::sync::Arc;

/// The column with the number of a set.
const SET: &str = "?set";

/// A subquery joined with its domain.
pub(super) struct Domain {
    /// The plan. Its last column is the number of the set.
    pub(super) plan: LogicalPlan,
    /// Rows of each set that are passed over.
    skip: usize,
    /// Rows of each set that are returned at most.
    fetch: Option<usize>,
    /// Whether a set without rows has an answer nevertheless, such as `count(*)`.
    answers_nothing: bool,
}

impl Domain {
    /// The subquery for some sets of values of its outer columns, which are rows of `sets`; `None` if it has no such form. If
    /// only its existence `is_asked`, the rows have nothing but the number of their set.
    ///
    /// # Errors
    /// The engine refuses a plan.
    pub(super) fn of(
        plan: &LogicalPlan,
        columns: &[Column],
        sets: &[ArrayRef],
        is_asked: bool,
    ) -> Result<Option<Self>> {
        let Some(Cut { rows, skip, fetch }) = outside::cut(plan)? else { return Ok(None) };
        if outside::is_volatile(rows)? {
            return Ok(None);
        }
        let Some(table) = table(rows, columns, sets)? else { return Ok(None) };
        let mut builder = Builder { columns, table, scans: 0, answers_nothing: false };
        let Some(Made { plan, sets: Some(sets) }) = builder.of_plan(rows)? else {
            return Ok(None);
        };
        let answers_nothing = builder.answers_nothing;
        let set = Expr::Column(sets[0].clone());
        let is_bare = is_asked && skip == 0 && fetch != Some(0) && !answers_nothing;
        let own = rows.schema().columns().into_iter().map(Expr::Column);
        let all = if is_bare { vec![set] } else { own.chain([set]).collect() };
        let mut plan = LogicalPlan::Projection(Projection::try_new(all, Arc::new(plan))?);
        if is_bare {
            plan = LogicalPlan::Distinct(Distinct::All(Arc::new(plan)));
        }
        Ok(Some(Self { plan, skip, fetch, answers_nothing }))
    }
}

/// The relation of the sets: their numbers and the values of the outer columns.
fn table(
    plan: &LogicalPlan,
    columns: &[Column],
    sets: &[ArrayRef],
) -> Result<Option<Arc<dyn TableSource>>> {
    let mut fields: Vec<Option<FieldRef>> = vec![None; columns.len()];
    plan.apply_with_subqueries(|node| {
        for expr in node.expressions() {
            expr.exists(|part| {
                if let Expr::OuterReferenceColumn(field, column) = part
                    && let Some(place) = columns.iter().position(|known| known == column)
                {
                    fields[place].get_or_insert_with(|| Arc::clone(field));
                }
                Ok(false)
            })?;
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    let count = sets.first().map_or(0, |column| column.len());
    let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values(0..count as i32));
    let (mut known, mut values) = (vec![Field::new(SET, DataType::Int32, false)], vec![numbers]);
    for (place, (field, value)) in fields.into_iter().zip(sets).enumerate() {
        let Some(field) = field.filter(|field| field.data_type() == value.data_type()) else {
            return Ok(None);
        };
        known.push(field.as_ref().clone().with_name(outer(place)).with_nullable(true));
        values.push(Arc::clone(value));
    }
    let schema = Arc::new(Schema::new(known));
    let batch = RecordBatch::try_new(Arc::clone(&schema), values)?;
    let table = MemTable::try_new(schema, vec![vec![batch]])?;
    Ok(Some(provider_as_source(Arc::new(table))))
}

/// The name of the column with the values of an outer column.
fn outer(place: usize) -> String {
    format!("?outer{place}")
}

/// A part of the subquery.
struct Made {
    plan: LogicalPlan,
    /// The columns of the domain: the number of the set, and the outer columns. `None` if the part is the same for all sets.
    sets: Option<Vec<Column>>,
}

struct Builder<'a> {
    columns: &'a [Column],
    table: Arc<dyn TableSource>,
    /// How often the domain was joined.
    scans: usize,
    answers_nothing: bool,
}

impl Builder<'_> {
    /// A part joined with the domain, if it is not yet.
    fn with_sets(&mut self, made: Made) -> Result<(LogicalPlan, Vec<Column>)> {
        if let Some(sets) = made.sets {
            return Ok((made.plan, sets));
        }
        let name = format!("?sets{}", self.scans);
        self.scans += 1;
        let scan = LogicalPlanBuilder::scan(name.as_str(), Arc::clone(&self.table), None)?;
        let plan = scan.cross_join(made.plan)?.build()?;
        let names = (0..self.columns.len()).map(outer);
        let names = std::iter::once(SET.to_owned()).chain(names);
        let sets = names.map(|column| Column::new(Some(name.as_str()), column)).collect();
        Ok((plan, sets))
    }
}
