//! Statements.

use super::context::of_sql;
use super::host::{Answer, Host};
use super::quick::Tried;
use super::{Flow, Machine};
use crate::tree::{Into, Kind, Rows, Statement, Target};
use values::error::{Error, Result, SqlState};

/// What an error is about.
fn subject<'e>(error: &'e Error, item: &str) -> Option<&'e str> {
    let subject = error.subject();
    let name = match item {
        "column_name" => &subject.column,
        "constraint_name" => &subject.constraint,
        "pg_datatype_name" => &subject.data_type,
        "table_name" => &subject.table,
        "schema_name" => &subject.schema,
        _ => return None,
    };
    name.as_deref()
}

impl<H: Host> Machine<'_, H> {
    pub(super) async fn statement(&mut self, statement: &Statement) -> Result<Flow<H::Value>> {
        let done = self.any(statement).await;
        self.noted(done, statement)
    }

    async fn any(&mut self, statement: &Statement) -> Result<Flow<H::Value>> {
        match &statement.kind {
            Kind::Block(block) => return self.block(block).await,
            Kind::If(..) | Kind::Case(..) => {
                return self.branch(&statement.kind, Tried::default()).await;
            }
            Kind::Loop(label, condition, body) => {
                return self.endless(label.as_ref(), condition.as_ref(), body).await;
            }
            Kind::ForRange(range) => return self.range(range).await,
            Kind::ForRows(label, targets, rows, body) => {
                return self.for_rows(label.as_ref(), targets, rows, body).await;
            }
            Kind::ForCursor(looped) => return self.for_cursor(looped).await,
            Kind::Foreach(looped) => return self.foreach(looped).await,
            Kind::Leave { is_continue, label, when } => {
                let leaves = match when {
                    Some(when) => self.holds(when).await?,
                    None => true,
                };
                return Ok(match (leaves, is_continue) {
                    (false, _) => Flow::Next,
                    (true, true) => Flow::Continue(label.clone()),
                    (true, false) => Flow::Exit(label.clone()),
                });
            }
            Kind::Return(value) if self.returned_row.is_some() => {
                return match (self.return_changed_row(value.as_ref())?, value) {
                    (None, Some(value)) => self.return_changed_value(value).await,
                    (flow, _) => Ok(flow.unwrap_or(Flow::Return(None))),
                };
            }
            Kind::Return(Some(value)) if self.row_form().is_some() => {
                return self.return_row(value).await;
            }
            Kind::Return(Some(value)) if self.returns_composite() => {
                return self.return_composite(value).await;
            }
            Kind::Return(value) => {
                let value = match value {
                    Some(value) => Some(self.value(value, None).await?),
                    None => None,
                };
                return Ok(Flow::Return(value));
            }
            Kind::Diagnostics { is_stacked, items } => {
                self.diagnostics(*is_stacked, items, statement.line).await?;
            }
            kind => self.simple(kind).await?,
        }
        Ok(Flow::Next)
    }

    /// A statement without others in it.
    async fn simple(&mut self, kind: &Kind) -> Result<()> {
        match kind {
            Kind::Assign(target, value) => self.assign_expression(target, value).await,
            Kind::AssignItem(target, subscripts, value) => {
                self.assign_item(target, subscripts, value).await
            }
            Kind::Raise(raise) => self.raise(raise).await,
            Kind::Assert(condition, message) => self.assert(condition, message.as_ref()).await,
            Kind::Perform(query) => {
                let query = &*self.with_rows(query, false)?;
                let variables = self.scopes.variables(query);
                let answer = self.host.execute(query, &variables, None).await;
                self.learn(query, &variables, None);
                self.count(answer.map_err(of_sql(&query.text))?.count)
            }
            Kind::Execute(rows, into) => self.execute(rows, into.as_ref()).await,
            Kind::ReturnNext(value) => self.return_next(value.as_ref()).await,
            Kind::ReturnQuery(rows) => {
                let (answer, _) = self.run(rows, None).await?;
                self.check_query(&answer)?;
                self.count(answer.rows.len() as u64)?;
                self.rows.extend(answer.rows);
                Ok(())
            }
            Kind::Open(open) => self.open(open).await,
            Kind::Fetch(fetch) => self.fetch(fetch).await,
            Kind::Close(cursor) => self.close(cursor).await,
            Kind::Call(sql, targets) => self.call(sql, targets).await,
            Kind::EndTransaction { commits } => self.end_transaction(*commits).await,
            _ => Ok(()),
        }
    }

    pub(super) fn count(&mut self, rows: u64) -> Result<()> {
        self.row_count = rows;
        self.found(rows > 0)
    }

    /// The rows of a query.
    pub(super) async fn rows_of(
        &mut self,
        rows: &Rows,
        limit: Option<usize>,
    ) -> Result<Answer<H::Value>> {
        match rows {
            Rows::Query(sql) => {
                let sql = &*self.with_rows(sql, false)?;
                let variables = self.scopes.variables(sql);
                let answer = self.host.execute(sql, &variables, limit).await;
                self.learn(sql, &variables, None);
                answer
            }
            Rows::Dynamic(text, values) => {
                let (text, values) = self.dynamic(text, values).await?;
                self.host.execute_text(&text, &values, limit).await
            }
        }
    }

    /// As [`Self::rows_of`], of a statement that the context of its errors shows. Also the values of USING.
    async fn run(
        &mut self,
        rows: &Rows,
        limit: Option<usize>,
    ) -> Result<(Answer<H::Value>, Vec<H::Value>)> {
        match rows {
            Rows::Query(sql) => {
                let answer = self.rows_of(rows, limit).await.map_err(of_sql(&sql.text))?;
                Ok((answer, Vec::new()))
            }
            Rows::Dynamic(text, values) => {
                let (text, values) = self.dynamic(text, values).await?;
                let answer = self.host.execute_text(&text, &values, limit).await;
                Ok((answer.map_err(of_sql(&text))?, values))
            }
        }
    }

    /// A statement of SQL, and where its row goes.
    async fn execute(&mut self, rows: &Rows, into: Option<&Into>) -> Result<()> {
        let is_dynamic = matches!(rows, Rows::Dynamic(..));
        let (mut answer, given) = self.run(rows, into.map(|_| 2)).await?;
        let Some(into) = into else {
            if answer.has_rows && !is_dynamic {
                let message = "query has no destination for result data";
                return Err(Error::new(SqlState::SyntaxError, message).with_hint(
                    "If you want to discard the results of a SELECT, use PERFORM instead.",
                ));
            }
            self.row_count = answer.count;
            return if is_dynamic { Ok(()) } else { self.found(answer.count > 0) };
        };
        if !answer.has_rows {
            let message = "INTO used with a command that cannot return data";
            return Err(Error::new(SqlState::SyntaxError, message));
        }
        let found = answer.rows.len();
        if into.is_strict && found == 0 {
            let error = Error::new(SqlState::NoDataFound, "query returned no rows");
            return Err(self.with_parameters(error, rows, given).await);
        }
        if found > 1 && (into.is_strict || self.is_change(rows)) {
            let error = Error::new(SqlState::TooManyRows, "query returned more than one row");
            let error = match is_dynamic {
                true => error,
                false => {
                    error.with_hint("Make sure the query returns a single row, or use LIMIT 1.")
                }
            };
            return Err(self.with_parameters(error, rows, given).await);
        }
        self.assign_first(&into.targets, &mut answer).await?;
        self.row_count = found.min(1) as u64;
        if is_dynamic { Ok(()) } else { self.found(found > 0) }
    }

    /// Whether a statement of the function itself changes rows.
    fn is_change(&mut self, rows: &Rows) -> bool {
        match rows {
            Rows::Query(sql) => self.host.is_change(sql),
            Rows::Dynamic(..) => false,
        }
    }

    async fn diagnostics(
        &mut self,
        is_stacked: bool,
        items: &[(Target, String)],
        line: usize,
    ) -> Result<()> {
        if is_stacked && self.errors.is_empty() {
            let message = "GET STACKED DIAGNOSTICS cannot be used outside an exception handler";
            return Err(Error::new(SqlState::chosen("0Z002"), message));
        }
        for (target, item) in items {
            let text = |text: Option<&str>| Some(text.unwrap_or_default().to_owned());
            let error = self.errors.last();
            let value = match item.as_str() {
                "row_count" => self.host.of_number(self.row_count as i64, "bigint"),
                "pg_routine_oid" => self.host.of_number(self.id, "bigint"),
                "pg_context" => self.host.of_text(Some(format!(
                    "PL/pgSQL function {} line {line} at GET DIAGNOSTICS",
                    self.signature
                ))),
                "returned_sqlstate" => {
                    self.host.of_text(text(error.map(|error| error.state().code())))
                }
                "message_text" => self.host.of_text(text(error.map(Error::message))),
                "pg_exception_detail" => self.host.of_text(text(error.and_then(Error::detail))),
                "pg_exception_context" => self.host.of_text(text(error.and_then(Error::context))),
                "pg_exception_hint" => self.host.of_text(text(error.and_then(Error::hint))),
                item => self.host.of_text(text(error.and_then(|error| subject(error, item)))),
            };
            self.assign(target, value).await?;
        }
        Ok(())
    }
}
