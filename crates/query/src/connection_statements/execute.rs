//! EXECUTE: the values of its arguments, and EXPLAIN of it.

use crate::error::{Error, Result, SqlState};
use crate::outcome::Outcome;
use crate::parse::Statement;
use crate::planner::relations::fold;
use crate::session::{Session, parameter_of_text, placeholder};
use datafusion::arrow::array::RecordBatch;
use datafusion::common::ScalarValue;
use datafusion::sql::sqlparser::ast::{Expr, Statement as Ast, Value};
use futures::TryStreamExt;
use std::sync::Arc;
use store::catalog::SqlType;

/// EXECUTE of a prepared statement.
#[derive(Debug, Clone)]
pub struct Execute {
    /// The prepared statement's name.
    pub name: String,
    arguments: Vec<Expr>,
    /// The EXPLAIN around it.
    explain: Option<Statement>,
}

impl Execute {
    /// The EXECUTE that a statement is, or is an EXPLAIN of.
    pub(super) fn of(statement: &Statement) -> Option<Self> {
        let (ast, explain) = match &*statement.ast {
            Ast::Explain { statement: inner, .. } => (&**inner, Some(statement.clone())),
            ast => (ast, None),
        };
        let Ast::Execute { name: Some(name), parameters, immediate: false, .. } = ast else {
            return None;
        };
        let name = name.0.last().and_then(|part| part.as_ident()).map(fold)?;
        Some(Self { name, arguments: parameters.clone(), explain })
    }

    /// The EXPLAIN of a prepared statement, where it is one that is asked for.
    pub fn explained(&self, prepared: &Statement) -> Option<Statement> {
        let mut explain = self.explain.clone()?;
        if let Ast::Explain { statement, .. } = Arc::make_mut(&mut explain.ast) {
            **statement = Ast::clone(&prepared.ast);
        }
        Some(explain)
    }

    /// The types of the EXECUTE's own `$1`, `$2`, ..., of a statement that takes such types.
    pub fn parameters(&self, types: &[SqlType]) -> Vec<SqlType> {
        let mut parameters = Vec::new();
        for (argument, sql_type) in self.arguments.iter().zip(types) {
            if let Some(number) = placeholder(argument) {
                let length = parameters.len().max(number + 1);
                parameters.resize(length, SqlType::Text);
                parameters[number] = sql_type.clone();
            }
        }
        parameters
    }

    /// The values of the arguments, as a statement that takes such types wants them. `parameters` are the values of
    /// the EXECUTE's own `$1`, `$2`, ...
    ///
    /// # Errors
    /// 42601 for too few or too many; as evaluating them.
    pub async fn values(
        &self,
        session: &Session,
        types: &[SqlType],
        parameters: &[ScalarValue],
    ) -> Result<Vec<ScalarValue>> {
        if self.arguments.len() != types.len() {
            let message =
                format!("wrong number of parameters for prepared statement \"{}\"", self.name);
            let (expected, given) = (types.len(), self.arguments.len());
            return Err(Error::new(SqlState::SyntaxError, message)
                .with_detail(format!("Expected {expected} parameters but got {given}.")));
        }
        let constants = self.arguments.iter().zip(types).map(|(argument, sql_type)| {
            constant(argument).map(|text| match text {
                Some(text) => parameter_of_text(&text, sql_type),
                None => Ok(ScalarValue::try_from(sql_type.arrow())?),
            })
        });
        let mut values = Vec::with_capacity(types.len());
        for ((constant, argument), sql_type) in constants.zip(&self.arguments).zip(types) {
            values.push(match constant {
                Some(value) => value?,
                None => evaluate(session, argument, sql_type, parameters).await?,
            });
        }
        Ok(values)
    }
}

/// The text of a constant; `Some(None)` is NULL.
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
    let statement = crate::parse::parse(&format!("SELECT CAST({expression} AS {sql_type})"))?;
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
