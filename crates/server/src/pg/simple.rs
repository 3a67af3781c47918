//! The simple query protocol: a text of statements, all results in text format.

use super::connection::Connection;
use super::error::{Answer, Ending, attempt};
use super::wire::Stream;
use query::{ConnectionStatement, Outcome, Statement};
use std::sync::Arc;
use std::time::Instant;

impl<S: Stream> Connection<S> {
    /// Executes the statements of a text. Several statements are one transaction unless they
    /// control transactions themselves.
    pub(crate) async fn simple_query(&mut self, text: &str) -> Result<(), Ending> {
        self.portals.remove("");
        let statements = match self.session.parse(text).await {
            Ok(statements) => statements,
            Err(error) => {
                self.fail(&error, 0).await;
                self.end_group().await;
                return Ok(());
            }
        };
        self.session.works_on(&shown(text, &statements));
        if statements.is_empty() {
            self.wire.out.empty_query();
        }
        let several = statements.len() > 1;
        for statement in statements {
            let offset = statement.offset;
            if several && let Err(error) = self.session.begin_implicit().await {
                self.fail(&error, offset).await;
                break;
            }
            let (kind, text, since) = (statement.kind(), statement.text.clone(), Instant::now());
            let answer = self.simple_statement(statement).await?;
            self.count(kind, &text, since, *answer.as_ref().unwrap_or(&0));
            if let Err(error) = answer {
                self.fail(&error, offset).await;
                break;
            }
        }
        self.end_group().await;
        Ok(())
    }

    async fn simple_statement(&mut self, statement: Statement) -> Answer<usize> {
        if statement.is_client_copy() {
            return Ok(self.copy(&statement).await?.map(|()| 0));
        }
        let outcome = match attempt!(statement.for_connection().transpose()) {
            Some(ConnectionStatement::Execute(execute)) => {
                self.execute_by_statement(&execute, &[]).await
            }
            Some(wanted) => {
                let text = statement.text.clone();
                return self.steer(wanted, &text, &[], &[], true).await;
            }
            None => self.session.prepare_statement(statement.clone()).execute(&[]).await,
        };
        self.notices();
        match attempt!(outcome) {
            Outcome::Done(tag) => {
                self.done(&statement, &tag).await;
                Ok(Ok(0))
            }
            Outcome::Rows(rows) => self.send_all(rows, true).await,
        }
    }
}

/// The text as displayed to others: without passwords.
fn shown(text: &str, statements: &[Statement]) -> Arc<str> {
    if !statements.iter().any(Statement::keeps_secret) {
        return query::activity_text(text);
    }
    let texts: Vec<&str> = statements.iter().map(|statement| statement.text.as_str()).collect();
    query::activity_text(&texts.join("; "))
}
