//! Preparing, describing and executing prepared statements.

use super::connection::Connection;
use super::prepared::{Prepared, changed_result, no_statement};
use super::texts::Planned;
use super::wire::Stream;
use query::{
    ConnectionStatement, Description, Error, Execute, Field, Listing, Outcome, Prepare,
    ScalarValue, SqlState, SqlType, Statement,
};
use std::sync::{Arc, OnceLock};

impl<S: Stream> Connection<S> {
    /// Prepares a statement. Its name must be new or empty.
    pub(crate) fn prepare(
        &mut self,
        name: &str,
        text: &str,
        statement: Option<Planned>,
        given: Vec<Option<SqlType>>,
        from_sql: bool,
    ) -> Result<Arc<Prepared>, Error> {
        if !name.is_empty() && self.statements.contains_key(name) {
            let message = format!("prepared statement \"{name}\" already exists");
            return Err(Error::new(SqlState::DuplicatePreparedStatement, message));
        }
        let shown = statement.as_ref().filter(|(statement, _)| statement.keeps_secret());
        let text = shown.map_or_else(|| text.to_owned(), |(statement, _)| statement.text.clone());
        let listing = (!name.is_empty()).then(|| self.session.list_prepared(name, &text, from_sql));
        let (text, description) = (query::activity_text(&text), OnceLock::new());
        Ok(Arc::new(Prepared { statement, text, given, description, listing }))
    }

    /// A statement to be executed.
    pub(crate) fn planned(&self, statement: Statement) -> Planned {
        let prepared = self.session.prepare_statement(statement.clone());
        (statement, Arc::new(prepared))
    }

    /// PREPARE: the statement is planned immediately to report errors.
    pub(crate) async fn prepare_by_statement(
        &mut self,
        prepare: Prepare,
        text: &str,
        statement: Statement,
    ) -> Result<(), Error> {
        let types = self.session.declared_types(&prepare, &statement.text).await?;
        let planned = self.planned(statement);
        let prepared = self.prepare(&prepare.name, text, Some(planned), types, true)?;
        self.description(&prepared).await?;
        self.statements.insert(prepare.name, prepared);
        Ok(())
    }

    /// The prepared statement of a name.
    pub(crate) fn statement(&self, name: &str) -> Result<Arc<Prepared>, Error> {
        self.statements.get(name).cloned().ok_or_else(|| no_statement(name))
    }

    /// EXECUTE of a prepared statement, EXPLAIN of one, or CREATE TABLE AS of one.
    pub(crate) async fn execute_by_statement(
        &mut self,
        execute: &Execute,
        values: &[ScalarValue],
    ) -> Result<Outcome, Error> {
        self.session.refuse_if_failed()?;
        let prepared = self.statement(&execute.name)?;
        let Some((statement, planned)) = &prepared.statement else {
            return Err(Error::new(SqlState::SyntaxError, "there is nothing to execute"));
        };
        let description = self.description(&prepared).await?;
        let values = self.session.execute_values(execute, &description.parameters, values).await?;
        if let Some(around) = execute.with_prepared(statement) {
            return self.session.run(&around, &values).await;
        }
        prepared.listing.iter().for_each(Listing::executed);
        match planned.execute(&values).await? {
            Outcome::Rows(rows) if prepared.promised_others(&rows) => Err(changed_result()),
            outcome => Ok(outcome),
        }
    }

    /// The parameters and columns of a statement, computed once but for changes of the parameters' types.
    pub(crate) async fn description(
        &mut self,
        prepared: &Prepared,
    ) -> Result<Arc<Description>, Error> {
        if let Some(known) = prepared.description.get() {
            return Ok(self.session.renewed(known));
        }
        let nothing = Description { parameters: Vec::new(), fields: None };
        let description = match &prepared.statement {
            None => nothing,
            Some((statement, planned)) => match statement.for_connection().transpose()? {
                // Not cached: the name of a cursor may refer to another one the next time.
                Some(ConnectionStatement::Fetch(fetch)) => {
                    let fields = match self.portals.get(&fetch.cursor) {
                        Some(portal) if !fetch.moves => portal.fields().map(<[Field]>::to_vec),
                        None if !fetch.moves => self.session.opened_cursor(&fetch.cursor),
                        _ => None,
                    };
                    return Ok(Arc::new(Description { fields, ..nothing }));
                }
                Some(ConnectionStatement::Execute(execute)) => {
                    return Ok(Arc::new(self.description_of_execute(&execute).await?));
                }
                Some(ConnectionStatement::Declare(declare)) => {
                    let planned = self.session.prepare_statement(declare.query);
                    let described = planned.describe(&prepared.given).await?;
                    Description { fields: None, ..described }
                }
                Some(_) => nothing,
                None if statement.is_client_copy() => nothing,
                None => planned.describe(&prepared.given).await?,
            },
        };
        prepared.listing.iter().for_each(|listing| listing.described(&description));
        Ok(Arc::clone(prepared.description.get_or_init(|| Arc::new(description))))
    }

    async fn description_of_execute(&mut self, execute: &Execute) -> Result<Description, Error> {
        let target = self.statement(&execute.name)?;
        let described = Box::pin(self.description(&target)).await?;
        let parameters = execute.parameters(&described.parameters);
        let target = target.statement.as_ref();
        let around = target.and_then(|(statement, _)| execute.with_prepared(statement));
        let fields = match around {
            Some(around) => self.session.prepare_statement(around).describe(&[]).await?.fields,
            None => described.fields.clone(),
        };
        Ok(Description { parameters, fields })
    }
}
