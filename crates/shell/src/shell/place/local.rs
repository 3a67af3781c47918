//! Statements on a database in this process.

use super::answer::Answer;
use crate::error::SqlError;
use crate::interrupt::Canceller;
use crate::output::{Column, Rows};
use crate::protocol::Texts;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, stream};
use query::text::TextColumn;
use query::{CopyIn, CopyOut};
use query::{Database, Outcome, Session, Statement, TransactionStatus};
use server::pg::type_oid;
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of a piece of COPY's data.
const PIECE_BYTES: usize = 64 << 10;

/// A session of a database in this process, with the pending statements and answers.
pub struct Local {
    session: Session,
    statements: VecDeque<Statement>,
    notices: VecDeque<SqlError>,
    ready: Option<Result<Answer<'static>, SqlError>>,
    /// A COPY that waits for data.
    copying: Option<CopyIn>,
}

impl Local {
    /// Opens a session.
    pub fn new(database: &Database) -> Self {
        let (statements, notices) = (VecDeque::new(), VecDeque::new());
        let session = database.session();
        Self { session, statements, notices, ready: None, copying: None }
    }

    pub(super) fn start(&mut self, text: &str) -> Result<(), SqlError> {
        (self.ready, self.copying) = (None, None);
        self.statements.clear();
        self.statements = query::parse(text)?.into();
        Ok(())
    }

    pub(super) async fn next(&mut self) -> Result<Option<Answer<'static>>, SqlError> {
        loop {
            self.collect_notices();
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

    async fn run(&mut self, statement: &Statement) -> Result<Answer<'static>, query::Error> {
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

    pub(super) async fn end_data(&mut self, abort: Option<&str>) -> Result<(), SqlError> {
        let Some(copy) = self.copying.take() else { return Ok(()) };
        if let Some(reason) = abort {
            return Err(SqlError::new("57014", format!("COPY from stdin failed: {reason}")));
        }
        let tag = copy.finish().await?;
        self.ready = Some(Ok(Answer::Done(tag.into())));
        Ok(())
    }

    /// Takes the notices of the session.
    fn collect_notices(&mut self) {
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
            let batch = batch.map_err(query::Error::from)?;
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
        self.session.transaction_status()
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
            let failed = move |error| shifted(query::Error::from(error).into(), offset);
            let batches = rows.stream.map(move |batch| batch.map_err(failed)).boxed();
            Answer::Rows(Rows { columns, is_plan, batches })
        }
    }
}

/// COPY's data in pieces.
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

/// Moves the position of an error by the offset of the statement in the text.
fn shifted(error: SqlError, offset: usize) -> SqlError {
    SqlError { position: error.position.map(|position| position + offset), ..error }
}
