//! Rows that are still being read while their session goes on.

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Int64Type;
use futures::{StreamExt, TryStreamExt};
use query::{Database, Options, Session, TransactionStatus};

/// More rows than anybody waits for.
const MANY: &str = "SELECT v FROM generate_series(1, 500000000) AS g (v)";

/// Reads the first rows of a query, cancels it, and reads on to the error.
async fn cancel_while_reading(session: &Session) {
    let mut rows = session.query(MANY).await.expect("it begins").stream;
    rows.next().await.expect("rows").expect("of a series");
    session.cancel_handle().cancel();
    while let Some(batch) = rows.next().await {
        if batch.is_err() {
            return;
        }
    }
    panic!("all rows came");
}

#[tokio::test]
async fn a_query_that_fails_outside_transactions_fails_none_that_comes_later() {
    let session = Database::open(Options::default()).expect("opened").session();
    cancel_while_reading(&session).await;
    session.begin_implicit().await.expect("a new transaction");
    session.execute("SET statement_timeout = '10s'").await.expect("it has not failed");
    session.end_implicit().await.expect("committed");
    cancel_while_reading(&session).await;
    session.begin().await.expect("begun");
    session.execute("SELECT 1").await.expect("it has not failed");
    session.commit().await.expect("committed");
}

#[tokio::test]
async fn a_query_that_fails_inside_a_transaction_fails_that_at_once_and_no_other() {
    let session = Database::open(Options::default()).expect("opened").session();
    session.begin().await.expect("begun");
    session.execute("SAVEPOINT s").await.expect("a savepoint");
    cancel_while_reading(&session).await;
    assert_eq!(session.transaction_status(), TransactionStatus::Failed);
    let refused = session.execute("SELECT 1").await.err().expect("it has failed");
    assert_eq!(refused.state().code(), "25P02");
    session.execute("ROLLBACK TO SAVEPOINT s").await.expect("back to where it was well");
    session.execute("SELECT 1").await.expect("well again");
    session.rollback().await.expect("rolled back");
    session.begin().await.expect("begun");
    session.execute("SELECT 1").await.expect("another transaction");
}

/// A hash join of which both sides are too large for the memory is planned again.
#[tokio::test]
async fn a_join_of_large_inputs_on_a_skewed_key_is_answered() {
    let memory_limit = Some(160_000_000);
    let options = Options { memory_limit, threads: Some(2), ..Options::default() };
    let session = Database::open(options).expect("opened").session();
    let side = |key: &str| {
        format!(
            "(SELECT {key} AS k, repeat('x', 100) || i AS t FROM generate_series(1, 1500000) s(i))"
        )
    };
    let (skewed, plain) = (side("CASE WHEN i % 2 = 0 THEN 2 ELSE i END"), side("i"));
    let join =
        format!("SELECT count(*) FROM {skewed} a JOIN {plain} b USING (k) WHERE a.t || b.t <> ''");
    let rows = session.query(&join).await.expect("a join");
    let batches: Vec<_> = rows.stream.try_collect().await.expect("rows");
    let counts = batches.iter().map(|batch| batch.column(0).as_primitive::<Int64Type>());
    assert_eq!(counts.map(|counts| counts.value(0)).collect::<Vec<_>>(), [1_500_000]);
}
