//! An embedded Pando: loading tables and running queries.

use crate::answer::{Answer, Row};
use crate::source::TableSource;
use anyhow::{Context, Result, bail, ensure};
use datafusion::common::DataFusionError;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, TryStreamExt};
use query::{Database, Options, Outcome, Session};
use std::time::{Duration, Instant};

const SETTLE_MAX: Duration = Duration::from_secs(180);
const SETTLED_AFTER: Duration = Duration::from_millis(600);
const LOOK_EVERY: Duration = Duration::from_millis(50);
const BUCKETS: &str =
    "SELECT \"table\", low, rows, bytes, delta_rows, runs FROM pando.buckets ORDER BY 1, 2";

/// A session of a database in this process.
#[derive(Clone)]
pub struct Embedded {
    /// The session.
    pub session: Session,
}

impl Embedded {
    /// An empty database that uses every processor.
    ///
    /// # Errors
    /// As [`Database::open`].
    pub fn open() -> Result<Self> {
        Ok(Self { session: Database::open(Options::default())?.session() })
    }

    /// Creates and fills a table, and returns its number of rows.
    ///
    /// # Errors
    /// The database's.
    pub async fn load(&self, table: TableSource) -> Result<u64> {
        let doing = || format!("loading {}", table.name);
        self.session.execute(&table.create_sql).await.with_context(doing)?;
        let batches = futures::stream::iter(table.batches).map(Ok::<_, DataFusionError>);
        let stream = Box::pin(RecordBatchStreamAdapter::new(table.schema, batches));
        self.session.load(&table.name, stream).await.with_context(doing)
    }

    /// Runs a statement and returns the duration.
    ///
    /// # Errors
    /// The database's.
    pub async fn execute(&self, sql: &str) -> Result<Duration> {
        let start = Instant::now();
        self.session.execute(sql).await?;
        Ok(start.elapsed())
    }

    /// Runs a query and reads its rows. Returns the duration and the number of rows.
    ///
    /// # Errors
    /// The database's.
    pub async fn query(&self, sql: &str) -> Result<(Duration, u64)> {
        let start = Instant::now();
        let mut rows = 0;
        let mut stream = self.session.query(sql).await?.stream;
        while let Some(batch) = stream.try_next().await? {
            rows += batch.num_rows() as u64;
        }
        Ok((start.elapsed(), rows))
    }

    /// The answer to a query.
    ///
    /// # Errors
    /// The database's.
    pub async fn answer(&self, sql: &str) -> Result<Answer> {
        let stream = self.session.query(sql).await?.stream;
        let schema = stream.schema();
        Answer::of(&schema, &stream.try_collect::<Vec<_>>().await?)
    }

    /// The integer that a query returns.
    ///
    /// # Errors
    /// The database's, and if the answer is not one integer.
    pub async fn number(&self, sql: &str) -> Result<u64> {
        sole_number(&self.answer(sql).await?.rows, sql)
    }

    /// Waits until no bucket has changed for 600 ms: compaction and merging are done.
    ///
    /// # Errors
    /// If that takes more than three minutes, and the database's.
    pub async fn settle(&self) -> Result<()> {
        let started = Instant::now();
        let mut unchanged_since = Instant::now();
        let mut last = None;
        while unchanged_since.elapsed() < SETTLED_AFTER {
            ensure!(started.elapsed() < SETTLE_MAX, "the buckets do not come to rest");
            let now = Some(self.answer(BUCKETS).await?);
            if now != last {
                last = now;
                unchanged_since = Instant::now();
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Bytes of a table's buckets.
    ///
    /// # Errors
    /// The database's, and if there is no such table.
    pub async fn bytes(&self, table: &str) -> Result<u64> {
        self.number(&format!("SELECT sum(bytes) FROM pando.buckets WHERE \"table\" = '{table}'"))
            .await
    }
}

/// The integer that the rows of an answer are.
///
/// # Errors
/// If they are not one integer; the error names the query.
pub fn sole_number(rows: &[Row], sql: &str) -> Result<u64> {
    match rows {
        [row] => match &row[..] {
            [Some(cell)] => cell.parse().with_context(|| format!("\"{cell}\" is not an integer")),
            _ => bail!("expected one number from {sql}"),
        },
        rows => bail!("{} rows instead of one number from {sql}", rows.len()),
    }
}

/// Reads the rows of an outcome and returns their number, or the number of changed rows.
///
/// # Errors
/// The database's.
pub async fn drain(outcome: Outcome) -> Result<u64> {
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
