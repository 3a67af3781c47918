//! VALUES.

use crate::names;
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::tree::{Column, Expr};
use datafusion::common::DFSchema;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::{Expr as Engine, ExprSchemable, LogicalPlan, LogicalPlanBuilder};

impl Lowering<'_> {
    /// The rows of VALUES.
    pub(crate) fn values_rows(
        &mut self,
        rows: &[Vec<Expr>],
        columns: &[Column],
    ) -> Result<LogicalPlan> {
        let mut by_column: Vec<Vec<Typed>> = vec![Vec::with_capacity(rows.len()); columns.len()];
        self.in_frame(|lowering| {
            for row in rows {
                for (values, cell) in by_column.iter_mut().zip(row) {
                    values.push(lowering.expr(cell)?);
                }
            }
            Ok(())
        })?;
        let mut cells: Vec<std::vec::IntoIter<Typed>> = Vec::with_capacity(columns.len());
        for (values, column) in by_column.into_iter().zip(columns) {
            cells.push(self.together(values, column.sql_type)?.into_iter());
        }
        let row = |_| cells.iter_mut().filter_map(|cell| Some(cell.next()?.expr)).collect();
        let rows: Vec<Vec<Engine>> = (0..rows.len()).map(row).collect();
        let plan = match rows.iter().flatten().any(has_subquery) {
            true => one_by_one(rows)?,
            false => rows_of(rows)?,
        };
        let names = names::unique(columns.iter().map(|column| &*column.name));
        let own = plan.schema().columns();
        if own.iter().map(|column| &column.name).eq(&names) {
            return Ok(plan);
        }
        let renamed =
            own.into_iter().zip(names).map(|(column, name)| Engine::Column(column).alias(name));
        let renamed: Vec<Engine> = renamed.collect();
        Ok(LogicalPlanBuilder::from(plan).project(renamed)?.build()?)
    }
}

fn has_subquery(value: &Engine) -> bool {
    let is_subquery = |part: &Engine| {
        matches!(part, Engine::ScalarSubquery(_) | Engine::Exists(_) | Engine::InSubquery(_))
    };
    value.exists(|part| Ok(is_subquery(part))).unwrap_or(true)
}

/// Rows with subqueries, which the engine does not take in VALUES: the union of projections.
fn one_by_one(rows: Vec<Vec<Engine>>) -> Result<LogicalPlan> {
    let mut all: Option<LogicalPlanBuilder> = None;
    for row in rows {
        let named = row.into_iter().enumerate();
        let named = named.map(|(place, value)| value.alias(format!("column{}", place + 1)));
        let row = LogicalPlanBuilder::empty(true).project(named.collect::<Vec<_>>())?;
        all = Some(match all {
            Some(rows) => rows.union(row.build()?)?,
            None => row,
        });
    }
    match all {
        Some(rows) => Ok(rows.build()?),
        None => missing("VALUES without rows"),
    }
}

/// The rows. Values of one column may be declared differently, such as `varchar` and `varchar(2)`: what is declared for all
/// of them counts.
fn rows_of(rows: Vec<Vec<Engine>>) -> Result<LogicalPlan> {
    let nothing = DFSchema::empty();
    let declared = |value: &Engine| value.metadata(&nothing);
    let [first, others @ ..] = &rows[..] else { return missing("VALUES without rows") };
    let mut is_mixed = false;
    for (at, value) in first.iter().enumerate() {
        let wanted = declared(value)?;
        for row in others {
            is_mixed = is_mixed || declared(&row[at])? != wanted;
        }
    }
    if !is_mixed {
        return Ok(LogicalPlanBuilder::values(rows)?.build()?);
    }
    one_by_one(rows)
}
