//! UNION, INTERSECT and EXCEPT.

use crate::expressions::outputs_of;
use crate::functions::take;
use crate::names;
use crate::refusal::{Result, missing, unsupported};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::SqlType;
use analyzer::tree::{Column as TreeColumn, Expr, Query, SetOperation, SetOperator};
use datafusion::common::{Column, NullEquality};
use datafusion::logical_expr::expr::{WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::{
    Expr as Engine, JoinType, LogicalPlan, LogicalPlanBuilder, WindowFrame,
    WindowFunctionDefinition,
};
use std::sync::Arc;

/// The column that numbers equal rows.
const COPY: &str = "?copy";

impl Lowering<'_> {
    /// The rows of a set operation.
    pub(crate) fn set_operation(
        &mut self,
        operation: &SetOperation,
        columns: &[TreeColumn],
    ) -> Result<LogicalPlan> {
        let left = self.query(&operation.left)?;
        let right = self.query(&operation.right)?;
        let left_values = self.side(&left, &operation.left, &operation.left_columns)?;
        let right_values = self.side(&right, &operation.right, &operation.right_columns)?;
        let names = names::unique(columns.iter().map(|column| &*column.name));
        let (mut lefts, mut rights) = (Vec::new(), Vec::new());
        let pairs = left_values.into_iter().zip(right_values);
        for ((left, right), column) in pairs.zip(columns) {
            let pair = self.together(vec![left, right], column.sql_type)?;
            let [left, right] = take(pair)?;
            lefts.push(left);
            rights.push(right);
        }
        let left = named(left, lefts, &names)?;
        let right = named(right, rights, &names)?;
        let types: Vec<SqlType> = columns.iter().map(|column| column.sql_type).collect();
        self.combined(operation, &types, left, right)
    }

    fn side(&mut self, plan: &LogicalPlan, query: &Query, columns: &[Expr]) -> Result<Vec<Typed>> {
        let outputs = outputs_of(plan, query);
        self.with_outputs(outputs, |lowering| lowering.exprs(columns))
    }

    fn combined(
        &self,
        operation: &SetOperation,
        types: &[SqlType],
        left: LogicalPlan,
        right: LogicalPlan,
    ) -> Result<LogicalPlan> {
        let builder = || LogicalPlanBuilder::from(left.clone());
        let is_union = operation.operator == SetOperator::Union;
        if let Some(of) = types.iter().find(|of| Self::has_equality_key(**of) && !is_union) {
            return unsupported(format!("INTERSECT and EXCEPT of {of}"));
        }
        Ok(match (operation.operator, operation.all) {
            (SetOperator::Union, true) => builder().union(right)?.build()?,
            (SetOperator::Union, false) => {
                self.distinct_rows(builder().union(right)?.build()?, types)?
            }
            (SetOperator::Intersect, false) => LogicalPlanBuilder::intersect(left, right, false)?,
            (SetOperator::Except, false) => LogicalPlanBuilder::except(left, right, false)?,
            (SetOperator::Intersect, true) => self.by_copies(left, right, JoinType::LeftSemi)?,
            (SetOperator::Except, true) => self.by_copies(left, right, JoinType::LeftAnti)?,
        })
    }

    /// The rows on the left whose copy of the same number is on the right, or is not.
    fn by_copies(
        &self,
        left: LogicalPlan,
        right: LogicalPlan,
        join: JoinType,
    ) -> Result<LogicalPlan> {
        let columns = left.schema().columns();
        let left = LogicalPlanBuilder::from(self.numbered(left)?).alias("?left")?;
        let right = LogicalPlanBuilder::from(self.numbered(right)?).alias("?right")?;
        let keys = |plan: &LogicalPlanBuilder| plan.schema().columns();
        let (left_keys, right_keys) = (keys(&left), keys(&right));
        let joined = left.join_detailed(
            right.build()?,
            join,
            (left_keys.clone(), right_keys),
            None,
            NullEquality::NullEqualsNull,
        )?;
        let kept = left_keys.into_iter().zip(columns);
        let kept: Vec<Engine> =
            kept.map(|(key, column)| Engine::Column(key).alias(column.name)).collect();
        Ok(joined.project(kept)?.build()?)
    }

    /// A plan with a column that numbers equal rows.
    fn numbered(&self, plan: LogicalPlan) -> Result<LogicalPlan> {
        let functions = self.around.functions.shared().window_functions();
        let Some(function) = functions.get("row_number").cloned() else {
            return missing("row_number");
        };
        let columns = plan.schema().columns();
        let partition_by: Vec<Engine> = columns.iter().cloned().map(Engine::Column).collect();
        let number = Engine::WindowFunction(Box::new(WindowFunction {
            fun: WindowFunctionDefinition::WindowUDF(Arc::clone(&function)),
            params: WindowFunctionParams {
                args: Vec::new(),
                partition_by: partition_by.clone(),
                order_by: Vec::new(),
                window_frame: WindowFrame::new(None),
                filter: None,
                null_treatment: None,
                distinct: false,
            },
        }));
        let name = number.schema_name().to_string();
        let number_column = Engine::Column(Column::new_unqualified(name)).alias(COPY);
        let all: Vec<Engine> = partition_by.into_iter().chain([number_column]).collect();
        Ok(LogicalPlanBuilder::from(plan).window([number])?.project(all)?.build()?)
    }
}

/// A plan whose columns are values over those of another, under names.
fn named(plan: LogicalPlan, values: Vec<Typed>, names: &[String]) -> Result<LogicalPlan> {
    let columns = plan.schema().columns();
    let values: Vec<Engine> = values.into_iter().map(|value| value.expr).collect();
    let is_same = values.len() == columns.len()
        && values.iter().zip(&columns).zip(names).all(|((value, column), name)| {
            matches!(value, Engine::Column(own) if own == column) && column.name == *name
        });
    if is_same {
        return Ok(plan);
    }
    let named = values.into_iter().zip(names).map(|(value, name)| match value {
        Engine::Column(column) if column.name == *name => Engine::Column(column),
        value => value.alias(name),
    });
    let named: Vec<Engine> = named.collect();
    Ok(LogicalPlanBuilder::from(plan).project(named)?.build()?)
}
