//! Statements of a database in this process.

use super::place::Answer;
use crate::interrupt::Canceller;
use crate::output::{Column, Rows};
use crate::remote::Texts;
use crate::trouble::SqlError;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, stream};
use pando::text::TextColumn;
use pando::{Database, Outcome, Session, Statement, TransactionStatus};
use query::{CopyIn, CopyOut};
use server::pg::type_oid;
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of COPY's data that are handed on at once.
const PIECE_BYTES: usize = 64 << 10;

/// A session and what of its answers is not yet taken.
pub(crate) struct Local {
    session: Session,
    statements: VecDeque<Statement>,
    notices: VecDeque<SqlError>,
    ready: Option<Result<Answer<'static>, SqlError>>,
    /// A COPY that waits for data.
    copying: Option<CopyIn>,
}

impl Local {
    /// A new session.
    pub(crate) fn new(database: &Database) -> Self {
        let (statements, notices) = (VecDeque::new(), VecDeque::new());
        let session = database.session();
        Self { session, statements, notices, ready: None, copying: None }
    }

    pub(super) fn start(&mut self, text: &str) -> Result<(), SqlError> {
        (self.ready, self.copying) = (None, None);
        self.statements.clear();
        self.statements = self.session.parse(text)?.into();
        Ok(())
    }

    pub(super) async fn next(&mut self) -> Result<Option<Answer<'static>>, SqlError> {
        loop {
            self.hear();
            if let Some(notice) = self.notices.pop_front() {
                return Ok(Some(Answer::Notice(notice)));
            }
            if let Some(ready) = self.ready.take() {
                return ready.map(Some);
            }
            let Some(statement) = self.statements.pop_front() else { return Ok(None) };
            let answer = self.run(&statement).await;
            self.ready = Some(answer.map_err(|error| shifted(error.into(), statement.offset)));
        }
    }

    async fn run(&mut self, statement: &Statement) -> Result<Answer<'static>, pando::Error> {
        if statement.is_copy_in() {
            self.copying = Some(self.session.copy_in(statement).await?);
            return Ok(Answer::CopyIn);
        }
        if statement.is_client_copy() {
            let copy = self.session.copy_out(statement, type_oid).await?;
            return Ok(Answer::CopyOut(data(copy)));
        }
        Ok(answer(self.session.run(statement, &[]).await?, statement.offset))
    }

    pub(super) async fn send_data(&mut self, data: &[u8]) -> Result<bool, SqlError> {
        if let Some(copy) = &mut self.copying {
            copy.feed(data).await?;
        }
        Ok(true)
    }

    pub(super) async fn end_data(&mut self, evicted: Option<&str>) -> Result<(), SqlError> {
        let Some(copy) = self.copying.take() else { return Ok(()) };
        if let Some(reason) = evicted {
            return Err(SqlError::new("57014", format!("COPY from stdin failed: {reason}")));
        }
        let tag = copy.finish().await?;
        self.ready = Some(Ok(Answer::Done(tag.into())));
        Ok(())
    }

    /// What statements have had to say beside their answers.
    fn hear(&mut self) {
        let notices = self.session.take_notices().into_iter();
        self.notices.extend(notices.map(|notice| SqlError {
            severity: notice.severity.to_owned(),
            ..SqlError::from(notice.error)
        }));
    }

    pub(super) async fn texts(&mut self, query: &str) -> Result<Texts, SqlError> {
        let mut rows = self.session.query(query).await?;
        let mut texts = Vec::new();
        while let Some(batch) = rows.stream.next().await {
            let batch = batch.map_err(pando::Error::from)?;
            let columns = batch.columns().iter().map(|array| TextColumn::new(array));
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            let value = |column: &TextColumn<'_>, row| {
                let mut text = String::new();
                column.write(row, &mut text).then_some(text)
            };
            let row = |row| columns.iter().map(|column| value(column, row)).collect();
            texts.extend((0..batch.num_rows()).map(row));
        }
        Ok(texts)
    }

    pub(super) async fn columns(&mut self, query: &str) -> Result<Vec<Column>, SqlError> {
        let rows = self.session.query(query).await?;
        Ok(rows.fields.iter().map(Column::of_field).collect())
    }

    pub(super) async fn status(&self) -> TransactionStatus {
        self.session.transaction_status().await
    }

    pub(super) fn canceller(&self) -> Canceller {
        let handle = self.session.cancel_handle();
        Arc::new(move || handle.cancel())
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }
}

fn answer(outcome: Outcome, offset: usize) -> Answer<'static> {
    match outcome {
        Outcome::Done(tag) => Answer::Done(tag.into()),
        Outcome::Rows(rows) => {
            let columns = rows.fields.iter().map(Column::of_field).collect();
            let is_plan = rows.command == "EXPLAIN";
            let failed = move |error| shifted(pando::Error::from(error).into(), offset);
            let batches = rows.stream.map(move |batch| batch.map_err(failed)).boxed();
            Answer::Rows(Rows { columns, is_plan, batches })
        }
    }
}

/// COPY's data, many rows at once.
fn data(copy: CopyOut) -> BoxStream<'static, Result<Bytes, SqlError>> {
    stream::try_unfold(copy, async |mut copy| {
        let mut piece = Vec::new();
        while piece.len() < PIECE_BYTES {
            if !copy.next(&mut |row| piece.extend_from_slice(row)).await? {
                break;
            }
        }
        Ok((!piece.is_empty()).then(|| (piece.into(), copy)))
    })
    .boxed()
}

/// The trouble with its position counted in the text that the statement is part of.
fn shifted(trouble: SqlError, offset: usize) -> SqlError {
    SqlError { position: trouble.position.map(|position| position + offset), ..trouble }
}
