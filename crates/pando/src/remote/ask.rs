//! Statements whose whole answer is wanted at once: questions about tables, and a load's steps.

use super::connection::{Connection, Event, row_values};
use super::message::Described;
use crate::trouble::SqlError;

/// Rows as texts; `None` for NULL.
pub(crate) type Texts = Vec<Vec<Option<String>>>;

impl Connection {
    /// Runs statements whose answer does not matter.
    pub(crate) async fn execute(&mut self, text: &str) -> Result<(), SqlError> {
        self.texts(text).await.map(drop)
    }

    /// Runs statements and gathers their rows.
    pub(crate) async fn texts(&mut self, text: &str) -> Result<Texts, SqlError> {
        self.ask(text).await.map(|(_, rows)| rows)
    }

    /// The columns of a query's rows.
    pub(crate) async fn columns(&mut self, query: &str) -> Result<Vec<Described>, SqlError> {
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
                Event::CopyIn => self.end_data(Some("there is no data")).await?,
                Event::Failed(trouble) => return Err(self.after(trouble).await),
                Event::Done(_) | Event::Notice(_) | Event::CopyOut | Event::Data(_) => {}
            }
        }
    }

    /// The trouble, once the connection is ready for more.
    pub(crate) async fn after(&mut self, trouble: SqlError) -> SqlError {
        if !self.is_over() {
            // An error on the way there shows at the next statement.
            let _ = self.settle().await;
        }
        trouble
    }

    /// Begins a COPY whose data [`Self::send_data`] sends.
    pub(crate) async fn copy_in(&mut self, statement: &str) -> Result<(), SqlError> {
        self.send(statement).await?;
        loop {
            match self.receive().await? {
                Event::CopyIn => return Ok(()),
                Event::Failed(trouble) => return Err(self.after(trouble).await),
                Event::Ready => return Err(SqlError::new("08P01", "the server takes no data")),
                _ => {}
            }
        }
    }

    /// Stops a COPY that the server has refused already, without sending the rest.
    pub(crate) async fn refused_early(&mut self) -> Result<(), SqlError> {
        match self.arrived()? {
            Some(Event::Failed(trouble)) => Err(self.after(trouble).await),
            _ => Ok(()),
        }
    }

    /// Stops whatever is going on, and undoes the transaction.
    pub(crate) async fn give_up(&mut self) -> Result<(), SqlError> {
        if self.is_waiting() {
            self.end_data(Some("interrupted")).await?;
            // That it was stopped is no news.
            let _ = self.settle().await;
        }
        self.execute("ROLLBACK").await
    }

    /// Ends a COPY; how many rows the server took.
    pub(crate) async fn copied(&mut self) -> Result<u64, SqlError> {
        self.end_data(None).await?;
        let mut rows = 0;
        loop {
            match self.receive().await? {
                Event::Done(tag) => {
                    rows = tag.rsplit(' ').next().and_then(|rows| rows.parse().ok()).unwrap_or(0);
                }
                Event::Ready => return Ok(rows),
                Event::Failed(trouble) => return Err(self.after(trouble).await),
                _ => {}
            }
        }
    }
}
