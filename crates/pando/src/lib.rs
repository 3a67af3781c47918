//! Pando, a main-memory SQL database that grows by splitting, as a library.
//!
//! A [`Database`] is in the memory of this process. A [`Session`] is the connection of one client: it runs statements, one at
//! a time, in transactions.
//!
//! ```
//! use futures::TryStreamExt;
//! use pando::{Database, Options, ScalarValue};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let database = Database::open(Options::default())?;
//! let session = database.session();
//! session.execute("CREATE TABLE person (ssn bigint PRIMARY KEY, name text NOT NULL)").await?;
//!
//! // A prepared statement is parsed and planned once. Parameters are $1, $2, ...
//! let insert = session.prepare("INSERT INTO person VALUES ($1, $2)").await?;
//! for (ssn, name) in [(1, "Ada"), (2, "Grace"), (3, "Edsger")] {
//!     insert.execute(&[ScalarValue::from(ssn as i64), ScalarValue::from(name)]).await?;
//! }
//!
//! // Rows come as a stream of Arrow batches.
//! let rows = session.query("SELECT name FROM person WHERE ssn > 1 ORDER BY ssn").await?;
//! let batches: Vec<_> = rows.stream.try_collect().await?;
//! assert_eq!(batches.iter().map(|batch| batch.num_rows()).sum::<usize>(), 2);
//!
//! // A rollback undoes the transaction.
//! session.begin().await?;
//! session.execute("DELETE FROM person").await?;
//! session.rollback().await?;
//! let left: Vec<_> = session.query("SELECT * FROM person").await?.stream.try_collect().await?;
//! assert_eq!(left.iter().map(|batch| batch.num_rows()).sum::<usize>(), 3);
//! # Ok(())
//! # }
//! ```

pub use arrow::record_batch::RecordBatch;
pub use query::store::catalog;
pub use query::{
    CancelHandle, Database, Error, Field, Options, Outcome, Prepared, Progress, Rows, ScalarValue,
    Session, SqlState, SqlType, Statement, Tag, TransactionStatus, as_texts, text,
};
