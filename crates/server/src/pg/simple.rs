//! The simple protocol: a text of statements, all answers in text.

use super::connection::{Connection, Stream};
use super::error::Ending;
use super::extended::{Answer, attempt};
use super::rows::write_rows;
use futures::StreamExt;
use query::arrow::array::RecordBatch;
use query::{Field, Outcome, Rows, Statement};
use std::time::Instant;

/// Rows that are written before looking whether the output is full.
pub(crate) const ROWS_PER_PIECE: usize = 256;

impl<S: Stream> Connection<S> {
    /// Runs the statements of a text. Several of them are one transaction, unless they say otherwise.
    pub(crate) async fn simple_query(&mut self, text: &str) -> Result<(), Ending> {
        self.portals.remove("");
        let statements = match self.session.parse(text) {
            Ok(statements) => statements,
            Err(error) => {
                self.fail(&error, 0).await;
                self.end_group().await;
                return Ok(());
            }
        };
        if statements.is_empty() {
            self.wire.out.empty_query();
        }
        let several = statements.len() > 1;
        for statement in statements {
            let offset = statement.offset;
            if several {
                self.session.begin_implicit().await;
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
        if let Some(wanted) = statement.for_connection() {
            return Ok(self.steer(attempt!(wanted), &[], &[], true).await?.map(|()| 0));
        }
        let outcome = self.session.prepare_statement(statement).execute(&[]).await;
        self.notices();
        match outcome {
            Err(error) => Ok(Err(error)),
            Ok(Outcome::Done(tag)) => {
                self.wire.out.command_complete(&tag.to_string());
                Ok(Ok(0))
            }
            Ok(Outcome::Rows(rows)) => {
                self.wire.out.row_description(&rows.fields, &[]);
                self.all_rows(rows).await
            }
        }
    }

    async fn all_rows(&mut self, mut rows: Rows) -> Answer<usize> {
        let mut count = 0;
        while let Some(batch) = rows.stream.next().await {
            let batch = match batch {
                Ok(batch) => batch,
                Err(error) => return Ok(Err(error.into())),
            };
            if let Err(error) = self.send_batch(&rows.fields, &batch).await? {
                return Ok(Err(error));
            }
            count += batch.num_rows();
        }
        self.notices();
        self.wire.out.command_complete(&tag_of(rows.command, count));
        Ok(Ok(count))
    }

    async fn send_batch(&mut self, fields: &[Field], batch: &RecordBatch) -> Answer {
        for start in (0..batch.num_rows()).step_by(ROWS_PER_PIECE) {
            let end = (start + ROWS_PER_PIECE).min(batch.num_rows());
            if let Err(error) = write_rows(&mut self.wire.out, batch, start..end, fields, &[]) {
                return Ok(Err(error));
            }
            self.wire.flush_if_full().await?;
        }
        Ok(Ok(()))
    }
}

/// The tag of a command that gave rows.
pub(crate) fn tag_of(command: &str, rows: usize) -> String {
    match command {
        "INSERT" => format!("INSERT 0 {rows}"),
        "EXPLAIN" | "SHOW" => command.to_owned(),
        _ => format!("{command} {rows}"),
    }
}
