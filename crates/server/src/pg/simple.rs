//! The simple query protocol: a text of statements, all results in text format.

use super::connection::Connection;
use super::error::{Answer, Ending, attempt};
use super::texts::Planned;
use super::wire::Stream;
use query::{ConnectionStatement, Error, Outcome};
use std::sync::Arc;
use std::time::Instant;

impl<S: Stream> Connection<S> {
    /// Executes the statements of a text. Several statements are one transaction unless they
    /// control transactions themselves.
    pub(crate) async fn simple_query(&mut self, text: &str) -> Result<(), Ending> {
        self.portals.remove("");
        let statements = match self.statements_of(text).await {
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
        for planned in statements {
            let statement = &planned.0;
            let offset = statement.offset;
            if several && let Err(error) = self.session.begin_implicit().await {
                self.fail(&error, offset).await;
                break;
            }
            let (kind, text, since) = (statement.kind(), statement.text.clone(), Instant::now());
            let answer = self.simple_statement(&planned).await?;
            self.count(kind, &text, since, *answer.as_ref().unwrap_or(&0));
            if let Err(error) = answer {
                self.fail(&error, offset).await;
                break;
            }
        }
        self.end_group().await;
        Ok(())
    }

    /// The statements of a text. A single one is parsed once.
    async fn statements_of(&mut self, text: &str) -> Result<Vec<Planned>, Error> {
        if let Some(known) = self.texts.get(text, &[]) {
            return Ok(vec![known]);
        }
        let parsed = self.session.parse(text).await?;
        let planned: Vec<_> = parsed.into_iter().map(|statement| self.planned(statement)).collect();
        if let [single] = &planned[..] {
            self.texts.put(text, &[], single);
        }
        Ok(planned)
    }

    async fn simple_statement(&mut self, (statement, prepared): &Planned) -> Answer<usize> {
        if statement.is_client_copy() {
            return Ok(self.copy(statement).await?.map(|()| 0));
        }
        let outcome = match attempt!(statement.for_connection().transpose()) {
            Some(ConnectionStatement::Execute(execute)) => {
                self.execute_by_statement(&execute, &[]).await
            }
            Some(wanted) => {
                let text = statement.text.clone();
                return self.steer(wanted, &text, &[], &[], true).await;
            }
            None => prepared.execute(&[]).await,
        };
        self.notices();
        match attempt!(outcome) {
            Outcome::Done(tag) => {
                self.done(statement, &tag).await;
                Ok(Ok(0))
            }
            Outcome::Rows(rows) => self.send_all(rows, &[], true).await,
        }
    }
}

/// The text as displayed to others: without passwords.
fn shown(text: &str, statements: &[Planned]) -> Arc<str> {
    if !statements.iter().any(|(statement, _)| statement.keeps_secret()) {
        return query::activity_text(text);
    }
    let texts: Vec<&str> =
        statements.iter().map(|(statement, _)| statement.text.as_str()).collect();
    query::activity_text(&texts.join("; "))
}
