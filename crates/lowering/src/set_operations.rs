//! UNION, INTERSECT and EXCEPT.

use crate::expressions::outputs_of;
use crate::functions::take;
use crate::names;
use crate::refusal::{Result, missing};
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
        let union = || Ok(builder().union(right.clone())?.build()?);
        let join = match operation.operator {
            SetOperator::Union if operation.all => return union(),
            SetOperator::Union => return self.distinct_rows(union()?, types),
            SetOperator::Intersect => JoinType::LeftSemi,
            SetOperator::Except => JoinType::LeftAnti,
        };
        let mut all = types.iter().zip(left.schema().fields());
        let has_keys = all.any(|(of, field)| Self::has_equality_key(*of, field.data_type()));
        Ok(match (operation.operator, operation.all) {
            (_, true) => self.by_keys(left, right, types, (join, true))?,
            (_, false) if has_keys => {
                let left = self.distinct_rows(left, types)?;
                self.by_keys(left, right, types, (join, false))?
            }
            (SetOperator::Intersect, false) => LogicalPlanBuilder::intersect(left, right, false)?,
            _ => LogicalPlanBuilder::except(left, right, false)?,
        })
    }

    /// The rows on the left with an equal row on the right, or without one. If copies are told apart, it has to be the copy
    /// of the same number.
    fn by_keys(
        &self,
        left: LogicalPlan,
        right: LogicalPlan,
        types: &[SqlType],
        (join, by_copies): (JoinType, bool),
    ) -> Result<LogicalPlan> {
        let columns = left.schema().columns();
        let side = |plan, name| -> Result<(LogicalPlanBuilder, Vec<Column>)> {
            let (keyed, keys) = self.with_keys(plan, types, by_copies)?;
            let keys = keys.into_iter().map(|key| Column::new(Some(name), key)).collect();
            Ok((LogicalPlanBuilder::from(keyed).alias(name)?, keys))
        };
        let (left, left_keys) = side(left, "?left")?;
        let (right, right_keys) = side(right, "?right")?;
        let own = left.schema().columns().into_iter().zip(&columns);
        let kept: Vec<Engine> =
            own.map(|(own, column)| Engine::Column(own).alias(&column.name)).collect();
        let equality = NullEquality::NullEqualsNull;
        let keys = (left_keys, right_keys);
        let joined = left.join_detailed(right.build()?, join, keys, None, equality)?;
        Ok(joined.project(kept)?.build()?)
    }

    /// A plan with a column for each key by which rows are told apart, and one that numbers equal rows; and the names of both.
    fn with_keys(
        &self,
        plan: LogicalPlan,
        types: &[SqlType],
        by_copies: bool,
    ) -> Result<(LogicalPlan, Vec<String>)> {
        let columns = plan.schema().columns();
        let mut all: Vec<Engine> = columns.iter().cloned().map(Engine::Column).collect();
        let mut keys = Vec::with_capacity(columns.len() + 1);
        let fields = plan.schema().fields().iter();
        for (at, ((column, field), of)) in columns.iter().zip(fields).zip(types).enumerate() {
            if !Self::has_equality_key(*of, field.data_type()) {
                keys.push(column.name.clone());
                continue;
            }
            let value = Typed {
                expr: Engine::Column(column.clone()),
                sql_type: *of,
                data_type: field.data_type().clone(),
            };
            let name = format!("?key{at}");
            all.push(self.equality_key(value)?.expr.alias(&name));
            keys.push(name);
        }
        let keyed = LogicalPlanBuilder::from(plan).project(all)?.build()?;
        if !by_copies {
            return Ok((keyed, keys));
        }
        let same = keyed.schema().columns().into_iter().filter(|own| keys.contains(&own.name));
        let same = same.map(Engine::Column).collect();
        let numbered = self.numbered(keyed, same)?;
        keys.push(COPY.to_owned());
        Ok((numbered, keys))
    }

    /// A plan with a column that numbers rows with equal keys.
    fn numbered(&self, plan: LogicalPlan, keys: Vec<Engine>) -> Result<LogicalPlan> {
        let functions = self.around.functions.shared().window_functions();
        let Some(function) = functions.get("row_number").cloned() else {
            return missing("row_number");
        };
        let number = Engine::WindowFunction(Box::new(WindowFunction {
            fun: WindowFunctionDefinition::WindowUDF(function),
            params: WindowFunctionParams {
                args: Vec::new(),
                partition_by: keys,
                order_by: Vec::new(),
                window_frame: WindowFrame::new(None),
                filter: None,
                null_treatment: None,
                distinct: false,
            },
        }));
        let columns = plan.schema().columns().into_iter().map(Engine::Column);
        let name = number.schema_name().to_string();
        let number_column = Engine::Column(Column::new_unqualified(name)).alias(COPY);
        let all: Vec<Engine> = columns.chain([number_column]).collect();
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
