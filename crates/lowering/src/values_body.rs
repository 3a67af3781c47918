//! VALUES.

use crate::names;
use crate::refusal::Result;
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::tree::{Column, Expr};
use datafusion::common::DFSchema;
use datafusion::common::metadata::FieldMetadata;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::{
    Expr as Engine, ExprSchemable, LogicalPlan, LogicalPlanBuilder, Union, lit,
};
use std::sync::Arc;

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
            false => self.rows_of(rows)?,
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

    /// The rows. Values of one column may be declared differently, such as `varchar` and `varchar(2)`: what is declared for all
    /// of them counts.
    fn rows_of(&self, mut rows: Vec<Vec<Engine>>) -> Result<LogicalPlan> {
        let nothing = DFSchema::empty();
        for at in 0..rows.first().map_or(0, Vec::len) {
            let declared = rows.iter().map(|row| row[at].metadata(&nothing));
            let declared = declared.collect::<datafusion::common::Result<Vec<FieldMetadata>>>()?;
            let [first, others @ ..] = &declared[..] else { break };
            if others.iter().all(|other| other == first) {
                continue;
            }
            let mut common = first.to_hashmap();
            for other in others.iter().map(FieldMetadata::to_hashmap) {
                common.retain(|key, value| other.get(key) == Some(value));
            }
            for row in &mut rows {
                let value = self.undeclared(std::mem::take(&mut row[at]))?;
                let common = FieldMetadata::from(common.clone());
                row[at] = value.alias_with_metadata("value", Some(common));
            }
        }
        Ok(LogicalPlanBuilder::values(rows)?.build()?)
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
    let mut all = Vec::with_capacity(rows.len());
    for (place, row) in (0_i64..).zip(rows) {
        let named = row.into_iter().zip(&columns).map(|(value, name)| value.alias(name));
        let place = is_in_order.then(|| lit(place).alias(PLACE));
        let row = named.chain(place).collect::<Vec<_>>();
        all.push(Arc::new(LogicalPlanBuilder::empty(true).project(row)?.build()?));
    }
    if let [_] = &all[..] {
        return Ok(Arc::unwrap_or_clone(all.remove(0)));
    }
    let all = LogicalPlan::Union(Union::try_new_with_loose_types(all)?);
    if !is_in_order {
        return Ok(all);
    }
    let named = |name: &str| Engine::Column(datafusion::common::Column::new_unqualified(name));
    let sorted = LogicalPlanBuilder::from(all).sort([named(PLACE).sort(true, false)])?;
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
