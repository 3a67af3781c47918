//! Expressions, which are looked at once: computed as plain values, by the engine, or executed as a query.

use crate::assignment::assigned;
use crate::host::{StatementHost, Statements, inside, text_value};
use crate::known::{Key, Known, parameters};
use crate::steady::steady;
use crate::subquery;
use crate::value::Value;
use datafusion::common::ScalarValue;
use parser::Statement;
use planner::NamedParameter;
use plpgsql::Variable;
use plpgsql::tree::Sql;
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::{Error, Result, SqlState};

impl<S: Statements> StatementHost<S> {
    /// The value of an expression, and whether it has been converted to the type.
    pub(crate) async fn evaluated(
        &mut self,
        sql: &Sql,
        variables: &[Variable<Value>],
        to: Option<&str>,
    ) -> Result<(Value, bool)> {
        let key = (sql.id, to.map(str::to_owned));
        if !self.known.contains_key(&key) {
            let known = match subquery::of(&sql.text) {
                Some((query, form)) => Known { subquery: Some(form), ..Known::new(query) },
                None => match to.and_then(|to| assigned(&sql.text, to)) {
                    Some(assigned) => Known { converts: true, ..Known::new(assigned) },
                    None => {
                        Known::new(parser::one(&format!("SELECT {}", sql.text)).map_err(inside)?)
                    }
                },
            };
            self.known.insert(key.clone(), known);
        }
        let (names, values) = parameters(variables, self.conflict);
        let value = self.value_of(&key, &names, &values).await.map_err(inside)?;
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
        if let Some(value) = self.kept_value(key, names, values).await? {
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

    /// The value of an expression that is planned once. `None` of others.
    async fn kept_value(
        &mut self,
        key: &Key,
        names: &[NamedParameter],
        values: &[ScalarValue],
    ) -> Result<Option<Value>> {
        let steady = names.iter().zip(values).map(|(name, value)| steady(name, value));
        let (names, values): (Vec<_>, Vec<_>) = steady.unzip();
        let Some(known) = self.known.get_mut(key) else { return Err(unknown()) };
        if known.scalar.is_none() {
            let statement = known.statement.clone();
            let scalar = self.statements.scalar(&statement, &names, &values).await.map(Arc::new);
            let Some(known) = self.known.get_mut(key) else { return Err(unknown()) };
            known.scalar = Some((names.clone(), scalar));
        }
        let Some(known) = self.known.get_mut(key) else { return Err(unknown()) };
        if let Some((of, Some(scalar))) = &known.scalar
            && *of == names
            && let Some(value) = scalar.of_values(&names, &values)
        {
            return value.map(Some);
        }
        if let Some(compiled) = &known.compiled
            && let Some(value) = compiled.value(&names, &values)?
        {
            return Ok(Some(value));
        }
        if known.is_planned {
            return Ok(None);
        }
        let statement = known.statement.clone();
        let compiled = self.statements.expression(&statement, &names, &values).await.map(Arc::new);
        let Some(known) = self.known.get_mut(key) else { return Err(unknown()) };
        known.is_planned = true;
        known.compiled = compiled;
        match &known.compiled {
            Some(compiled) => compiled.value(&names, &values),
            None => Ok(None),
        }
    }
}

fn unknown() -> Error {
    Error::new(SqlState::InternalError, "an expression is not known")
}
