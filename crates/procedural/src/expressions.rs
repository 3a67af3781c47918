//! Expressions, which are looked at once: computed as plain values, by the engine, or executed as a query.

use crate::assignment::assigned;
use crate::host::{StatementHost, text_value};
use crate::known::{Key, Known, parameters};
use crate::scalar::{Caller, Scalar};
use crate::statements::Statements;
use crate::steady::all_steady;
use crate::subquery;
use crate::value::Value;
use datafusion::common::ScalarValue;
use parser::Statement;
use planner::NamedParameter;
use plpgsql::tree::Sql;
use plpgsql::{Answer, Variable};
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::{Error, Result, SqlState};

impl<S: Statements> StatementHost<S> {
    /// The value of an expression, and whether it has been converted to the type. The position of an error is one in the text
    /// that is read for it.
    pub(crate) async fn evaluated(
        &mut self,
        sql: &Sql,
        variables: &[Variable<Value>],
        to: Option<&str>,
    ) -> Result<(Value, bool)> {
        let key = (sql.id, to.map(str::to_owned));
        if !self.known.contains_key(&key) {
            let shared = self.shared.as_ref().and_then(|shared| shared.get(&key));
            let known = match shared {
                Some(known) => known,
                None => known_of(&sql.text, to)?,
            };
            self.known.insert(key.clone(), known);
        }
        let (names, values) = parameters(variables, self.conflict);
        let value = self.value_of(&key, &names, &values).await?;
        let converts = self.known.get(&key).is_none_or(|known| known.converts);
        Ok((value, converts))
    }

    /// The value of an expression for parameters.
    async fn value_of(
        &mut self,
        key: &Key,
        names: &[NamedParameter],
        values: &[ScalarValue],
    ) -> Result<Value> {
        let Some(known) = self.known.get(key) else { return Err(unknown()) };
        let statement = known.statement.clone();
        if let Some(form) = known.subquery {
            return self.of_subquery(form, &statement, names, values).await;
        }
        if !has_deep_subscripts(&statement.text)
            && let Some(value) = self.kept_value(key, names, values).await?
        {
            return Ok(value);
        }
        let (_, answer) = self.run(&statement, names, values, Some(2)).await?;
        if answer.columns.len() != 1 {
            let message = format!("query returned {} columns", answer.columns.len());
            return Err(Error::new(SqlState::SyntaxError, message));
        }
        if answer.rows.len() > 1 {
            let message = "query returned more than one row";
            return Err(Error::new(SqlState::CardinalityViolation, message));
        }
        match answer.rows.into_iter().next().and_then(|mut row| row.pop()) {
            Some(value) => Ok(value),
            None => Ok(text_value(None)),
        }
    }

    /// The value of an expression that consists of one subquery.
    async fn of_subquery(
        &mut self,
        form: subquery::Form,
        query: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
    ) -> Result<Value> {
        if let subquery::Form::Exists(wanted) = form {
            let (_, answer) = self.run(query, names, values, Some(1)).await?;
            let scalar = ScalarValue::Boolean(Some(answer.rows.is_empty() != wanted));
            return Ok(Value { scalar, of: SqlType::Boolean });
        }
        let (fields, answer) = self.run(query, names, values, Some(2)).await?;
        let [field] = fields.as_slice() else {
            let message = "subquery must return only one column";
            return Err(Error::new(SqlState::SyntaxError, message));
        };
        if answer.rows.len() > 1 {
            let message = "more than one row returned by a subquery used as an expression";
            return Err(Error::new(SqlState::CardinalityViolation, message));
        }
        match answer.rows.into_iter().next().and_then(|mut row| row.pop()) {
            Some(value) => Ok(value),
            None => {
                let of = field.sql_type.clone();
                Ok(Value { scalar: ScalarValue::try_from(&of.arrow())?, of })
            }
        }
    }

