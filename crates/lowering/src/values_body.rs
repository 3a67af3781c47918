//! VALUES.

use crate::names;
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::tree::{Column, Expr};
use datafusion::common::DFSchema;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::{
    Expr as Engine, ExprSchemable, LogicalPlan, LogicalPlanBuilder, lit,
};

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

/// Rows with subqueries, which the engine does not take in VALUES: the union of projections, in the order in which they are
/// given. Rows that depend on others are in no order, since the engine does not sort for each of these.
fn one_by_one(rows: Vec<Vec<Engine>>) -> Result<LogicalPlan> {
    const PLACE: &str = "place";
    let columns: Vec<String> =
        (1..=rows.first().map_or(0, Vec::len)).map(|number| format!("column{number}")).collect();
    let is_in_order = rows.len() > 1 && !rows.iter().flatten().any(depends_on_others);
    let mut all: Option<LogicalPlanBuilder> = None;
    for (place, row) in (0_i64..).zip(rows) {
        let named = row.into_iter().zip(&columns).map(|(value, name)| value.alias(name));
        let place = is_in_order.then(|| lit(place).alias(PLACE));
        let row = named.chain(place).collect::<Vec<_>>();
        let row = LogicalPlanBuilder::empty(true).project(row)?;
        all = Some(match all {
            Some(rows) => rows.union(row.build()?)?,
            None => row,
        });
    }
    let Some(all) = all else { return missing("VALUES without rows") };
    if !is_in_order {
        return Ok(all.build()?);
    }
    let named = |name: &str| Engine::Column(datafusion::common::Column::new_unqualified(name));
    let sorted = all.sort([named(PLACE).sort(true, false)])?;
    Ok(sorted.project(columns.iter().map(|name| named(name)))?.build()?)
}

/// Whether a value depends on the rows of an outer query.
fn depends_on_others(value: &Engine) -> bool {
    let depends = |part: &Engine| match part {
        Engine::OuterReferenceColumn(..) => true,
        Engine::ScalarSubquery(subquery) => !subquery.outer_ref_columns.is_empty(),
        Engine::Exists(exists) => !exists.subquery.outer_ref_columns.is_empty(),
        Engine::InSubquery(of) => !of.subquery.outer_ref_columns.is_empty(),
        _ => false,
    };
    value.exists(|part| Ok(depends(part))).unwrap_or(true)
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
