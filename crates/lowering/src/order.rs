//! ORDER BY and LIMIT.

use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::tree::{Limit, SortKey};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::expr::{Sort, WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, Operator, WindowFrame, WindowFrameBound,
    WindowFrameUnits, WindowFunctionDefinition, binary_expr, cast, lit, when,
};
use std::sync::Arc;
use values::error::{Error, SqlState};

/// A number of rows that does not overflow in sums.
const NUMBER: DataType = DataType::Decimal128(20, 0);

impl Lowering<'_> {
    /// A key of ORDER BY.
    pub(crate) fn sort_key(&mut self, key: &SortKey) -> Result<Sort> {
        let value = self.expr(&key.expr)?;
        self.sorted(key, value)
    }

    /// The order by a value, as a key says.
    pub(crate) fn sorted(&self, key: &SortKey, value: Typed) -> Result<Sort> {
        Ok(self.order_key(value)?.expr.sort(!key.descending, key.nulls_first))
    }

    /// The rows of a plan in an order, cut by LIMIT and OFFSET. Columns behind the first `width` are only there for the order.
    pub(crate) fn ordered(
        &mut self,
        plan: LogicalPlan,
        order: Vec<Sort>,
        limit: &Limit,
        width: usize,
    ) -> Result<LogicalPlan> {
        let columns = plan.schema().columns();
        let (count, offset) = self.row_counts(limit)?;
        // The engine cuts by numbers that it knows before it runs the plan.
        let is_numbered =
            limit.with_ties || is_queried(count.as_ref()) || is_queried(offset.as_ref());
        let plan = match is_numbered {
            true => {
                self.kept_by_number(plan, &order, limit.with_ties, count.clone(), offset.clone())?
            }
            false => plan,
        };
        let plan = match order.is_empty() {
            true => plan,
            false => LogicalPlanBuilder::from(plan).sort(order)?.build()?,
        };
        let plan = match plan.schema().fields().len() <= width.max(1) {
            true => plan,
            false => {
                let own = columns.into_iter().take(width.max(1)).map(Expr::Column);
                LogicalPlanBuilder::from(plan).project(own.collect::<Vec<_>>())?.build()?
            }
        };
        if is_numbered || (count.is_none() && offset.is_none()) {
            return Ok(plan);
        }
        Ok(LogicalPlanBuilder::from(plan).limit_by_expr(offset, count)?.build()?)
    }

    /// A plan with a number for each row, and the number's column.
    pub(crate) fn with_row_numbers(&self, plan: LogicalPlan) -> Result<(LogicalPlan, Expr)> {
        let number = self.counting("row_number", &[])?;
        let column = Column::new_unqualified(number.schema_name().to_string());
        let plan = LogicalPlanBuilder::window_plan(plan, vec![number])?;
        Ok((plan, Expr::Column(column)))
    }

    /// The window function of a name that counts all rows in an order.
    fn counting(&self, name: &str, order: &[Sort]) -> Result<Expr> {
        let functions = self.around.functions.shared().window_functions();
        let Some(function) = functions.get(name) else { return missing(name) };
        let function = WindowFunctionDefinition::WindowUDF(Arc::clone(function));
        let params = WindowFunctionParams {
            args: Vec::new(),
            partition_by: Vec::new(),
            order_by: order.to_vec(),
            window_frame: WindowFrame::new_bounds(
                WindowFrameUnits::Rows,
                WindowFrameBound::Preceding(ScalarValue::UInt64(None)),
                WindowFrameBound::CurrentRow,
            ),
            filter: None,
            null_treatment: None,
            distinct: false,
        };
        let call = WindowFunction { fun: function, params };
        Ok(Expr::WindowFunction(Box::new(call)))
    }

    /// The rows behind `offset`, up to `count`; with ties those, too, that the order cannot tell from the last of them.
    fn kept_by_number(
        &self,
        plan: LogicalPlan,
        order: &[Sort],
        with_ties: bool,
        count: Option<Expr>,
        offset: Option<Expr>,
    ) -> Result<LogicalPlan> {
        let number = |rows: Expr| cast(rows, NUMBER);
        let none = lit(ScalarValue::Decimal128(Some(0), 20, 0));
        let offset = match offset.map(number) {
            Some(offset) => when(offset.clone().is_null(), none.clone()).otherwise(offset)?,
            None => none.clone(),
        };
        let mut numbers = vec![self.counting("row_number", order)?];
        if with_ties {
            numbers.push(self.counting("rank", order)?);
        }
        let mut columns = numbers.iter().map(|call| {
            number(Expr::Column(Column::new_unqualified(call.schema_name().to_string())))
        });
        let Some(row) = columns.next() else { return missing("row_number") };
        let rank = columns.next().unwrap_or_else(|| row.clone());
        let plan = LogicalPlanBuilder::window_plan(plan, numbers)?;
        let is_behind = row.gt(offset.clone());
        let kept = match count.map(number) {
            Some(count) => {
                let last = binary_expr(offset, Operator::Plus, count.clone());
                let is_within = rank.lt_eq(last).and(count.clone().gt(none));
                is_behind.and(is_within.or(count.is_null()))
            }
            None => is_behind,
        };
        Ok(LogicalPlanBuilder::from(plan).filter(kept)?.build()?)
    }

    /// The numbers of LIMIT and OFFSET.
    fn row_counts(&mut self, limit: &Limit) -> Result<(Option<Expr>, Option<Expr>)> {
        let (count, too_low) = (&limit.count, SqlState::InvalidRowCountInLimit);
        let count = self.row_count(count.as_ref(), too_low, "LIMIT must not be negative")?;
        let (offset, too_low) = (&limit.offset, SqlState::InvalidRowCountInOffset);
        let offset = self.row_count(offset.as_ref(), too_low, "OFFSET must not be negative")?;
        Ok((count, offset))
    }

    /// A number of rows; `None` for NULL, which stands for all rows of LIMIT and for none of OFFSET.
    fn row_count(
        &mut self,
        count: Option<&analyzer::tree::Expr>,
        too_low: SqlState,
        message: &str,
    ) -> Result<Option<Expr>> {
        let Some(count) = count else { return Ok(None) };
        let rows = self.expr(count)?;
        match rows.value() {
            Some(value) if value.is_null() => Ok(None),
            Some(ScalarValue::Int64(Some(number))) if *number < 0 => {
                Err(Error::new(too_low, message).into())
            }
            _ => Ok(Some(rows.expr)),
        }
    }
}

/// Whether a number of rows is a query's value.
fn is_queried(rows: Option<&Expr>) -> bool {
    let is_query = |part: &Expr| Ok(matches!(part, Expr::ScalarSubquery(_)));
    rows.is_some_and(|rows| rows.exists(is_query).unwrap_or(true))
}
