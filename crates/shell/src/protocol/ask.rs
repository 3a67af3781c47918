//! Statements whose answers are read at once, and the steps of COPY.

use super::connection::{Connection, Event, row_values};
use super::message::Described;
use crate::error::SqlError;

/// Rows as text; `None` for NULL.
pub type Texts = Vec<Vec<Option<String>>>;

impl Connection {
    /// Runs statements and discards their rows.
    ///
    /// # Errors
    /// The server's, and if the connection is lost.
    pub async fn execute(&mut self, text: &str) -> Result<(), SqlError> {
        self.texts(text).await.map(drop)
    }

    /// Runs statements and returns their rows.
    ///
    /// # Errors
    /// As [`Self::execute`].
    pub async fn texts(&mut self, text: &str) -> Result<Texts, SqlError> {
        self.ask(text).await.map(|(_, rows)| rows)
    }

    /// Runs a query and returns its columns.
    ///
    /// # Errors
    /// As [`Self::execute`].
    pub async fn columns(&mut self, query: &str) -> Result<Vec<Described>, SqlError> {
        self.ask(query).await.map(|(columns, _)| columns)
    }

    async fn ask(&mut self, text: &str) -> Result<(Vec<Described>, Texts), SqlError> {
        self.send(text).await?;
        let (mut columns, mut rows) = (Vec::new(), Vec::new());
        loop {
            match self.receive().await? {
                Event::Columns(described) => columns = described,
                Event::Row(row) => rows.extend(row_values(&row)),
                Event::Ready => return Ok((columns, rows)),
                Event::CopyIn => self.end_data(Some("no data")).await?,
                Event::Failed(error) => return Err(self.after(error).await),
                Event::Done(_) | Event::Notice(_) | Event::CopyOut | Event::Data(_) => {}
            }
        }
    }

    /// Returns the error after the connection is ready for the next statement.
    pub(crate) async fn after(&mut self, error: SqlError) -> SqlError {
        if !self.is_over() {
            // The next statement reports an error of this.
            let _ = self.settle().await;
        }
        error
    }

    /// Starts COPY FROM STDIN. [`Self::send_data`] sends the data.
    ///
    /// # Errors
    /// As [`Self::execute`].
    pub async fn copy_in(&mut self, statement: &str) -> Result<(), SqlError> {
        self.send(statement).await?;
        loop {
            match self.receive().await? {
                Event::CopyIn => return Ok(()),
                Event::Failed(error) => return Err(self.after(error).await),
                Event::Ready => {
                    return Err(SqlError::new("08P01", "the server did not start COPY"));
                }
                _ => {}
            }
        }
    }

    /// Checks whether the server has already failed the COPY, without waiting.
    ///
    /// # Errors
    /// The server's error of the COPY, and if the connection is lost.
    pub async fn check_copy(&mut self) -> Result<(), SqlError> {
        match self.arrived()? {
            Some(Event::Failed(error)) => Err(self.after(error).await),
            _ => Ok(()),
        }
    }

    /// Stops a running statement or COPY, and rolls the transaction back.
    ///
    /// # Errors
    /// As [`Self::execute`].
    pub async fn abort(&mut self) -> Result<(), SqlError> {
        if self.is_waiting() {
            self.end_data(Some("interrupted")).await?;
            // The error of the stopped COPY is expected.
            let _ = self.settle().await;
        }
        self.execute("ROLLBACK").await
    }

    /// Ends the data of a COPY, and returns the number of copied rows.
    ///
    /// # Errors
    /// As [`Self::execute`].
    pub async fn finish_copy(&mut self) -> Result<u64, SqlError> {
        self.end_data(None).await?;
        let mut rows = 0;
        loop {
            match self.receive().await? {
                Event::Done(tag) => {
                    rows = tag.rsplit(' ').next().and_then(|rows| rows.parse().ok()).unwrap_or(0);
                }
                Event::Ready => return Ok(rows),
                Event::Failed(error) => return Err(self.after(error).await),
                _ => {}
            }
        }
    }
}
