//! The types of parameters that PREPARE declares, and the argument values of EXECUTE.

use super::Session;
use crate::context::outcome::Outcome;
use crate::context::transactions::Conversation;
use crate::context::{Inner, parameter_of_text};
use analyzer::ASSIGNED;
use analyzer::resolve::can_coerce;
use analyzer::system::casts::CastContext;
use analyzer::system::functions::{self, Function, FunctionKind};
use datafusion::arrow::array::RecordBatch;
use datafusion::common::ScalarValue;
use futures::TryStreamExt;
use grammar::ExpressionPart;
use parser::commands::Argument;
use parser::connection::{Execute, Prepare};
use parser::errors::of_analyzer;
use parser::types;
use store::catalog::SqlType;
use values::error::{Error, Result, SqlState};
use values::input::is_written_alike;

impl Session {
    /// The types that PREPARE declares for `$1`, `$2`, ..., as far as they count, in a statement whose text is `text`.
    ///
    /// # Errors
    /// 42704 for types that do not exist, 0A000 for types that are not supported.
    pub async fn declared_types(
        &self,
        prepare: &Prepare,
        text: &str,
    ) -> Result<Vec<Option<SqlType>>> {
        let mut conversation = self.inner().conversation.lock().await;
        self.inner().declared_types(&mut conversation, prepare, text)
    }

    /// The type of users that a client gives by its id for a parameter. `None` for other types, and for domains.
    ///
    /// # Errors
    /// 0A000: PostgreSQL has the type, and it does not exist here.
    pub async fn type_of_client(&self, id: u32) -> Result<Option<SqlType>> {
        let conversation = self.inner().conversation.lock().await;
        let catalog = conversation.catalog(&self.inner().shared.store);
        routines::of_client(&catalog, id).map_err(|error| of_analyzer(error, ""))
    }

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
        let mut values = Vec::with_capacity(types.len());
        for (index, (argument, sql_type)) in execute.arguments.iter().zip(types).enumerate() {
            values.push(match argument {
                Argument::Typed(text) if is_written_alike(text, sql_type) => {
                    parameter_of_text(text, sql_type, style)?
                }
                Argument::Typed(text) | Argument::Expression(text) => {
                    if matches!(argument, Argument::Expression(_)) {
                        refuse_other_rows(text)?;
                    }
                    if parameters.is_empty() && sql_type.user_type().is_none() {
                        self.check_assignable(text, index, sql_type).await?;
                    }
                    evaluate(self, text, sql_type, parameters).await?
                }
                // Its conditions are those of an assignment.
                Argument::Constant(Some(text)) if is_domain(sql_type) => {
                    let text = format!("'{}'", text.replace('\'', "''"));
                    evaluate(self, &text, sql_type, parameters).await?
                }
                Argument::Constant(Some(text)) => parameter_of_text(text, sql_type, style)?,
                Argument::Constant(None) => ScalarValue::try_from(sql_type.arrow())?,
                Argument::Parameter(number) => {
                    let text = format!("${}", number + 1);
                    evaluate(self, &text, sql_type, parameters).await?
                }
            });
        }
        Ok(values)
    }

    /// Refuses an argument whose type cannot be assigned to that of its parameter.
    async fn check_assignable(&self, text: &str, index: usize, to: &SqlType) -> Result<()> {
        for statement in &parser::parse(&format!("SELECT {text}"))? {
            let described = self.describe(statement, &[]).await;
            let fields = described.map_err(Error::without_position)?.fields.unwrap_or_default();
            let from = fields.first().map(|field| &field.sql_type);
            let known = from.and_then(types::of_held).zip(types::of_held(to));
            let Some((from, to)) = known else { continue };
            if !can_coerce(from.oid, to.oid, CastContext::Assignment) {
                let number = index + 1;
                let message = format!(
                    "parameter ${number} of type {from} cannot be coerced to the expected type {to}"
                );
                let hint = "You will need to rewrite or cast the expression.";
                return Err(Error::new(SqlState::DatatypeMismatch, message).with_hint(hint));
            }
        }
        Ok(())
    }
}

impl Inner {
    /// As [`Session::declared_types`].
    pub(super) fn declared_types(
        &self,
        conversation: &mut Conversation,
        prepare: &Prepare,
        text: &str,
    ) -> Result<Vec<Option<SqlType>>> {
        let frame = self.frame(&[], text);
        let users = frame.types(&conversation.catalog(&self.shared.store));
        types::of_parameters(prepare, &users, text)
    }
}

/// Refuses an argument that needs other rows, or gives several.
///
/// # Errors
/// 0A000 for subqueries and sets, 42803 for aggregates, 42P20 for window functions.
fn refuse_other_rows(argument: &str) -> Result<()> {
    let all = |name: &str, is_so: fn(&Function) -> bool| {
        let mut named = functions::named(name).peekable();
        named.peek().is_some() && named.all(is_so)
    };
    for part in grammar::parts(argument) {
        let (state, what) = match part {
            ExpressionPart::Subquery => {
                let message = "cannot use subquery in EXECUTE parameter";
                return Err(Error::new(SqlState::FeatureNotSupported, message));
            }
            ExpressionPart::Grouping => (SqlState::GroupingError, "grouping operations"),
            ExpressionPart::WindowCall => (SqlState::WindowingError, "window functions"),
            ExpressionPart::Call(name) if all(&name, |of| of.returns_set) => {
                (SqlState::FeatureNotSupported, "set-returning functions")
            }
            ExpressionPart::Call(name) if all(&name, |of| of.kind == FunctionKind::Aggregate) => {
                (SqlState::GroupingError, "aggregate functions")
            }
            ExpressionPart::Call(_) => continue,
        };
        let message = format!("{what} are not allowed in EXECUTE parameters");
        return Err(Error::new(state, message));
    }
    Ok(())
}

fn is_domain(sql_type: &SqlType) -> bool {
    matches!(sql_type, SqlType::User(user) if user.domain().is_some())
}

async fn evaluate(
    session: &Session,
    expression: &str,
    sql_type: &SqlType,
    parameters: &[ScalarValue],
) -> Result<ScalarValue> {
    // A text that is too long for a domain is refused, as one that is read.
    let value = match is_domain(sql_type) {
        true => format!("pg_catalog.{ASSIGNED}(({expression}), NULL::{sql_type})"),
        false => format!("CAST(({expression}) AS {sql_type})"),
    };
    let statement = parser::parse(&format!("SELECT {value}"))?;
    for statement in &statement {
        let outcome = session.run(statement, parameters).await;
        if let Outcome::Rows(rows) = outcome.map_err(Error::without_position)? {
            let batches: Vec<RecordBatch> = rows.stream.try_collect().await?;
            if let Some(batch) = batches.iter().find(|batch| batch.num_rows() > 0) {
                return values::shown::scalar(ScalarValue::try_from_array(batch.column(0), 0)?);
            }
        }
    }
    Err(Error::new(SqlState::InternalError, format!("{expression} has no value")))
}
