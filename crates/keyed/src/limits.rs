//! LIMIT and OFFSET.

use crate::operand::Operand;
use datafusion::common::ScalarValue;
use grammar::tree::{Node, SelectStmt};
use store::catalog::SqlType;
use values::error::Result;

/// The clauses of a query.
#[derive(Debug, Clone, Default)]
pub(crate) struct Limits {
    limit: Option<Operand>,
    offset: Option<Operand>,
}

/// The rows that are skipped, and those that are left; `None` is all.
pub(crate) type Cut = (usize, Option<usize>);

impl Limits {
    /// The clauses; `None` if one is neither constant nor parameter.
    pub(crate) fn of(query: &SelectStmt) -> Option<Self> {
        let operand = |clause: Option<&Node>| {
            clause.map_or(Some(None), |value| Operand::of(value.node.as_ref()?).map(Some))
        };
        let limit = operand(query.limit_count.as_deref())?;
        Some(Self { limit, offset: operand(query.limit_offset.as_deref())? })
    }

    /// Whether there are none.
    pub(crate) fn is_none(&self) -> bool {
        self.limit.is_none() && self.offset.is_none()
    }

    /// The parameters.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (usize, SqlType)> {
        let operands = self.limit.iter().chain(&self.offset);
        operands.filter_map(|operand| Some((operand.number()?, SqlType::BigInt)))
    }

    /// The values; `None` for what is no number of rows.
    ///
    /// # Errors
    /// 42P02 if a parameter does not exist.
    pub(crate) fn cut(&self, parameters: &[ScalarValue]) -> Result<Option<Cut>> {
        let number = |operand: &Option<Operand>| -> Result<Option<Option<usize>>> {
            let Some(operand) = operand else { return Ok(Some(None)) };
            let value = operand.value(parameters)?;
            if !value.data_type().is_integer() && !value.data_type().is_null() {
                return Ok(None);
            }
            let number = match value.cast_to(&SqlType::BigInt.arrow()) {
                Ok(ScalarValue::Int64(number)) => number,
                _ => return Ok(None),
            };
            Ok(number.map_or(Some(None), |number| usize::try_from(number).ok().map(Some)))
        };
        let (limit, offset) = (number(&self.limit)?, number(&self.offset)?);
        Ok(limit.zip(offset).map(|(limit, offset)| (offset.unwrap_or(0), limit)))
    }
}
