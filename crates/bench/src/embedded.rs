//! An embedded Pando that is loaded and asked.

use crate::answer::Row;
use crate::{Answer, TableSource};
use anyhow::{Context, Result, bail};
use datafusion::common::DataFusionError;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, TryStreamExt};
use query::{Database, Options, Outcome, Session};
use std::time::{Duration, Instant};

/// A database in this process and one session of it.
#[derive(Clone)]
pub struct Embedded {
    /// The session.
    pub session: Session,
}

impl Embedded {
    /// An empty database that uses every processor.
    ///
    /// # Errors
    /// Where no database can be opened here.
    pub fn open() -> Result<Self> {
        Ok(Self { session: Database::open(Options::default())?.session() })
    }

    /// Creates a table and fills it; how many rows it has then.
    ///
    /// # Errors
    /// What the database answers.
    pub async fn load(&self, table: TableSource) -> Result<u64> {
        let doing = || format!("loading {}", table.name);
        self.session.execute(&table.create_sql).await.with_context(doing)?;
        let batches = futures::stream::iter(table.batches).map(Ok::<_, DataFusionError>);
        let stream = Box::pin(RecordBatchStreamAdapter::new(table.schema, batches));
        self.session.load(&table.name, stream).await.with_context(doing)
    }

    /// Runs a statement; how long it took.
    pub(crate) async fn execute(&self, sql: &str) -> Result<Duration> {
        let start = Instant::now();
        self.session.execute(sql).await?;
        Ok(start.elapsed())
    }

    /// Runs a query and takes its rows; how long that took, and how many they are.
    pub(crate) async fn query(&self, sql: &str) -> Result<(Duration, u64)> {
        let start = Instant::now();
        let mut rows = 0;
        let mut stream = self.session.query(sql).await?.stream;
        while let Some(batch) = stream.try_next().await? {
            rows += batch.num_rows() as u64;
        }
        Ok((start.elapsed(), rows))
    }

    /// The whole answer to a query.
    ///
    /// # Errors
    /// What the database answers.
    pub async fn answer(&self, sql: &str) -> Result<Answer> {
        let stream = self.session.query(sql).await?.stream;
        let schema = stream.schema();
        Answer::of(&schema, &stream.try_collect::<Vec<_>>().await?)
    }

    /// The whole number that a query answers with.
    ///
    /// # Errors
    /// What the database answers, and where that is not one whole number.
    pub async fn number(&self, sql: &str) -> Result<u64> {
        sole_number(&self.answer(sql).await?.rows, sql)
    }

    /// Bytes that a table's buckets hold.
    pub(crate) async fn bytes(&self, table: &str) -> Result<u64> {
        self.number(&format!("SELECT sum(bytes) FROM pando.buckets WHERE \"table\" = '{table}'"))
            .await
    }
}

/// The whole number that an answer is.
pub(crate) fn sole_number(rows: &[Row], sql: &str) -> Result<u64> {
    match rows {
        [row] => match &row[..] {
            [Some(cell)] => cell.parse().with_context(|| format!("\"{cell}\" is no number")),
            _ => bail!("expected one number from {sql}"),
        },
        rows => bail!("{} rows instead of one number from {sql}", rows.len()),
    }
}

/// Takes the rows of an outcome, if there are any; how many they are.
pub(crate) async fn drain(outcome: Outcome) -> Result<u64> {
    match outcome {
        Outcome::Done(tag) => Ok(tag.rows.unwrap_or_default()),
        Outcome::Rows(mut rows) => {
            let mut count = 0;
            while let Some(batch) = rows.stream.try_next().await? {
                count += batch.num_rows() as u64;
            }
            Ok(count)
        }
    }
}
