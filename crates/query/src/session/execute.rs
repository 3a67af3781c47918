//! The argument values of EXECUTE.

use super::Session;
use crate::context::outcome::Outcome;
use crate::context::parameter_of_text;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::ScalarValue;
use datafusion::sql::sqlparser::ast::{Expr, Value};
use futures::TryStreamExt;
use parser::connection::Execute;
use store::catalog::SqlType;
use values::error::{Error, Result, SqlState};

impl Session {
    /// The values of the arguments, converted to `types`. `parameters` are the values of the EXECUTE's own `$1`, `$2`, ...
    ///
    /// # Errors
    /// 42601 for too few or too many arguments; as evaluating them.
    pub async fn execute_values(
        &self,
        execute: &Execute,
        types: &[SqlType],
        parameters: &[ScalarValue],
    ) -> Result<Vec<ScalarValue>> {
        if execute.arguments.len() != types.len() {
            let message =
                format!("wrong number of parameters for prepared statement \"{}\"", execute.name);
            let (expected, given) = (types.len(), execute.arguments.len());
            return Err(Error::new(SqlState::SyntaxError, message)
                .with_detail(format!("Expected {expected} parameters but got {given}.")));
        }
        let style = self.style();
        let constants = execute.arguments.iter().zip(types).map(|(argument, sql_type)| {
            constant(argument).map(|text| match text {
                Some(text) => parameter_of_text(&text, sql_type, style),
                None => Ok(ScalarValue::try_from(sql_type.arrow())?),
            })
        });
        let mut values = Vec::with_capacity(types.len());
        for ((constant, argument), sql_type) in constants.zip(&execute.arguments).zip(types) {
            values.push(match constant {
                Some(value) => value?,
                None => evaluate(self, argument, sql_type, parameters).await?,
            });
        }
        Ok(values)
    }
}

/// The text of a constant; `Some(None)` for NULL.
fn constant(expression: &Expr) -> Option<Option<String>> {
    let Expr::Value(value) = expression else { return None };
    match &value.value {
        Value::Number(number, _) => Some(Some(number.to_string())),
        Value::SingleQuotedString(text) => Some(Some(text.clone())),
        Value::Boolean(value) => Some(Some(value.to_string())),
        Value::Null => Some(None),
        _ => None,
    }
}

async fn evaluate(
    session: &Session,
    expression: &Expr,
    sql_type: &SqlType,
    parameters: &[ScalarValue],
) -> Result<ScalarValue> {
    let statement = parser::parse(&format!("SELECT CAST({expression} AS {sql_type})"))?;
    for statement in &statement {
        if let Outcome::Rows(rows) = session.run(statement, parameters).await? {
            let batches: Vec<RecordBatch> = rows.stream.try_collect().await?;
            if let Some(batch) = batches.iter().find(|batch| batch.num_rows() > 0) {
                return Ok(ScalarValue::try_from_array(batch.column(0), 0)?);
            }
        }
    }
    Err(Error::new(SqlState::InternalError, format!("{expression} has no value")))
}