    /// The answer of a statement that consists of one expression of plain values. `None` of others.
    pub(crate) async fn answer_of_expression(
        &mut self,
        sql: &Sql,
        names: &[NamedParameter],
        values: &[ScalarValue],
    ) -> Result<Option<Answer<Value>>> {
        let key = (sql.id, None);
        if !self.known.get(&key).is_some_and(|known| known.is_expression) {
            return Ok(None);
        }
        let (names, values) = all_steady(names, values);
        let Some((scalar, value)) = self.plain_value(&key, &names, &values).await? else {
            return Ok(None);
        };
        let (columns, rows) = (vec![scalar.name().to_owned()], vec![vec![value]]);
        Ok(Some(Answer { columns, rows, nulls: Vec::new(), count: 1, has_rows: true }))
    }

    /// The value of an expression of plain values, and the expression. `None` of others.
    async fn plain_value(
        &mut self,
        key: &Key,
        names: &[NamedParameter],
        values: &[ScalarValue],
    ) -> Result<Option<(Arc<Scalar>, Value)>> {
        let Some(known) = self.known.get_mut(key) else { return Err(unknown()) };
        if known.scalar.is_none() {
            let statement = known.statement.clone();
            let scalar =
                Box::pin(self.statements.scalar(&statement, names, values)).await.map(Arc::new);
            let Some(known) = self.known.get_mut(key) else { return Err(unknown()) };
            known.scalar = Some((names.to_vec(), scalar));
            self.share(key);
        }
        let Some(known) = self.known.get(key) else { return Err(unknown()) };
        let Some((of, Some(scalar))) = &known.scalar else { return Ok(None) };
        if *of != names {
            return Ok(None);
        }
        let scalar = Arc::clone(scalar);
        let caller = self.caller_of(&scalar).await;
        match scalar.of_values_calling(names, values, caller.as_deref()) {
            Some(value) => Ok(Some((scalar, value?))),
            None => Ok(None),
        }
    }

    /// The value of an expression that is planned once. `None` of others.
    async fn kept_value(
        &mut self,
        key: &Key,
        names: &[NamedParameter],
        values: &[ScalarValue],
    ) -> Result<Option<Value>> {
        let (names, values) = all_steady(names, values);
        if let Some((_, value)) = self.plain_value(key, &names, &values).await? {
            return Ok(Some(value));
        }
        let Some(known) = self.known.get(key) else { return Err(unknown()) };
        if let Some(compiled) = &known.compiled
            && let Some(value) = compiled.value(&names, &values)?
        {
            return Ok(Some(value));
        }
        if known.is_planned {
            return Ok(None);
        }
        let statement = known.statement.clone();
        let compiled =
            Box::pin(self.statements.expression(&statement, &names, &values)).await.map(Arc::new);
        let Some(known) = self.known.get_mut(key) else { return Err(unknown()) };
        known.is_planned = true;
        known.compiled.clone_from(&compiled);
        self.share(key);
        match compiled {
            Some(compiled) => compiled.value(&names, &values),
            None => Ok(None),
        }
    }

    /// Shows other hosts of the function what is known of an expression.
    fn share(&self, key: &Key) {
        if let (Some(shared), Some(known)) = (&self.shared, self.known.get(key)) {
            shared.put(key, known);
        }
    }

    /// Who calls the functions of an expression. `None` if it calls none, or nobody does.
    async fn caller_of(&mut self, scalar: &Scalar) -> Option<Arc<dyn Caller>> {
        if !scalar.has_calls() {
            return None;
        }
        if self.caller.is_none() {
            self.caller = self.statements.caller().await;
        }
        self.caller.clone()
    }
}

/// An expression that is looked at for the first time.
fn known_of(expression: &str, to: Option<&str>) -> Result<Known> {
    if let Some((query, form)) = subquery::of(expression) {
        return Ok(Known { subquery: Some(form), ..Known::new(query) });
    }
    if let Some(assigned) = to.and_then(|to| assigned(expression, to)) {
        return Ok(Known { converts: true, ..Known::new(assigned) });
    }
    Ok(Known::new(parser::one(&format!("SELECT {expression}"))?))
}

/// Whether a text has subscripts behind each other. They are planned for the dimensions that an array has, which its type does
/// not say.
fn has_deep_subscripts(text: &str) -> bool {
    text.split(']').skip(1).any(|rest| rest.trim_start().starts_with('['))
}

fn unknown() -> Error {
    Error::new(SqlState::InternalError, "an expression is not known")
}
