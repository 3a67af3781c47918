//! ORDER BY and LIMIT.

use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::tree::{Limit, SortKey};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use values::error::{Error, SqlState};

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

    /// A plan cut by LIMIT and OFFSET.
    pub(crate) fn limited(&mut self, plan: LogicalPlan, limit: &Limit) -> Result<LogicalPlan> {
        if limit.with_ties {
            return missing("WITH TIES");
        }
        let (count, too_low) = (&limit.count, SqlState::InvalidRowCountInLimit);
        let count = self.row_count(count.as_ref(), too_low, "LIMIT must not be negative")?;
        let (offset, too_low) = (&limit.offset, SqlState::InvalidRowCountInOffset);
        let offset = self.row_count(offset.as_ref(), too_low, "OFFSET must not be negative")?;
        if count.is_none() && offset.is_none() {
            return Ok(plan);
        }
        Ok(LogicalPlanBuilder::from(plan).limit_by_expr(offset, count)?.build()?)
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
